"""What is decoded: data sets of trellises under rules, and which rivals run on how many of their sequences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from benchmarks.study.peers import installed
from formulations import Trellis
from formulations.rules import RuleSet

Number = TypeVar("Number", int, float)

BASIC = ("auto", "viterbi", "beam 10", "beam 50", "beam 200")
"""Methods that run on every sequence."""
SOLVERS = ("cbc", "cp-sat", "highs", "scip")
RIVALS = (*SOLVERS, "pulp", "toulbar2", "conin", "conin a-star")
"""Methods that run on a fixed sample."""


@dataclass(frozen=True)
class Item:
    """One sequence.

    Parameters
    ----------
    key : names it within its data set, the same in every run
    make : a fresh trellis, so that nothing that a method keeps with it is timed twice
    """

    key: str
    make: Callable[[], Trellis]


@dataclass(frozen=True)
class DataSet:
    """Sequences under the same rules.

    Parameters
    ----------
    name, part : its name, and the part of the study that it belongs to
    items : sequences
    rules : compiled from text once, for all sequences
    rivals : how many sequences each rival decodes, spread evenly
    limit : seconds a method has for a sequence
    budget : seconds a method other than `auto` has for the data set; what is left then is not run, and counted
    note : how it was made, for the report
    """

    name: str
    part: str
    items: tuple[Item, ...]
    rules: RuleSet
    rivals: Mapping[str, int] = field(default_factory=dict)
    limit: float = 10.0
    budget: float = 60.0
    note: str = ""

    @property
    def methods(self) -> list[str]:
        """Every method that runs on it and is installed, `auto` first."""
        return [*BASIC, *(name for name in RIVALS if self.rivals.get(name) and installed(name))]

    def sample(self, method: str) -> tuple[Item, ...]:
        """The sequences that a method decodes."""
        number = self.rivals.get(method, len(self.items))
        return spread(self.items, number)


def spread(items: tuple[Item, ...], number: int) -> tuple[Item, ...]:
    """So many of the items, evenly spaced, the first among them."""
    if number >= len(items):
        return items
    return tuple(items[i * len(items) // number] for i in range(number))


@dataclass(frozen=True)
class Scale:
    """How much of the study is run.

    Parameters
    ----------
    quick : a small part of everything
    tiny : next to nothing of the generated parts, for tests
    """

    quick: bool = False
    tiny: bool = False

    def __call__(self, full: Number, quick: Number, tiny: Number | None = None) -> Number:
        """The number for this scale; `tiny` is `quick` where it is not given."""
        if self.tiny and tiny is not None:
            return tiny
        return quick if self.quick else full
