# mypy: allow-untyped-defs
"""Numbers for the symbols of all machines on steps: steps with equal symbols have one number."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.hashing import enter, place
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.machines import symbol_of


class Readings(NamedTuple):
    """The symbols of machines; R combinations of symbols, N kinds of tokens.

    The number of each step (N, K+1, K), the machines' symbols for each number (R, M), the first number of each kind (N+1,), and the
    kind of each token (T,).
    """

    number: Small
    symbols: Small
    begin: Integers
    kind: Integers


class Groups(NamedTuple):
    """Groups (N, K) of labels before a step with the same readings; N kinds of steps.

    A second array (N, K) also separates labels with different possible edges. Then the kind of each step (T-1,), and the index of its
    edge scores (T-1,).
    """

    alike: Small
    possible: Small
    pair: Integers
    step: Integers


@subroutine
def enlarge(array, rows):
    larger = np.empty((rows, array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@subroutine
def enlarge_slots(slots, rows, first, count):
    """A hash table of twice the size."""
    larger = np.empty(2 * len(slots), np.int32)
    enter(larger, rows, first, count)
    return larger


@kernel
def number_readings(machines, K):
    """Steps that all machines read alike get one number; kinds of tokens are their classes."""
    N, M = machines.table.shape
    number = np.empty((N, K + 1, K), np.int32)
    begin = np.zeros(N + 1, np.int64)
    symbols = np.empty((64, M), np.int32)
    for kind in range(N):
        first, count = begin[kind], 0
        slots = np.full(16, -1, np.int32)
        for i in range(K + 1):
            for j in range(K):
                if first + count == len(symbols):
                    symbols = enlarge(symbols, 2 * len(symbols))
                for m in range(M):
                    symbols[first + count, m] = symbol_of(machines, kind, m, i - 1, j)
                slot = place(slots, symbols, first, first + count)
                if slots[slot] < 0:
                    slots[slot] = count
                    count += 1
                number[kind, i, j] = slots[slot]
                if 2 * count > len(slots):
                    slots = enlarge_slots(slots, symbols, first, count)
        begin[kind + 1] = first + count
    return number, symbols[: begin[N]], begin


@kernel
def group_rows(number, pool, pairs):
    """Group labels before a step with the same readings, (N, K).

    A second array also separates labels with different possible edges. `pairs` (2, N) has the index of the edge scores and the kind
    of a step.
    """
    N, K = pairs.shape[1], number.shape[2]
    alike, possible = np.empty((N, K), np.int32), np.empty((N, K), np.int32)
    for n in range(N):
        read = number[pairs[1, n], 1:]
        _group(read, alike[n])
        closed = np.empty((K, 2 * K), np.int32)
        closed[:, :K] = read
        closed[:, K:] = pool[pairs[0, n]] < FORBIDDEN // 2
        _group(closed, possible[n])
    return alike, possible


@subroutine
def _group(rows, group):
    """Fill group (K,): equal rows get one number."""
    member = np.empty(len(rows), np.int64)
    count = 0
    for i in range(len(rows)):
        g = 0
        while g < count and not _equal(rows[member[g]], rows[i]):
            g += 1
        if g == count:
            member[count] = i
            count += 1
        group[i] = g


@subroutine
def _equal(a, b):
    j = 0
    while j < len(a) and a[j] == b[j]:
        j += 1
    return j == len(a)
