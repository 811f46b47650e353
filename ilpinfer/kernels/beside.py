# mypy: allow-untyped-defs, allow-untyped-calls
"""The tables of one sequence: those that all sequences share, and a machine of its own."""

import numpy as np

from formulations.grid import HARD
from ilpinfer.kernels.counts import Counts
from ilpinfer.kernels.decoding import classify
from ilpinfer.kernels.handle import Handle
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.keys import slot_of
from ilpinfer.kernels.packing import OPEN
from ilpinfer.kernels.tables import (
    ARC,
    FINAL,
    HIGH,
    LOW,
    MACHINES,
    STATES,
    STRIDE,
    WEIGHT,
    WIDTH,
    Machines,
    Windows,
)


@subroutine
def _joined(first, second):
    """Two arrays as one, of the type of the first."""
    result = np.empty(len(first) + len(second), first.dtype)
    for n in range(len(first)):
        result[n] = first[n]
    for n in range(len(second)):
        result[len(first) + n] = second[n]
    return result


@subroutine
def _costs(violations, penalty):
    """As `formulations.grid.violation_costs`."""
    costs = np.empty(len(violations), np.int64)
    for n in range(len(violations)):
        costs[n] = penalty * (min(violations[n], 1) if penalty == HARD else violations[n])
    return costs


@subroutine
def _number_pairs(classes, index):
    """Replace known classes (T,) by numbers of the different pairs of a class and an index (T,); these pairs (C, 2)."""
    size, count, pairs = 1, 0, np.empty((len(classes), 2), np.int64)
    while size < 2 * len(classes):
        size *= 2
    slots = np.full(size, -1)
    for t in range(len(classes)):
        if classes[t] >= 0:
            pairs[count, 0], pairs[count, 1] = classes[t], index[t]
            place = slot_of(slots, pairs, count, 0, 0)
            if slots[place] < 0:
                slots[place] = count
                count += 1
            classes[t] = slots[place]
    return pairs[:count]


@subroutine
def _windows_of(classes):
    """The windows of tokens (T,) that are numbered from 0 on and have classes (3, T)."""
    T = classes.shape[1]
    numbers, shape = np.zeros((T, 3, 3), np.int32), np.ones((3, 3), np.int64)
    for purpose in range(3):
        for t in range(T):
            numbers[t, purpose, 1] = classes[purpose, t] + 1
            shape[purpose, 1] = max(shape[purpose, 1], classes[purpose, t] + 2)
    known = np.empty(max(shape[0, 1], shape[1, 1], shape[2, 1]), np.int32)
    for c in range(len(known)):
        known[c] = c - 1
    return Windows(numbers, np.zeros(3, np.int64), shape, known)


@kernel
def beside(handle, tokens, symbols, index, next_state, violations, last, shape, penalty, owner):
    """The `Handle` of a sequence: the tables of another one, and a machine that is no sum and has no mark; without events.

    Its tokens are numbered from 0 on. Those of unknown classes have none there either.

    Parameters
    ----------
    tokens : (T,) as `decode_batch` reads them with the other tables
    symbols, index : the machine's tables of symbols one after the other; and which of them each token (T,) has
    next_state, violations, last : of its arcs and, `last`, of its states at the end
    shape : symbols of a table; `STRIDE`; `WIDTH`
    penalty : grid units a violation, or `HARD`
    owner : the place of its rule
    """
    machines, counts, (size, stride, width) = handle.machines, handle.counts, shape
    M, cost, final = len(machines.layout), _costs(violations, penalty), _costs(last, penalty)
    classes = np.empty((3, len(tokens)), np.int64)
    classify(handle.windows, tokens, classes)
    pairs = _number_pairs(classes[MACHINES], index)
    table = np.empty((len(pairs), M + 1), np.int64)
    for c in range(len(pairs)):
        for m in range(M):
            table[c, m] = machines.table[pairs[c, 0], m]
        table[c, M] = len(machines.symbols) + pairs[c, 1] * size
    row, sides = np.empty(6, np.int64), np.zeros(4, np.int64)
    row[ARC], row[WIDTH], row[STRIDE] = len(machines.cost), width, stride
    row[FINAL], row[STATES], row[WEIGHT] = len(machines.final), len(last), len(machines.weight)
    sides[LOW], sides[HIGH] = -OPEN, OPEN
    both = Machines(
        _joined(machines.symbols, symbols),
        table,
        _joined(machines.layout.ravel(), row).reshape(M + 1, 6),
        _joined(machines.next_state, next_state),
        _joined(machines.cost, cost),
        _joined(machines.final, final),
        np.zeros(1, np.int32),
        np.empty((0, 2), np.int16),
        _joined(machines.owing, np.full(1 if final[0] else 0, M)),
        _joined(machines.weight, np.zeros(width, np.int64)),
        _joined(machines.sums.ravel(), sides).reshape(M + 1, 4),
        _joined(machines.mark, np.full(1, -1)),
        _joined(machines.penalty, np.full(1, penalty)),
        _joined(machines.violations, violations),
        _joined(machines.last, last),
    )
    nodes, edges, events, overruled = counts.node_begin, counts.edge_begin, counts.event, counts.overruled
    owners = _joined(counts.owner, np.full(1, owner))
    counts = Counts(nodes, edges, events, overruled, owners, counts.rules, counts.pool)
    return Handle(_windows_of(classes), handle.scores, both, counts)
