"""Bounds on runs or tokens of a field (Stokman 2011, section 5.3; Chang et al. 2007, Table 1), on lengths and on gaps."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY
from functools import lru_cache, partial
from typing import Annotated, Any, ClassVar

import numpy as np

from formulations.automata.components import Component, UnboundComponent, fits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, automaton, local
from formulations.automata.windows import WindowCount, has_counting_machine
from formulations.constraints.rule import Rule
from formulations.constraints.rule_functions import Parameters, template
from formulations.constraints.steps import (
    Matching,
    bits,
    counting_machine,
    everywhere,
    only_at,
    sum_component,
)
from formulations.constraints.template import AnyField, CheckedField, EveryField, Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.notation import levels
from formulations.labels.reading import Reading
from formulations.labels.selectors import EACH_FIELD, Selector, alternatives


class Counting(Template):
    field: EveryField
    unit: ClassVar[str]  # what is counted: "runs" or "tokens"
    sides: ClassVar[tuple[str, str]]  # names of the bounds' parameters; empty for an open side

    @property
    def bounds(self) -> list[int | None]:
        """Lower and upper bound; None for an open side."""
        return [getattr(self, side) if side else None for side in self.sides]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        field = labels.field(self.field)
        table = field.begins if self.unit == "runs" else field.member[None, :]
        return [sum_component(everywhere(table), *self.bounds)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        low, high = self.bounds
        result = (reading.run_starts if self.unit == "runs" else reading.positions)(self.field)
        missing = max(0, (low or 0) - len(result))
        extra = [] if high is None else result[high:]
        if result or low:
            yield Trial(tuple(extra or result), missing + len(extra))

    def remark(self, labels: LabelSet) -> str:
        """A label with a mark has runs of its own; usually, the runs of its field are meant."""
        for name in self.names if self.unit == "runs" else ():
            if name in labels and name not in labels.fields:
                field, mark = levels(name, labels.notation)[-1]
                if mark:
                    return f"{name!r} is a label, and its runs are not the runs of the field {field!r}"
        return ""


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

    def components(self, labels: LabelSet) -> list[UnboundComponent] | None:
        if self.width <= self.n:
            return []
        if not self.n or not has_counting_machine(self.n, self.width):
            return None
        steps = everywhere(labels.field(self.field).member[None, :])
        return [UnboundComponent(steps, partial(WindowCount, most_tokens=self.n, width=self.width))]

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Component]:
        if self.components(labels) is not None:
            return super().ground(labels, tokens)
        member, T = labels.field(self.field).member[None, :].astype(np.int64), len(tokens)
        if self.n:
            steps = StepTable(member[None], np.zeros(T, np.int64))
            return [WindowCount(steps, self.n, self.width)]
        windows = np.minimum(
            np.minimum(np.arange(1, T + 1), np.arange(T, 0, -1)), min(self.width, max(1, T - self.width + 1))
        )
        numbers, index = np.unique(windows, return_inverse=True)
        return [local(StepTable(numbers[:, None, None] * member, index))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        found = reading.positions(self.field)
        for window in self._windows(len(reading)):
            result = found[bisect_left(found, window.start) : bisect_left(found, window.stop)]
            if result:
                yield Trial(tuple(result), max(0, len(result) - self.n))


class AllDifferent(Matching):
    """Matching tokens belong to different fields. Each matching token of a field after its first is a violation.

    >>> C.all_different(words=["by"]).violations(["title", "title"], tokens=["by", "by"])
    1
    """

    field: Annotated[
        Selector,
        "A field, label or group, or a list of them, each by itself; by default every field except `O`.",
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


@lru_cache(maxsize=64)
def _too_short(n: int, longest: int) -> Automaton:
    def missing(length: int) -> int:
        return n - length if length else 0

    def read(length: int, symbol: int) -> tuple[int, int]:
        """State: length of a run that is still too short; 0 otherwise."""
        if symbol == 1:
            now, emitted = min(length + 1, longest) if length else 0, 0
        else:
            now, emitted = symbol >> 1, missing(length)
        return (now if now < n else 0), emitted

    return automaton(0, read, missing, symbols=3)


@lru_cache(maxsize=64)
def _too_long(n: int, longest: int) -> Automaton:
    top = min(n, longest)

    def read(length: int, symbol: int) -> tuple[int, int]:
        """State: length of the run so far, up to n."""
        now = 0 if symbol == 0 else 1 if symbol == 2 else length + 1
        return min(now, top), int(now > n)

    return automaton(0, read, symbols=3)


@lru_cache(maxsize=64)
def _too_far(n: int, longest: int) -> Automaton:
    far = min(n, longest) + 1

    def read(gap: int, symbol: int) -> tuple[int, int]:
        """State: tokens since the last token of the first field; -1 before the first."""
        emitted = int(bool(symbol & 1) and gap > n)
        if symbol & 2:
            return 0, emitted
        return (min(gap + 1, far) if gap >= 0 else -1), emitted

    return automaton(-1, read, symbols=4)


class RunLength(Template):
    field: EveryField
    n: Annotated[int, "Number of tokens of a run."]
    sign: ClassVar[int]  # 1 for an upper bound, -1 for a lower bound

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        field = labels.field(self.field)
        steps = everywhere(bits(field.member & ~field.begins, field.begins))  # 2 begins a run, 1 inside
        broken = counting_machine(_too_long if self.sign > 0 else _too_short, self.n)
        return [UnboundComponent(steps, broken)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for first, last in reading.runs(self.field):
            yield Trial((first, last), max(0, self.sign * (last - first + 1 - self.n)))


min_run_length = template(
    RunLength,
    "min_run_length",
    """Runs of a field have at least n tokens. Each missing token of a run is a violation.

    Chang et al. 2007, Table 1, rule (b) 2.

    >>> C.min_run_length("title", 3).violations(["title", "O"])
    2
    """,
    sign=-1,
)
max_run_length = template(
    RunLength,
    "max_run_length",
    """Runs of a field have at most n tokens. Each excess token of a run is a violation.

    >>> C.max_run_length("title", 1).violations(["title", "title", "O"])
    1
    """,
    sign=1,
)


class MaxGap(Template):
    """At most n tokens lie between a run of a field and the last token of another field before it.

    Each run that begins further away is a violation. A run without an earlier token of the other field is not restricted.

    >>> C.max_gap("author", "title", 1).violations(["author", "O", "O", "title"])
    1
    """

    earlier: Annotated[Selector, "The field that comes first."]
    field: CheckedField
    n: Annotated[int, "Tokens allowed between them."]

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        member = labels.field(self.earlier).member[None, :]
        steps = everywhere(bits(labels.field(self.field).begins, member))
        return [UnboundComponent(steps, counting_machine(_too_far, self.n))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        first = reading.positions(self.earlier)
        for start in reading.run_starts(self.field):
            before = bisect_left(first, start)
            if before:
                last = first[before - 1]
                yield Trial((last, start), int(start - last - 1 > self.n))


max_gap = template(MaxGap)
