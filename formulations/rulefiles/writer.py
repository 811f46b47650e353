"""Writing of rule files."""

from dataclasses import fields
from numbers import Real
from typing import Any

from formulations.constraints.defining import Predicate
from formulations.constraints.feature import Feature
from formulations.constraints.formulas import Text
from formulations.constraints.rule import SCOPES, Rule
from formulations.constraints.rule_set import RuleSet
from formulations.labels.schemes import OUTSIDE
from formulations.labels.selectors import EACH_FIELD, Group, Selector, alternatives, names_in
from formulations.logic.texts import NamedFormula
from formulations.parameters import Words
from formulations.rulefiles.toml_text import dumps
from formulations.tokens.token_pattern import TokenPattern


def write(rules: RuleSet) -> str:
    groups: dict[str, Group] = {}
    visited: set[Group] = set()
    for selector in (*rules.groups, *(each for item in rules for each in _selectors(item))):
        _add_groups(selector, groups, visited)
    fields, templates = _fields(rules, groups), _templates(rules)
    if clash := [name for name in groups if name in (*fields, OUTSIDE, EACH_FIELD)]:
        raise ValueError(f"a group and a field are named {clash[0]!r}: give the group another name")
    if clash := [name for name in templates if name in fields or name in groups]:
        what = f"a template and a field or group are named {clash[0]!r}"
        raise ValueError(f"{what}: give the template another name")
    document: dict[str, Any] = {
        "title": rules.title,
        "source": rules.source,
        "fields": fields,
        "never": list(rules.never),
        "groups": {name: _members(group) for name, group in groups.items()},
        "template": [
            {"name": f.name, "parameters": list(f.parameters), kind: f.text} for f, kind in templates.values()
        ],
        "rule": [_rule_table(item) for item in rules if isinstance(item, Rule)],
        "feature": [_parameters(item) for item in rules if isinstance(item, Feature)],
    }
    return dumps({key: value for key, value in document.items() if value})


def _templates(rules: RuleSet) -> dict[str, tuple[NamedFormula, str]]:
    """The templates of the rule set, and user templates of rules from Python."""
    result = {f.name: (f, kind) for f, kind in rules.templates}
    for rule in rules.rules:
        if isinstance(rule.statement, Text):
            text = rule.statement
            own = [(text.template, text.form)] if text.template else []
            for formula, kind in (*((f, "logic") for f in text.named), *own):
                if result.setdefault(formula.name, (formula, kind)) != (formula, kind):
                    raise ValueError(f"two different templates are named {formula.name!r}")
    return result


def _rule_table(rule: Rule) -> dict[str, Any]:
    statement = rule.statement
    if isinstance(statement, Predicate):
        raise ValueError(
            f"rule {rule.title!r} is a Python function, which no rule file can hold: leave it out, or keep the rules in a Python "
            "module"
        )
    table: dict[str, Any] = {"name": rule.name} if rule.name else {}
    if not isinstance(statement, Text):
        table |= {"template": statement.rule_name, **_parameters(statement)}
    elif statement.template is not None:
        values = {name: _value(value) for name, value in statement.arguments}
        table |= {"template": statement.rule_name, **values}
    elif statement.arguments:
        raise ValueError(f"rule {rule.title!r}: a formula with arguments has no form in a file")
    else:
        table[statement.form] = statement.text
    if not rule.hard:
        table["penalty"] = _value(rule.penalty)
    table |= {"distance": rule.distance} if rule.distance != "count" else {}
    for key in ("scope", "partial", "reason", "when"):
        if getattr(rule, key):
            table[key] = getattr(rule, key)
    return table


def _parameters(record: Any) -> dict[str, Any]:
    return {
        f.name.rstrip("_"): _value(getattr(record, f.name))
        for f in fields(record)
        if f.name != "groups" and getattr(record, f.name) != f.default
    }


def _value(value: Any) -> Any:
    if isinstance(value, Group):
        return _members(value) if _has_default_name(value) else value.name
    if isinstance(value, Words) and value.source:
        return {"file": value.source, "words": list(value)}
    if isinstance(value, TokenPattern):
        return _parameters(value)
    if isinstance(value, Real) and not isinstance(value, bool | int):
        return float(value)
    return [_value(v) for v in value] if isinstance(value, tuple) else value


def _has_default_name(group: Group) -> bool:
    """Whether a group is a complement with the default name of `other_than`."""
    return group.complement and group.name == f"other than {', '.join(map(str, group.members))}"


def _members(group: Group) -> Any:
    members = [_value(member) for member in group.members]
    return {"not": members} if group.complement else members


def _selectors(item: Rule | Feature) -> list[Any]:
    if isinstance(item, Feature):
        return [item.label, item.from_, item.to]
    return item.statement.selectors


def _add_groups(selector: Selector | None, groups: dict[str, Group], visited: set[Group]) -> None:
    """Add the named groups of a selector, inner groups first, each once."""
    for group in alternatives(selector or ()):
        if isinstance(group, str) or group in visited:
            continue
        visited.add(group)
        for member in group.members:
            _add_groups(member, groups, visited)
        if not _has_default_name(group) and groups.setdefault(group.name, group) != group:
            raise ValueError(f"two different groups are named {group.name!r}: give them different names")


def _fields(rules: RuleSet, groups: dict[str, Group]) -> list[str]:
    """The declared fields, and undeclared fields in rules and groups."""
    result = dict.fromkeys(rules.fields)
    for item in rules:
        placeholders = SCOPES[item.scope] if isinstance(item, Rule) else ()
        names = names_in(_selectors(item)) if isinstance(item, Feature) else item.statement.names
        result |= dict.fromkeys(name for name in names if name not in placeholders)
    result |= dict.fromkeys(name for group in groups.values() for name in sorted(group.names))
    return [name for name in result if name not in (OUTSIDE, EACH_FIELD)]
