"""Machines of rules that ask what comes before the first token of a run, and what after its last.

Where the two fields have no label in common, nothing of the other can come within a run, so that a run may wait from its
first token on; otherwise twice the states tell whether a run goes on.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from formulations.automata.machine import Automaton, automaton
from formulations.automata.windows import UnboundComponent
from formulations.constraints.steps import bits, counted_by, everywhere
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Selector

BEGINS, OTHER, GOES_ON = 1, 2, 4
"""What a symbol is the sum of: a run begins, the token belongs to the other field, a run goes on."""


def followed(labels: LabelSet, field: Selector, other: Selector, *, broken_if: bool) -> UnboundComponent:
    """Counts runs of a field that a token of the other follows, where `broken_if`, else those that none follows."""
    table, overlap = _symbols(labels, field, other)
    return UnboundComponent(everywhere(table), counted_by(_waiting, broken_if, overlap))


def enclosed(labels: LabelSet, field: Selector, span: Selector) -> UnboundComponent:
    """Counts runs of a field that no token of the span comes before, or none after."""
    table, overlap = _symbols(labels, field, span)
    return UnboundComponent(everywhere(table), counted_by(_enclosing, overlap))


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


def _symbols(labels: LabelSet, field: Selector, other: Selector) -> tuple[np.ndarray, bool]:
    """Symbols (K+1, K), and whether the two have labels in common, so that symbols tell too where runs go on."""
    result, shared = labels.field(field), labels.field(other).member
    if not (result.member & shared).any():
        return begins_and(labels, field, other), False
    member = np.tile(shared, (len(labels) + 1, 1))
    return bits(result.begins, member, result.member[None, :] & ~result.begins), True


@lru_cache(maxsize=64)
def _waiting(broken_if: bool, overlap: bool, longest: int) -> Automaton:
    """Counts the runs that no token of the other field has followed yet; emitted when one does, or at the end."""

    def ended(state: tuple[int, bool]) -> int:
        return min(state[0] + state[1], longest)

    def read(state: tuple[int, bool], symbol: int) -> tuple[tuple[int, bool], int]:
        """How many runs wait, and whether a run that will wait goes on."""
        waiting = state[0] if symbol & GOES_ON else ended(state)
        seen, running = bool(symbol & OTHER), bool(symbol & (BEGINS | GOES_ON))
        emitted, waiting = waiting if seen and broken_if else 0, 0 if seen else waiting
        return ((waiting, running) if overlap else (min(waiting + running, longest), False)), emitted

    symbols = 8 if overlap else 4
    made = automaton((0, False), read, (lambda state: 0) if broken_if else ended, symbols=symbols)
    return replace(made, backward=_seen_after(broken_if, symbols))


def _seen_after(broken_if: bool, symbols: int) -> Automaton:
    """From right to left: had the other field been seen where the run ends? A run is broken if so, or if not."""

    def read(state: tuple[bool, bool | None], symbol: int) -> tuple[tuple[bool, bool | None], int]:
        """Whether the other field was seen, and whether it had been at the end of the run; None where no run goes on."""
        seen, at_end = state
        at_end = seen if at_end is None else at_end
        emitted = int(bool(symbol & BEGINS) and at_end == broken_if)
        return (seen or bool(symbol & OTHER), at_end if symbol & GOES_ON else None), emitted

    start: tuple[bool, bool | None] = (False, None)
    return automaton(start, read, symbols=symbols)
