"""Bounds on the number of runs or tokens of a field (Stokman 2011, section 5.3; Chang et al. 2007, Table 1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from formulations.automata.component import Component
from formulations.automata.lattice import StepTable
from formulations.automata.sums import bounded
from formulations.automata.windows import UnboundComponent, fits
from formulations.constraints.matching import Matching
from formulations.constraints.rule_functions import maker
from formulations.constraints.steps import begins, members, only_at, sum_component
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import EACH_FIELD, Selector

__all__ = [
    "all_different",
    "at_least_runs",
    "at_least_tokens",
    "at_most_in_window",
    "at_most_runs",
    "at_most_tokens",
    "between_runs",
    "between_tokens",
    "exactly_runs",
    "exactly_tokens",
]


@dataclass(frozen=True)
class _Counting(Template):
    """Bounds on the number of runs or tokens of a field.

    Parameters
    ----------
    field : str, Group or list of str
        A field, label or group; "each field" applies the rule to every field separately.
    """

    field: Selector
    _of_runs: ClassVar[bool] = True
    _sides: ClassVar[tuple[str, str]]
    """The parameters for the least and the most; empty for an open side."""

    def _range(self) -> tuple[int | None, int | None]:
        low, high = (getattr(self, side) if side else None for side in self._sides)
        return low, high

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        steps = begins if self._of_runs else members
        return [sum_component(steps(labels.field(self.field)), *self._range())]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        low, high = self._range()
        result = (reading.run_starts if self._of_runs else reading.positions)(self.field)
        missing = max(0, (low or 0) - len(result))
        extra = [] if high is None else result[high:]
        if result or low:
            yield Trial(tuple(extra or result), missing + len(extra))


@template("at_most_runs")
class AtMostRuns(_Counting):
    """At most n runs of a field. Each run more is a violation.

    Parameters
    ----------
    n : int, default 1
        Largest number allowed.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.at_most_runs("title", 1).violations(["title", "author", "title", "title"])
    1
    """

    n: int = 1
    _sides = "", "n"


@template("at_least_runs")
class AtLeastRuns(_Counting):
    """At least n runs of a field. Each missing run is a violation.

    Parameters
    ----------
    n : int, default 1
        Number required.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.at_least_runs("title", 2).violations(["title", "O", "O"])
    1
    """

    n: int = 1
    _sides = "n", ""


@template("exactly_runs")
class ExactlyRuns(AtLeastRuns):
    """Exactly n runs of a field. Each excess or missing run is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.exactly_runs("title", 1).violations(["O", "O"])
    1
    """

    _sides = "n", "n"


@template("between_runs")
class BetweenRuns(_Counting):
    """From `low` to `high` runs of a field. Each excess or missing run is a violation.

    Parameters
    ----------
    low, high : int
        Least number required and largest number allowed.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.between_runs("title", 1, 2).violations(["O", "O"])
    1
    """

    low: int
    high: int
    _sides = "low", "high"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}: nothing lies between them")


@template("at_most_tokens")
class AtMostTokens(AtMostRuns):
    """At most n tokens of a field. Each excess token is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.at_most_tokens("title", 1).violations(["title", "title", "title"])
    2
    """

    _of_runs = False


@template("at_least_tokens")
class AtLeastTokens(AtLeastRuns):
    """At least n tokens of a field. Each missing token is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.at_least_tokens("title", 3).violations(["title", "O"])
    2
    """

    _of_runs = False


@template("exactly_tokens")
class ExactlyTokens(ExactlyRuns):
    """Exactly n tokens of a field. Each excess or missing token is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.exactly_tokens("title", 2).violations(["title", "O"])
    1
    """

    _of_runs = False


@template("between_tokens")
class BetweenTokens(BetweenRuns):
    """From `low` to `high` tokens of a field. Each excess or missing token is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.between_tokens("title", 1, 2).violations(["title", "title", "title"])
    1
    """

    _of_runs = False


@template("at_most_in_window")
class AtMostInWindow(Template):
    """At most n tokens of a field in any window of `width` consecutive tokens.

    Each excess token of each window is a violation. A sequence shorter than the window is one window.

    Parameters
    ----------
    field : str, Group or list of str
        Field, label or group.
    n : int
        Tokens allowed in a window.
    width : int
        Tokens of a window, at least 1.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.at_most_in_window("title", 1, 2).violations(["title", "title", "title"])
    2
    """

    field: Selector
    n: int
    width: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width < 1:
            raise ValueError("width is 0: a window holds at least one token")

    def _windows(self, length: int) -> Iterable[range]:
        return (range(t, min(t + self.width, length)) for t in range(max(1, length - self.width + 1)))

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Component]:
        member, T = labels.field(self.field).member[None, :], len(tokens)
        values = np.stack([np.zeros_like(member), member]).astype(np.int64)
        for window in self._windows(T):
            if len(window) > self.n:
                where = np.zeros(T, np.int64)
                where[window.start : window.stop] = 1
                yield bounded(StepTable(values, where), None, self.n)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for window in self._windows(len(reading)):
            result = [t for t in window if reading.has(t, self.field)]
            if result:
                yield Trial(tuple(result), max(0, len(result) - self.n))


@template("all_different")
class AllDifferent(Matching):
    """Matching tokens belong to different fields. Each matching token of a field after its first is a violation.

    Parameters
    ----------
    field : str, Group or list of str, default EACH_FIELD
        A field, label or group, or a list of them, each by itself; every field but `O` where not given.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.all_different(words=["by"]).violations(["title", "title"], tokens=["by", "by"])
    1
    """

    field: Selector = EACH_FIELD

    def _fields(self) -> Sequence[Selector]:
        return self.field if isinstance(self.field, tuple) else (self.field,)

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        matching = fits(self.pattern_of_tokens)
        fields = [labels.field(field) for field in self._fields()]
        return [sum_component(only_at(f.member[None, :], matching), None, 1) for f in fields]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for field in self._fields():
            result = [
                t for t in reading.positions(field) if self.pattern_of_tokens.matches(reading.tokens[t])
            ]
            if result:
                yield Trial(tuple(result[1:] or result), len(result) - 1)


at_most_runs = maker(AtMostRuns)
at_least_runs = maker(AtLeastRuns)
exactly_runs = maker(ExactlyRuns)
between_runs = maker(BetweenRuns)
at_most_tokens = maker(AtMostTokens)
at_least_tokens = maker(AtLeastTokens)
exactly_tokens = maker(ExactlyTokens)
between_tokens = maker(BetweenTokens)
at_most_in_window = maker(AtMostInWindow)
all_different = maker(AllDifferent)
