"""Components of rules about the tokens before and after the runs of a field.

Where the two fields have no label in common, no token of the other can be inside a run, so that a run counts as ended at
its first token; otherwise the states also include whether a run continues.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from formulations.automata.machine import Automaton, automaton
from formulations.automata.windows import UnboundComponent
from formulations.constraints.steps import bits, counting_machine, everywhere
from formulations.dtypes import Integers
from formulations.labels.label_set import LabelSet
from formulations.labels.selectors import Selector

BEGINS, OTHER, GOES_ON = 1, 2, 4
"""Bits of a symbol: a run begins, the token belongs to the other field, a run continues."""


def successor(labels: LabelSet, field: Selector, other: Selector, *, forbid: bool) -> UnboundComponent:
    """Counts the runs of a field that a token of the other follows, if `forbid`, else those that none follows."""
    table, overlap = _symbols(labels, field, other)
    return UnboundComponent(everywhere(table), counting_machine(_successors, forbid, overlap))


def enclosure(labels: LabelSet, field: Selector, span: Selector) -> UnboundComponent:
    """Counts the runs of a field that have no token of the span before them, or none after them."""
    table, overlap = _symbols(labels, field, span)
    return UnboundComponent(everywhere(table), counting_machine(_enclosures, overlap))


@lru_cache(maxsize=64)
def _enclosures(overlap: bool, longest: int) -> Automaton:
    def pending(state: tuple[bool, int, bool]) -> int:
        return min(state[1] + state[2], longest)

    def read(state: tuple[bool, int, bool], symbol: int) -> tuple[tuple[bool, int, bool], int]:
        """State: whether the span was seen, how many runs have no later token of it yet, and whether another such run
        continues.
        """
        seen, begins = state[0], bool(symbol & BEGINS)
        waiting, running = state[1:] if symbol & GOES_ON else (pending(state), begins and seen)
        waiting = 0 if symbol & OTHER else waiting
        if not overlap:
            waiting, running = min(waiting + running, longest), False
        return (seen or bool(symbol & OTHER), waiting, running), int(begins and not seen)

    return automaton((False, 0, False), read, pending, symbols=8 if overlap else 4)


def begin_symbols(labels: LabelSet, field: Selector, other: Selector) -> Integers:
    """Symbols (K+1, K) of the beginning of runs and of the other field."""
    return bits(labels.field(field).begins, np.tile(labels.field(other).member, (len(labels) + 1, 1)))


def _symbols(labels: LabelSet, field: Selector, other: Selector) -> tuple[Integers, bool]:
    """Symbols (K+1, K), and whether the two have labels in common, so that symbols also mark where runs continue."""
    result, shared = labels.field(field), labels.field(other).member
    if not (result.member & shared).any():
        return begin_symbols(labels, field, other), False
    member = np.tile(shared, (len(labels) + 1, 1))
    return bits(result.begins, member, result.member[None, :] & ~result.begins), True


@lru_cache(maxsize=64)
def _successors(forbid: bool, overlap: bool, longest: int) -> Automaton:
    """Counts the runs that no token of the other field has followed yet; emits them when one does, or at the end."""

    def pending(state: tuple[int, bool]) -> int:
        return min(state[0] + state[1], longest)

    def read(state: tuple[int, bool], symbol: int) -> tuple[tuple[int, bool], int]:
        """State: how many runs have no successor yet, and whether another run continues."""
        waiting = state[0] if symbol & GOES_ON else pending(state)
        seen, running = bool(symbol & OTHER), bool(symbol & (BEGINS | GOES_ON))
        emitted, waiting = waiting if seen and forbid else 0, 0 if seen else waiting
        return ((waiting, running) if overlap else (min(waiting + running, longest), False)), emitted

    symbols = 8 if overlap else 4
    forward = automaton((0, False), read, (lambda state: 0) if forbid else pending, symbols=symbols)
    return replace(forward, backward=_successors_backward(forbid, symbols))


def _successors_backward(forbid: bool, symbols: int) -> Automaton:
    """The automaton that reads from right to left: it emits at the first token of each run."""

    def read(state: tuple[bool, bool | None], symbol: int) -> tuple[tuple[bool, bool | None], int]:
        """State: whether the other field was seen, and whether it was at the end of the run; None where no run
        continues.
        """
        seen, at_end = state
        at_end = seen if at_end is None else at_end
        emitted = int(bool(symbol & BEGINS) and at_end == forbid)
        return (seen or bool(symbol & OTHER), at_end if symbol & GOES_ON else None), emitted

    start: tuple[bool, bool | None] = (False, None)
    return automaton(start, read, symbols=symbols)
