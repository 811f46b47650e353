"""Lengths of runs and distances between them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np

from formulations.automata.components import StepChoice, UnboundComponent
from formulations.automata.machine import Automaton, automaton
from formulations.constraints.rule_functions import template
from formulations.constraints.steps import bits, counting_machine, everywhere
from formulations.constraints.template import CheckedField, EveryField, Template, Trial
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector


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


class RunLength(Template):
    field: EveryField
    n: Annotated[int, "Number of tokens of a run."]
    sign: ClassVar[int]  # 1 where more are violations, -1 where fewer are

    def components(self, labels: LabelSet) -> list[UnboundComponent]:
        broken = counting_machine(_too_long if self.sign > 0 else _too_short, self.n)
        return [UnboundComponent(_begins_and_stays(labels, self.field), broken)]

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
        member = np.tile(labels.field(self.earlier).member, (len(labels) + 1, 1))
        steps = everywhere(bits(labels.field(self.field).begins, member))
        return [UnboundComponent(steps, counting_machine(_too_far, self.n))]

    def trials(self, reading: Reading) -> Iterable[Trial]:
        first = reading.positions(self.earlier)
        for start in reading.run_starts(self.field):
            earlier = [t for t in first if t < start]
            if earlier:
                yield Trial((earlier[-1], start), int(start - earlier[-1] - 1 > self.n))


max_gap = template(MaxGap)
