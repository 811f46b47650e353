"""Several rule sets as one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from formulations.arguments import instances
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.constraints.rule_set import RuleError, RuleSet


def join_rules(rule_sets: Iterable[RuleSet]) -> RuleSet:
    """One rule set with the rules, fields, groups and templates of several, in their order.

    A rule with the name of a rule of an earlier set gets a number after its name, `one title #2`, as rules without a
    name do.

    Parameters
    ----------
    rule_sets : iterable of RuleSet
        Any number of sets; a single one comes back as it is.

    Returns
    -------
    RuleSet
        The joint rule set.

    Raises
    ------
    RuleError
        If one name has different groups or templates, or is a field in one set and something else
        in another.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> a = RuleSet((C.at_most_runs("title", 1, name="one"),), ("title",), "a")
    >>> b = RuleSet((C.at_most_runs("date", 1, name="one"),), ("date",), "b")
    >>> join_rules([a, b])
    RuleSet('a + b': 2 rules, 0 features, 2 fields)
    >>> [rule.name for rule in join_rules([a, b]).rules]
    ['one', 'one #2']
    """
    sets = instances(rule_sets, RuleSet, "rule_sets", "a rule set")
    if len(sets) == 1:
        return sets[0]
    groups = _united(sets, "group", lambda each: {group.name: group for group in each.groups})
    templates = _united(sets, "template", lambda each: {pair[0].name: pair for pair in each.templates})
    for name in templates:
        if name in groups:
            raise RuleError(
                f'"{name}" is a group in one rule set and a template in another: rename one of them'
            )
    for each in sets:
        for name in each.fields:
            if name in groups or name in templates:
                kind = "group" if name in groups else "template"
                raise RuleError(
                    f'{each.name}: field "{name}" is the name of a {kind} in another rule set: rename the {kind}'
                )
    return RuleSet(
        _numbered(sets),
        tuple(dict.fromkeys(field for each in sets for field in each.fields)),
        " + ".join(each.name for each in sets if each.name),
        tuple(groups.values()),
        tuple(templates.values()),
        " + ".join(each.title for each in sets if each.title),
        "; ".join(dict.fromkeys(each.source for each in sets if each.source)),
    )


def _united(
    sets: Sequence[RuleSet], kind: str, definitions: Callable[[RuleSet], dict[str, Any]]
) -> dict[str, Any]:
    """Definitions by name; RuleError where two of one name differ."""
    result: dict[str, tuple[Any, str]] = {}
    for each in sets:
        for name, definition in definitions(each).items():
            known, where = result.setdefault(name, (definition, each.name))
            if known != definition:
                raise RuleError(
                    f'{each.name}: {kind} "{name}" is another one than in {where}: rename one of them, or define both alike'
                )
    return {name: definition for name, (definition, _) in result.items()}


def _numbered(sets: Sequence[RuleSet]) -> tuple[Rule | Feature, ...]:
    """The items of all sets, with a number after names that an earlier set has."""
    taken = {item.name for each in sets for item in each if item.name}
    seen, result = set[str](), list[Rule | Feature]()
    for item in (item for each in sets for item in each):
        if item.name and item.name in seen:
            number = 2
            while f"{item.name} #{number}" in taken:
                number += 1
            item = replace(item, name=f"{item.name} #{number}")
            taken.add(item.name)
        seen.add(item.name)
        result.append(item)
    return tuple(result)
