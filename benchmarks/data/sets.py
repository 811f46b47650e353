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
    """One sequence.

    Parameters
    ----------
    key : names it within its data set, the same in every run
    make : a fresh trellis, so that nothing that a method keeps with it is timed twice
    gold : its T labels, where they are known
    """

    key: str
    make: Callable[[], Trellis]
    gold: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSet:
    """Sequences under the same rules; nothing is trained, mined or scored before it is asked for.

    Parameters
    ----------
    name, part : its name, and the part of the study that it belongs to
    items : sequences
    make_rules : the rules, made once for all sequences
    rivals : how many sequences each rival of the engine decodes, spread evenly
    limit : seconds a method has for a sequence
    budget : seconds a method other than `auto` has for the data set; what is left then is not run, and counted
    note : how it was made, for the report
    """

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
        """The rules of all sequences."""
        return self.make_rules()

    def sample(self, method: str) -> tuple[Item, ...]:
        """The sequences that a method decodes."""
        return spread(self.items, self.rivals.get(method, len(self.items)))


def spread(items: tuple[Item, ...], number: int) -> tuple[Item, ...]:
    """So many of the items, evenly spaced, the first among them."""
    if number >= len(items):
        return items
    return tuple(items[i * len(items) // number] for i in range(number))
