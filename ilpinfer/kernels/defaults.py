# mypy: allow-untyped-defs
"""Scores of steps as a number of each state plus one of each next state, and exceptions.

A model with smoothing, or without weights for steps that it has not seen, gives most steps such a default score (Siddiqi and Moore 2005,
"Fast inference and learning in large-state-space HMMs", where the default is a number of the state before).
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, UNITS_PER_NAT
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.ordering import nth_smallest
from ilpinfer.kernels.recursion import DEAD

SAMPLE = 15
"""At least so many steps of a state, and steps into a state, have the median that is its number, where there are as many states."""
SLACK = UNITS_PER_NAT // 2**14
"""A step has its default score where that is at most 2 · SLACK too high: sums are rounded."""
SHARE = 8
"""Exceptions are at most 1 / SHARE of the steps, so that the defaults save work."""


class Defaults(NamedTuple):
    """Default scores of the steps of one table, and exceptions: steps that score more, and all that are possible from states without default."""

    out: Integers  # (S,) of the state before, `FORBIDDEN` for none
    into: Integers  # (S,) of the next state, `FORBIDDEN` for none
    begin: Integers  # (S + 1,) the first exception of each state
    other: Small  # the next state of each exception


@subroutine
def _median(scores, numbers, sample):
    """The median difference of scores and numbers, both of a few steps; `FORBIDDEN` unless most are possible."""
    count = 0
    for n in range(len(scores)):
        if scores[n] > DEAD and numbers[n] > DEAD:
            sample[count] = scores[n] - numbers[n]
            count += 1
    return nth_smallest(sample, 0, count, count // 2) if 2 * count > len(scores) else FORBIDDEN


@subroutine
def _fullest(edge, some):
    """The state with the most possible steps, of every `some`-th."""
    best, most = 0, -1
    for i in range(0, len(edge), some):
        count = 0
        for b in range(len(edge)):
            count += edge[i, b] > DEAD
        if count > most:
            best, most = i, count
    return best


@subroutine
def no_defaults():
    """Of no states."""
    none = np.empty(0, np.int64)
    return Defaults(none, none, np.zeros(1, np.int64), np.empty(0, np.int32))


@subroutine
def defaults_of(edge):
    """The defaults of the scores of steps (S, Bp) between any two states, of no states where exceptions are many."""
    S, some = len(edge), max(1, len(edge) // SAMPLE)
    out, into = np.zeros(S, np.int64), edge[_fullest(edge, some), :S].copy()
    begin, other = np.zeros(S + 1, np.int64), np.empty(S * S // SHARE, np.int32)
    sample = np.empty(S, np.int64)
    for i in range(S):
        out[i] = _median(edge[i, :S:some], into[::some], sample)
    for b in range(S):
        into[b] = _median(edge[::some, b], out[::some], sample)
    count = 0
    for i in range(S):
        low = 0
        for b in range(S):
            low += out[i] < DEAD or (into[b] > DEAD and edge[i, b] < out[i] + into[b] - SLACK)
        out[i] = FORBIDDEN if low else out[i] + SLACK
        for b in range(S):
            if edge[i, b] > DEAD and (low or edge[i, b] > out[i] + into[b]):
                if count == len(other):
                    return no_defaults()
                other[count] = b
                count += 1
        begin[i + 1] = count
    return Defaults(out, into, begin, other[:count])
