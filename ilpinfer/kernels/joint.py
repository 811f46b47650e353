# mypy: allow-untyped-defs
"""Products of machines, over which the backward recursion has bounds that include later violations.

Only joint states that the labels of a sequence can reach are built. Labels that all machines read alike are of one
kind.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import HARD
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.tables import ARC, FINAL, LEAST, MOST, STATES, STRIDE, WIDTH

MOST_KINDS = 256
"""Largest number of kinds of labels; a machine that needs more stays outside."""


class Joint(NamedTuple):
    """An automaton of Q joint states that reads labels of T tokens; state 0 is the first."""

    row: Integers  # (T,) which row of `kind` is for each token
    before: Small  # (S + 1,) the class of the state before, START first
    kind: Small  # (R, C, S) the kind of the step from each class of states before to each state
    after: Small  # (Q, S) joint state after a state and a kind
    cost: Integers  # (Q, S) grid units, at least 0; `HARD` where a hard rule is broken
    final: Integers  # (Q,) grid units at the end, as `cost`


@subroutine
def no_machines(T, S):
    """The joint automaton of no machine."""
    none = np.zeros((1, 1), np.int32)
    return Joint(
        np.zeros(T, np.int64),
        np.zeros(S + 1, np.int32),
        np.zeros((1, 1, S), np.int32),
        none,
        np.zeros((1, 1), np.int64),
        np.zeros(1, np.int64),
    )


@subroutine
def _rows(classes, C):
    """Number the different classes (T,) of C, and a token of each."""
    number, row = np.full(C, -1), np.empty(len(classes), np.int64)
    first, count = np.empty(len(classes), np.int64), 0
    for t in range(len(classes)):
        if number[classes[t]] < 0:
            number[classes[t]], first[count] = count, classes[t]
            count += 1
        row[t] = number[classes[t]]
    return row, first[:count]


@subroutine
def _split_before(before, machines, m, known, S):
    """Split classes of states before (S + 1,) that machine m reads differently; also the class that each one comes from."""
    stride, finer = machines.layout[m, STRIDE], np.zeros_like(before)
    first, count, table, symbols = np.zeros(S + 1, np.int64), 0, machines.table, machines.symbols
    for i in range(S + 1):
        n, found = 0, False
        while n < count and not found:
            other = first[n]
            found = before[i] == before[other]
            for r in range(len(known) if found and stride else 0):
                at = table[known[r], m]
                for j in range(S):
                    found = found and symbols[at + i * stride + j] == symbols[at + other * stride + j]
            n += not found
        if not found:
            first[count] = i
            count += 1
        finer[i] = n
    return finer, first[:count]


@subroutine
def _split(joint, machines, m, known, before, first):
    """Split kinds of steps that machine m reads differently: kind (R, C, S), and the old kind and the symbol of each pair.

    before (S + 1,), first (C,): the classes of states before, and the first state of each, START being 0
    """
    width, stride, kinds = machines.layout[m, WIDTH], machines.layout[m, STRIDE], joint.after.shape[1]
    number = np.full(kinds * width, np.int32(-1))
    kind, befores, table, symbols = joint.kind, joint.before, machines.table, machines.symbols
    R, S, C = len(kind), kind.shape[2], len(first)
    finer = np.empty((R, C, S), np.int32)
    pairs, count = np.empty((min(finer.size, kinds * width), 2), np.int64), 0
    for r in range(R):
        for c in range(C):
            at, coarser = table[known[r], m] + first[c] * stride, befores[first[c]]
            for j in range(S):
                old, symbol = np.int64(kind[r, coarser, j]), np.int64(symbols[at + j])
                key = old * width + symbol
                if number[key] < 0:
                    number[key] = count
                    pairs[count, 0], pairs[count, 1] = old, symbol
                    count += 1
                finer[r, c, j] = number[key]
    return finer, pairs[:count]


@subroutine
def _multiply(joint, before, kind, pairs, machines, m, most):
    """The joint automaton with machine m, with its reachable states; with no state where those are more than `most`."""
    states, width, most = machines.layout[m, STATES], machines.layout[m, WIDTH], max(most, 1)
    arcs, ends, S = machines.layout[m, ARC], machines.layout[m, FINAL], len(pairs)
    old_after, old_cost, old_final = joint.after, joint.cost, joint.final
    next_state, arc_cost, end_cost = machines.next_state, machines.cost, machines.final
    number, order = np.full(len(old_final) * states, np.int32(-1)), np.zeros(most, np.int64)
    after, cost = np.empty((most, S), np.int32), np.empty((most, S), np.int64)
    final, number[0], count, done = np.empty(most, np.int64), 0, 1, 0
    while done < count:
        q, state = order[done] // states, order[done] % states
        final[done] = min(old_final[q] + end_cost[ends + state], HARD)
        for s in range(S):
            old, arc = pairs[s, 0], arcs + state * width + pairs[s, 1]
            cost[done, s] = min(old_cost[q, old] + arc_cost[arc], HARD)
            if cost[done, s] == HARD:
                after[done, s] = 0
                continue
            key = old_after[q, old] * states + next_state[arc]
            if number[key] < 0:
                if count == most:
                    return Joint(joint.row, before, kind, after[:0], cost[:0], final[:0])
                number[key], order[count] = count, key
                count += 1
            after[done, s] = number[key]
        done += 1
    return Joint(joint.row, before, kind, after[:count], cost[:count], final[:count])


@subroutine
def multiply_machines(machines, classes, S, active, apart, most, steps):
    """The joint automaton of machines in `active` (A,), in their order, while it has at most `most` joint states.

    Machines that share a mark stay outside, those where apart (M,) is not 0, and unless `steps`, those that read the previous label. Also
    returns which ones are inside (A,).
    """
    row, known = _rows(classes, len(machines.table))
    empty = no_machines(1, S)
    joint = Joint(row, empty.before, np.zeros((len(known), 1, S), np.int32), *empty[3:])
    inside = np.zeros(len(active), np.bool_)
    for a in range(len(active)):
        m = active[a]
        priced = machines.sums[m, LEAST] > machines.sums[m, MOST]
        if (machines.layout[m, STRIDE] and not steps) or machines.mark[m] >= 0 or apart[m] or priced:
            continue
        before, first = _split_before(joint.before, machines, m, known, S)
        kind, pairs = _split(joint, machines, m, known, before, first)
        if len(pairs) > MOST_KINDS:
            continue
        more = _multiply(joint, before, kind, pairs, machines, m, most)
        if len(more.final):
            joint, inside[a] = more, True
    return joint, inside
