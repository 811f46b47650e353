"""What is decoded: sequences under rules, and how much of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from formulations import Trellis
from formulations.constraints.rule_set import RuleSet

Labelled = tuple[tuple[str, ...], tuple[str, ...]]
"""Tokens and labels."""
SOLVERS = ("cbc", "cp-sat", "highs", "scip")


@dataclass(frozen=True)
class Item:
    """A sequence whose trellis is made afresh, so that nothing that a method keeps with it is timed twice."""

    key: str
    make: Callable[[], Trellis]
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class DataSet:
    """Sequences under the same rules, made when they are asked for; how many of them each rival decodes; limits in seconds."""

    name: str
    part: str
    items: tuple[Item, ...]
    make_rules: Callable[[], RuleSet]
    rivals: Mapping[str, int] = field(default_factory=dict)
    limit: float = 10.0
    budget: float = 60.0
    note: str = ""

    @cached_property
    def rules(self) -> RuleSet:
        return self.make_rules()

    def sample(self, method: str) -> tuple[Item, ...]:
        return spread(self.items, self.rivals.get(method, len(self.items)))


def spread(items: tuple[Item, ...], number: int) -> tuple[Item, ...]:
    """So many of the items, evenly spaced, the first among them."""
    if number >= len(items):
        return items
    return tuple(items[i * len(items) // number] for i in range(number))
