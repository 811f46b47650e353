"""Bounds on the number of runs or tokens of a field (Stokman 2011, section 5.3; Chang et al. 2007, Table 1)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, ClassVar

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.sums import bounded
from formulations.automata.windows import Component, UnboundComponent, fits
from formulations.constraints.rule import Rule
from formulations.constraints.rule_functions import Parameters, template
from formulations.constraints.steps import Matching, begins, members, only_at, sum_component
from formulations.constraints.template import AnyField, EveryField, Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import EACH_FIELD, Selector, alternatives


class Counting(Template):
    field: EveryField
    unit: ClassVar[str]  # what is counted: "runs" or "tokens"
    sides: ClassVar[tuple[str, str]]  # the parameters for the least and the most; empty for an open side

    @property
    def _range(self) -> list[int | None]:
        return [getattr(self, side) if side else None for side in self.sides]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        steps = begins if self.unit == "runs" else members
        return [sum_component(steps(labels.field(self.field)), *self._range)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        low, high = self._range
        result = (reading.run_starts if self.unit == "runs" else reading.positions)(self.field)
        missing = max(0, (low or 0) - len(result))
        extra = [] if high is None else result[high:]
        if result or low:
            yield Trial(tuple(extra or result), missing + len(extra))


class Bound(Counting):
    n: Annotated[int, "The bound."] = 1


class Range(Counting):
    low: Annotated[int, "Least number required."]
    high: Annotated[int, "Largest number allowed."]
    sides = "low", "high"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}: nothing lies between them")


def _counting(
    shape: Callable[Parameters, Template],
    name: str,
    bound: str,
    wrong: str,
    numbers: str,
    violations: int,
    **sides: Any,
) -> Callable[Parameters, Rule]:
    """A template that counts; the example has two runs and three tokens of a field."""
    unit = name.rpartition("_")[2]
    sentence = f"{bound} {unit} of a field. Each {wrong} {unit.removesuffix('s')} is a violation."
    labels = '["title", "author", "title", "title"]'
    example = f'>>> C.{name}("title", {numbers}).violations({labels})\n{violations}'
    return template(shape, name, f"{sentence}\n\n{example}", unit=unit, **sides)


_MOST, _LEAST, _EXACT = ("", "n"), ("n", ""), ("n", "n")
at_most_runs = _counting(Bound, "at_most_runs", "At most n", "excess", "1", 1, sides=_MOST)
at_least_runs = _counting(Bound, "at_least_runs", "At least n", "missing", "3", 1, sides=_LEAST)
exactly_runs = _counting(Bound, "exactly_runs", "Exactly n", "excess or missing", "4", 2, sides=_EXACT)
between_runs = _counting(Range, "between_runs", "From `low` to `high`", "excess or missing", "0, 1", 1)
at_most_tokens = _counting(Bound, "at_most_tokens", "At most n", "excess", "1", 2, sides=_MOST)
at_least_tokens = _counting(Bound, "at_least_tokens", "At least n", "missing", "5", 2, sides=_LEAST)
exactly_tokens = _counting(Bound, "exactly_tokens", "Exactly n", "excess or missing", "2", 1, sides=_EXACT)
between_tokens = _counting(Range, "between_tokens", "From `low` to `high`", "excess or missing", "4, 6", 1)


class AtMostInWindow(Template):
    """At most n tokens of a field in any window of `width` consecutive tokens.

    Each excess token of each window is a violation. A sequence shorter than the window is one window.

    >>> C.at_most_in_window("title", 1, width=2).violations(["title", "title", "title"])
    2
    """

    field: AnyField
    n: Annotated[int, "Tokens allowed in a window."]
    _: KW_ONLY
    width: Annotated[int, "Tokens of a window, at least 1."]

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
                yield bounded(StepTable(values, where), None, self.n, closes=True)

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for window in self._windows(len(reading)):
            result = [t for t in window if reading.has(t, self.field)]
            if result:
                yield Trial(tuple(result), max(0, len(result) - self.n))


class AllDifferent(Matching):
    """Matching tokens belong to different fields. Each matching token of a field after its first is a violation.

    >>> C.all_different(words=["by"]).violations(["title", "title"], tokens=["by", "by"])
    1
    """

    field: Annotated[
        Selector,
        "A field, label or group, or a list of them, each by itself; every field but `O` where not given.",
    ] = EACH_FIELD

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        matching = fits(self.pattern_of_tokens)
        fields = [labels.field(field) for field in alternatives(self.field)]
        return [sum_component(only_at(f.member[None, :], matching), None, 1) for f in fields]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for field in alternatives(self.field):
            result = [t for t in reading.positions(field) if self.matches(reading, t)]
            if result:
                yield Trial(tuple(result[1:] or result), len(result) - 1)


at_most_in_window = template(AtMostInWindow)
all_different = template(AllDifferent)
