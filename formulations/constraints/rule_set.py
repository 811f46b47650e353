"""Sets of rules and features with their declared fields, and unions of sets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

from formulations.arguments import instance, instances, items, names, text, texts
from formulations.caches import Recent
from formulations.constraints.conditions import Condition, condition
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.errors import InferenceError
from formulations.labels.label_set import LabelSet, label_set
from formulations.labels.selectors import Group
from formulations.logic.texts import NamedFormula
from formulations.messages import brief, counted, cut

MOST_CLASSES = 32
"""Number of cached selections of rules (`RuleSet.of`) of a rule set."""
LONGEST_MESSAGE = 2000  # characters of a message about a rule file


class RuleError(InferenceError, ValueError):
    """An error in a rule file.

    Parameters
    ----------
    message : str
        One line that names file, rule, value and remedy.
    excerpt : str, optional
        The line of the file, and a caret below the place; empty without a place.

    Examples
    --------
    >>> from ilpinfer import RuleError, parse_rules
    >>> try:
    ...     parse_rules('fields = ["title"]\\n[[rule]]\\ntemplate = "at_most_runs"\\nfield = "titel"')
    ... except RuleError as error:
    ...     print(error.message)
    rules, rule 1: no field "titel"; did you mean "title"? (line 4, column 9)
    """

    def __init__(self, message: str, excerpt: str = "") -> None:
        super().__init__(message)
        self.message, self.excerpt = cut(" ".join(message.split()), LONGEST_MESSAGE), excerpt

    def __str__(self) -> str:
        return f"{self.message}\n{self.excerpt}" if self.excerpt else self.message


@dataclass(frozen=True, repr=False)
class RuleSet:
    """Rules and features, with the fields that they may name.

    Parameters
    ----------
    items : tuple of Rule or Feature
        Rules and features.
    fields : tuple of str, optional
        Declared fields; fields that a model lacks count as absent.
    name : str, optional
        Name of the file or catalogue entry.
    groups : tuple of Group, optional
        Groups that rules name.
    templates : tuple of tuple of (NamedFormula, str), optional
        (formula, "logic" or "linear") of each template that the file defines.
    title, source : str, optional
        Subject of the rules, and their origin.
    never : tuple of str, optional
        Labels that are never predicted, such as `[PAD]`; there is a notice for labels that a model lacks.

    Examples
    --------
    >>> from ilpinfer import RuleSet, constraints as C
    >>> rules = RuleSet((C.at_most_runs("title", 1),), fields=("title",), name="mine")
    >>> rules, len(rules)
    (RuleSet('mine': 1 rule, 0 features, 1 field), 1)
    """

    items: tuple[Rule | Feature, ...]
    fields: tuple[str, ...] = ()
    name: str = ""
    groups: tuple[Group, ...] = ()
    templates: tuple[tuple[NamedFormula, str], ...] = ()
    title: str = ""
    source: str = ""
    never: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        rules = tuple(items(self.items, "items", "rules and features"))
        for position, item in enumerate(rules):
            if not isinstance(item, Rule | Feature):
                expected = "a rule such as at_most_runs(...) or a feature"
                raise ValueError(f"rule {position + 1} is {brief(item)}; expected {expected}")
        object.__setattr__(self, "items", rules)
        object.__setattr__(self, "fields", texts(self.fields, "fields", "names"))
        object.__setattr__(self, "never", tuple(sorted(names(self.never, "never"))))
        object.__setattr__(self, "groups", tuple(instances(self.groups, Group, "groups", "a group")))
        templates = items(self.templates, "templates")
        for place, each in enumerate(templates):
            if not isinstance(each, tuple) or len(each) != 2 or not isinstance(each[0], NamedFormula):
                raise ValueError(f"templates[{place}] is {brief(each)}; expected a formula and its form")
        object.__setattr__(self, "templates", tuple(templates))
        instance(self.name, str, "name", "a text")  # a file name may have bytes that are no text
        for name in ("title", "source"):
            text(getattr(self, name), name)

    def __repr__(self) -> str:
        counts = f"{counted(len(self.rules), 'rule')}, {counted(len(self) - len(self.rules), 'feature')}, {counted(len(self.fields), 'field')}"
        never = f", never {', '.join(self.never)}" if self.never else ""
        return f"RuleSet({self.name!r}: {counts}{never})"

    def __iter__(self) -> Iterator[Rule | Feature]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def absent(self, labels: LabelSet) -> list[str]:
        """Declared fields that no label carries.

        Parameters
        ----------
        labels : LabelSet
            The labels of a model.

        Returns
        -------
        list of str
            Names of declared fields that no label carries.
        """
        known = label_set(labels)
        return [f for f in self.fields if f not in known.fields and f not in known.names]

    def fit(self, labels: LabelSet) -> LabelSet:
        """Add `never` to the labels of a model.

        Parameters
        ----------
        labels : LabelSet
            The labels of a model.

        Returns
        -------
        LabelSet
            The same labels, with these added to `never`.
        """
        return labels.with_never(name for name in self.never if name in labels) if self.never else labels

    @cached_property
    def conditions(self) -> tuple[Condition | None, ...]:
        """The condition of each item; None without a condition."""
        whens = (item.when if isinstance(item, Rule) else "" for item in self.items)
        return tuple(condition(when) if when else None for when in whens)

    @property
    def conditional(self) -> bool:
        """Whether any item has a condition."""
        return any(self.conditions)

    @cached_property
    def _of_sequences(self) -> Recent["tuple[tuple[bool, ...], RuleSet]"]:
        return Recent(MOST_CLASSES)

    def holding(self, metadata: Mapping[str, Any]) -> tuple[bool, ...]:
        """Which items hold for a sequence.

        Parameters
        ----------
        metadata : mapping of str to object
            What is known about the sequence.

        Returns
        -------
        tuple of bool
            For each item, whether it has no condition, or the metadata meets its condition.
        """
        return tuple(each is None or each.holds(metadata) for each in self.conditions)

    def of(self, metadata: Mapping[str, Any]) -> "RuleSet":
        """The rules of a sequence: rules without a condition, and rules whose condition the metadata meets.

        Parameters
        ----------
        metadata : mapping of str to object
            Metadata of the sequence, such as ``{"intent": "flight"}``; a rule with another key does not hold.

        Returns
        -------
        RuleSet
            The rules, without their conditions; the same object for sequences with the same rules.

        Examples
        --------
        >>> from ilpinfer import RuleSet, constraints as C
        >>> rules = RuleSet((C.at_most_runs("city", 2), C.at_least_runs("city", 1, when="intent = flight")))
        >>> len(rules.of({"intent": "flight"})), len(rules.of({"intent": "fare"}))
        (2, 1)
        """
        if not self.conditional:
            return self
        return self._where(self.holding(metadata))

    @property
    def everywhere(self) -> "RuleSet":
        """The same rules without their conditions."""
        return self._where((True,) * len(self)) if self.conditional else self

    def _where(self, kept: tuple[bool, ...]) -> "RuleSet":
        """The items that are kept, without conditions."""

        def make() -> "tuple[tuple[bool, ...], RuleSet]":
            chosen = compress(self.items, kept)
            items = tuple(replace(item, when="") if isinstance(item, Rule) else item for item in chosen)
            return kept, replace(self, items=items)

        return self._of_sequences.find(lambda one: one[0] == kept, make)[1]

    def check_unconditional(
        self, way_out: str = "take the rules of a sequence, RuleSet(rules).of(metadata)"
    ) -> None:
        """Raise ValueError where a rule has a condition.

        Parameters
        ----------
        way_out : str, optional
            What to do instead, for the message.

        Raises
        ------
        ValueError
            If a rule holds for some sequences only.
        """
        for rule in self.rules:
            if rule.when:
                raise ValueError(f"rule {rule.title!r} holds only where {rule.when}: {way_out}")

    @property
    def rules(self) -> list[Rule]:
        """The items without the features."""
        return [item for item in self.items if isinstance(item, Rule)]


def join_rules(rule_sets: Iterable[RuleSet]) -> RuleSet:
    """Join the rules, fields, groups and templates of several rule sets, in order.

    If an earlier set has a rule of the same name, a number is added to the name, as in `one title #2`.

    Parameters
    ----------
    rule_sets : iterable of RuleSet
        Any number of sets; a single set is returned unchanged.

    Returns
    -------
    RuleSet
        The joint rule set.

    Raises
    ------
    RuleError
        If a name has different groups or templates, or is a field in one set and something else in another.

    Examples
    --------
    >>> from ilpinfer import constraints as C
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
            what = f'"{name}" is a group in one rule set and a template in another'
            raise RuleError(f"{what}: rename one of them")
    kinds = dict.fromkeys(templates, "template") | dict.fromkeys(groups, "group")
    for source, name in ((each.name, name) for each in sets for name in each.fields if name in kinds):
        raise RuleError(
            f'{source}: field "{name}" is the name of a {kinds[name]} in another rule set: rename the {kinds[name]}'
        )
    return RuleSet(
        _numbered(sets),
        tuple(dict.fromkeys(field for each in sets for field in each.fields)),
        " + ".join(each.name for each in sets if each.name),
        tuple(groups.values()),
        tuple(templates.values()),
        " + ".join(each.title for each in sets if each.title),
        "; ".join(dict.fromkeys(each.source for each in sets if each.source)),
        tuple(name for each in sets for name in each.never),
    )


def _united(
    sets: Sequence[RuleSet], kind: str, definitions: Callable[[RuleSet], dict[str, Any]]
) -> dict[str, Any]:
    """Definitions by name; RuleError for different definitions of a name."""
    result: dict[str, tuple[Any, str]] = {}
    for each in sets:
        for name, definition in definitions(each).items():
            known, where = result.setdefault(name, (definition, each.name))
            if known != definition:
                raise RuleError(
                    f'{each.name}: {kind} "{name}" differs from that in {where}: rename one of them, or define both alike'
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
