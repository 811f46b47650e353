"""Lengths of runs and distances between them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from formulations.automata.machine import Automaton, automaton
from formulations.automata.windows import StepChoice, UnboundComponent
from formulations.constraints.rule_functions import maker
from formulations.constraints.steps import bits, counting_machine, everywhere
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector

__all__ = ["max_gap", "max_run_length", "min_run_length"]


def _begins_and_stays(labels: LabelSet, field: Selector) -> StepChoice:
    """Symbols: 2 where a run begins, 1 where it continues, 0 outside."""
    result = labels.field(field)
    member = np.tile(result.member, (len(labels) + 1, 1))
    return everywhere(bits(member & ~result.begins, result.begins))


@lru_cache(maxsize=64)
def _too_short(n: int, longest: int) -> Automaton:
    def missing(length: int) -> int:
        return n - length if length else 0

    def read(length: int, symbol: int) -> tuple[int, int]:
        """State: tokens of a run that is still too short; 0 for none."""
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
        """State: tokens of the run so far, up to n."""
        now = 0 if symbol == 0 else 1 if symbol == 2 else length + 1
        return min(now, top), int(now > n)

    return automaton(0, read, symbols=3)


@lru_cache(maxsize=64)
def _too_far(n: int, longest: int) -> Automaton:
    far = min(n, longest) + 1

    def read(gap: int, symbol: int) -> tuple[int, int]:
        """State: tokens since the last one of the first field; -1 for none yet."""
        emitted = int(bool(symbol & 1) and gap > n)
        if symbol & 2:
            return 0, emitted
        return (min(gap + 1, far) if gap >= 0 else -1), emitted

    return automaton(-1, read, symbols=4)


@dataclass(frozen=True)
class _RunLength(Template):
    """A bound on the number of tokens of the runs of a field.

    Parameters
    ----------
    field : str, Group or list of str
        A field, label or group; "each field" applies the rule to every field separately.
    n : int
        Number of tokens of a run.
    """

    field: Selector
    n: int
    _sign: ClassVar[int]
    """1 where more are violations, -1 where fewer are."""

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        broken = counting_machine(_too_long if self._sign > 0 else _too_short, self.n)
        return [UnboundComponent(_begins_and_stays(labels, self.field), broken)]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        for first, last in reading.runs(self.field):
            yield Trial((first, last), max(0, self._sign * (last - first + 1 - self.n)))


@template("min_run_length")
class MinRunLength(_RunLength):
    """Runs of a field have at least n tokens. Each missing token of a run is a violation.

    Chang et al. 2007, Table 1, rule (b) 2.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.min_run_length("title", 3).violations(["title", "O"])
    2
    """

    _sign = -1


@template("max_run_length")
class MaxRunLength(_RunLength):
    """Runs of a field have at most n tokens. Each excess token of a run is a violation.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.max_run_length("title", 1).violations(["title", "title", "O"])
    1
    """

    _sign = 1


@template("max_gap")
class MaxGap(Template):
    """At most n tokens lie between the last token of one field and a run of another.

    Each run of the other field that begins further away is a violation. A run without an earlier token of the first field is
    not restricted.

    Parameters
    ----------
    field : str, Group or list of str
        The field that comes first.
    other : str, Group or list of str
        The field whose runs are checked.
    n : int
        Tokens allowed between them.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.max_gap("author", "title", 1).violations(["author", "O", "O", "title"])
    1
    """

    field: Selector
    other: Selector
    n: int

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        member = np.tile(labels.field(self.field).member, (len(labels) + 1, 1))
        steps = everywhere(bits(labels.field(self.other).begins, member))
        return [UnboundComponent(steps, counting_machine(_too_far, self.n))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        first = reading.positions(self.field)
        for start in reading.run_starts(self.other):
            earlier = [t for t in first if t < start]
            if earlier:
                yield Trial((earlier[-1], start), int(start - earlier[-1] - 1 > self.n))


min_run_length = maker(MinRunLength)
max_run_length = maker(MaxRunLength)
max_gap = maker(MaxGap)
