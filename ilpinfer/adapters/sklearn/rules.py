"""Rules as a parameter of an estimator: objects, a name, or a file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from formulations import Feature, Rule, RuleSet, load_rules
from formulations.messages import brief


def rule_set(rules: Any) -> RuleSet:
    """The rule set of a parameter of an estimator."""
    if isinstance(rules, str | Path):
        return load_rules(rules)
    if isinstance(rules, RuleSet):
        return rules
    if rules is None:
        return RuleSet(())
    items = tuple(rules) if isinstance(rules, Iterable) and not isinstance(rules, bytes | dict) else (rules,)
    if items and all(isinstance(item, str | Path) for item in items):
        return load_rules(*items)
    for i, item in enumerate(items):
        if not isinstance(item, Rule | Feature):
            where = f"rules[{i}]" if isinstance(rules, Iterable) else "rules"
            raise ValueError(
                f"{where} is {brief(item)}; expected a list of rules, a rule set, a name of the catalogue, or a rule file"
            )
    return RuleSet(items)
