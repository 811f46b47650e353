"""Machines of rules that ask what comes before the first token of a run, and what after its last.

Where the two fields have no label in common, nothing of the other can come within a run, so that a run may wait from its
first token on; otherwise twice the states tell whether a run goes on.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from formulations.compiled.machine import Automaton, automaton
from formulations.compiled.windows import UnboundPart
from formulations.constraints.steps import bits, counted_by, everywhere
from formulations.labels import LabelSet, Selector

BEGINS, OTHER, GOES_ON = 1, 2, 4
"""What a symbol is the sum of: a run begins, the token belongs to the other field, a run goes on."""


def followed(labels: LabelSet, field: Selector, other: Selector, *, broken_if: bool) -> UnboundPart:
    """Counts runs of a field that a token of the other follows, where `broken_if`, else those that none follows."""
    overlap = _overlap(labels, field, other)
    table = (_running if overlap else begins_and)(labels, field, other)
    return UnboundPart(everywhere(table), counted_by(_waiting_on if overlap else _waiting, broken_if))


def enclosed(labels: LabelSet, field: Selector, span: Selector) -> UnboundPart:
    """Counts runs of a field that no token of the span comes before, or none after."""
    overlap = _overlap(labels, field, span)
    table = (_running if overlap else begins_and)(labels, field, span)
    return UnboundPart(everywhere(table), counted_by(_enclosing, overlap))


@lru_cache(maxsize=64)
def _enclosing(overlap: bool, longest: int) -> Automaton:
    def ended(state: tuple[bool, int, bool]) -> int:
        return min(state[1] + state[2], longest)

    def read(state: tuple[bool, int, bool], symbol: int) -> tuple[tuple[bool, int, bool], int]:
        """Whether the span was seen, how many runs wait for it, and whether a run that will wait goes on."""
        seen, begins = state[0], bool(symbol & BEGINS)
        waiting, running = state[1:] if symbol & GOES_ON else (ended(state), begins and seen)
        waiting = 0 if symbol & OTHER else waiting
        if not overlap:
            waiting, running = min(waiting + running, longest), False
        return (seen or bool(symbol & OTHER), waiting, running), int(begins and not seen)

    return automaton((False, 0, False), read, ended, symbols=8 if overlap else 4)


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


@lru_cache(maxsize=64)
def _waiting(emit_on_seen: bool, longest: int) -> Automaton:
    """States count the runs that no token of the other field has followed yet; emitted when one does, or at the end."""
    waiting = np.arange(longest + 1)
    more = np.minimum(waiting + 1, longest)
    next_state = np.stack([waiting, more, np.zeros_like(waiting), np.ones_like(waiting)], axis=1)
    emits = np.zeros(next_state.shape, np.int64)
    if emit_on_seen:
        emits[:, OTHER:] = waiting[:, None]
    final = np.zeros_like(waiting) if emit_on_seen else waiting
    return Automaton(next_state, emits, final, _seen_later(emit_on_seen))


def _seen_later(broken_if: bool) -> Automaton:
    """From right to left: has the other field been seen? A run is broken if so, or if not."""
    next_state = np.array([[0, 0, 1, 1], [1, 1, 1, 1]])
    emits = np.zeros((2, 4), np.int64)
    emits[int(broken_if), [BEGINS, BEGINS + OTHER]] = 1
    return Automaton(next_state, emits, np.zeros(2, np.int64))


@lru_cache(maxsize=64)
def _waiting_on(emit_on_seen: bool, longest: int) -> Automaton:
    """As `_waiting`, with runs that wait from their last token on."""

    def ended(state: tuple[int, bool]) -> int:
        return min(state[0] + state[1], longest)

    def read(state: tuple[int, bool], symbol: int) -> tuple[tuple[int, bool], int]:
        """How many runs wait, and whether a run goes on."""
        waiting = state[0] if symbol & GOES_ON else ended(state)
        seen, running = bool(symbol & OTHER), bool(symbol & (BEGINS | GOES_ON))
        return (0 if seen else waiting, running), waiting if seen and emit_on_seen else 0

    made = automaton((0, False), read, (lambda state: 0) if emit_on_seen else ended, symbols=8)
    return replace(made, backward=_seen_after(emit_on_seen))


def _seen_after(broken_if: bool) -> Automaton:
    """As `_seen_later`, with what had been seen where the run ends."""

    def read(state: tuple[bool, bool | None], symbol: int) -> tuple[tuple[bool, bool | None], int]:
        """Whether the other field was seen, and whether it had been at the end of the run; None where no run goes on."""
        seen, at_end = state
        at_end = seen if at_end is None else at_end
        emitted = int(bool(symbol & BEGINS) and at_end == broken_if)
        return (seen or bool(symbol & OTHER), at_end if symbol & GOES_ON else None), emitted

    start: tuple[bool, bool | None] = (False, None)
    return automaton(start, read, symbols=8)
