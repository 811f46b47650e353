"""Machines of rules that ask what comes before the first token of a run, and what after its last.

Where the two fields have no label in common, nothing of the other can come within a run, so that a run may wait from its
first token on; otherwise twice the states tell whether a run goes on.
"""

from dataclasses import replace

import numpy as np

from formulations.compiled.lattice import StepTable
from formulations.compiled.machine import Machine, automaton
from formulations.constraints.steps import bits, everywhere
from formulations.labels import LabelSet, Selector

BEGINS, OTHER, GOES_ON = 1, 2, 4
"""What a symbol is the sum of: a run begins, the token belongs to the other field, a run goes on."""


def followed(labels: LabelSet, field: Selector, other: Selector, length: int, *, broken_if: bool) -> Machine:
    """Counts runs of a field that a token of the other follows, where `broken_if`, else those that none follows."""
    if _overlap(labels, field, other):
        steps = everywhere(_running(labels, field, other), length)
        return replace(_waiting_on(steps, broken_if), backward=_seen_after(steps, broken_if))
    steps = everywhere(begins_and(labels, field, other), length)
    return replace(_waiting(steps, broken_if), backward=_seen_later(steps, broken_if))


def enclosed(labels: LabelSet, field: Selector, span: Selector, length: int) -> Machine:
    """Counts runs of a field that no token of the span comes before, or none after."""
    overlap = _overlap(labels, field, span)
    table = _running(labels, field, span) if overlap else begins_and(labels, field, span)

    def ended(state: tuple[bool, int, bool]) -> int:
        return min(state[1] + state[2], length)

    def read(state: tuple[bool, int, bool], symbol: int) -> tuple[tuple[bool, int, bool], int]:
        """Whether the span was seen, how many runs wait for it, and whether a run that will wait goes on."""
        seen, begins = state[0], bool(symbol & BEGINS)
        waiting, running = state[1:] if symbol & GOES_ON else (ended(state), begins and seen)
        waiting = 0 if symbol & OTHER else waiting
        if not overlap:
            waiting, running = min(waiting + running, length), False
        return (seen or bool(symbol & OTHER), waiting, running), int(begins and not seen)

    return automaton(everywhere(table, length), (False, 0, False), read, ended, range(8 if overlap else 4))


def begins_and(labels: LabelSet, field: Selector, other: Selector) -> np.ndarray:
    """Symbols (K+1, K) of the beginning of runs and of the other field."""
    return bits(labels.field(field).begins, np.tile(labels.field(other).member, (len(labels) + 1, 1)))


def _running(labels: LabelSet, field: Selector, other: Selector) -> np.ndarray:
    """Symbols (K+1, K) that tell too where runs go on."""
    found = labels.field(field)
    member = np.tile(labels.field(other).member, (len(labels) + 1, 1))
    return bits(found.begins, member, found.member[None, :] & ~found.begins)


def _overlap(labels: LabelSet, field: Selector, other: Selector) -> bool:
    return bool((labels.field(field).member & labels.field(other).member).any())


def _waiting(steps: StepTable, emit_on_seen: bool) -> Machine:
    """States count the runs that no token of the other field has followed yet; emitted when one does, or at the end."""
    most = len(steps.index)
    waiting = np.arange(most + 1)
    more = np.minimum(waiting + 1, most)
    next_state = np.stack([waiting, more, np.zeros_like(waiting), np.ones_like(waiting)], axis=1)
    emits = np.zeros(next_state.shape, np.int64)
    if emit_on_seen:
        emits[:, OTHER:] = waiting[:, None]
    return Machine(steps, next_state, emits, np.zeros_like(waiting) if emit_on_seen else waiting)


def _seen_later(steps: StepTable, broken_if: bool) -> Machine:
    """From right to left: has the other field been seen? A run is broken if so, or if not."""
    next_state = np.array([[0, 0, 1, 1], [1, 1, 1, 1]])
    emits = np.zeros((2, 4), np.int64)
    emits[int(broken_if), [BEGINS, BEGINS + OTHER]] = 1
    return Machine(steps, next_state, emits, np.zeros(2, np.int64))


def _waiting_on(steps: StepTable, emit_on_seen: bool) -> Machine:
    """As `_waiting`, with runs that wait from their last token on."""
    most = len(steps.index)

    def ended(state: tuple[int, bool]) -> int:
        return min(state[0] + state[1], most)

    def read(state: tuple[int, bool], symbol: int) -> tuple[tuple[int, bool], int]:
        """How many runs wait, and whether a run goes on."""
        waiting = state[0] if symbol & GOES_ON else ended(state)
        seen, running = bool(symbol & OTHER), bool(symbol & (BEGINS | GOES_ON))
        return (0 if seen else waiting, running), waiting if seen and emit_on_seen else 0

    return automaton(steps, (0, False), read, (lambda state: 0) if emit_on_seen else ended, range(8))


def _seen_after(steps: StepTable, broken_if: bool) -> Machine:
    """As `_seen_later`, with what had been seen where the run ends."""

    def read(state: tuple[bool, bool | None], symbol: int) -> tuple[tuple[bool, bool | None], int]:
        """Whether the other field was seen, and whether it had been at the end of the run; None where no run goes on."""
        seen, at_end = state
        at_end = seen if at_end is None else at_end
        emitted = int(bool(symbol & BEGINS) and at_end == broken_if)
        return (seen or bool(symbol & OTHER), at_end if symbol & GOES_ON else None), emitted

    start: tuple[bool, bool | None] = (False, None)
    return automaton(steps, start, read, symbols=range(8))
