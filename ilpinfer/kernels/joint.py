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
    """An automaton of Q joint states that reads labels of T tokens; state 0 is the first.

    Parameters
    ----------
    row : (T,) which row of `kind` is for each token
    kind : (R, S) the kind of each state
    after : (Q, S) joint state after a state and a kind
    cost : (Q, S) grid units, at least 0; `HARD` where a hard rule is broken
    final : (Q,) grid units at the end, as `cost`
    """

    row: Integers
    kind: Small
    after: Small
    cost: Integers
    final: Integers


@subroutine
def no_machines(T, S):
    """The joint automaton of no machine."""
    none = np.zeros((1, 1), np.int32)
    return Joint(
        np.zeros(T, np.int64),
        np.zeros((1, S), np.int32),
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
def _split(kind, kinds, machines, m, known):
    """Split kinds whose labels machine m reads differently: kind (R, S), and the old kind and the symbol of each pair."""
    width = machines.layout[m, WIDTH]
    number, finer = np.full(kinds * width, np.int32(-1)), np.empty_like(kind)
    pairs, count = np.empty((min(kind.size, kinds * width), 2), np.int64), 0
    for r in range(len(kind)):
        at = machines.table[known[r], m]
        for j in range(kind.shape[1]):
            old, symbol = np.int64(kind[r, j]), np.int64(machines.symbols[at + j])
            key = old * width + symbol
            if number[key] < 0:
                number[key] = count
                pairs[count, 0], pairs[count, 1] = old, symbol
                count += 1
            finer[r, j] = number[key]
    return finer, pairs[:count]


@subroutine
def _multiply(joint, kind, pairs, machines, m, most):
    """The joint automaton with machine m, with its reachable states; with no state where those are more than `most`."""
    states, S = machines.layout[m, STATES], len(pairs)
    most = max(most, 1)
    number, order = np.full(len(joint.final) * states, np.int32(-1)), np.zeros(most, np.int64)
    after, cost = np.empty((most, S), np.int32), np.empty((most, S), np.int64)
    final, number[0], count, done = np.empty(most, np.int64), 0, 1, 0
    while done < count:
        q, state = order[done] // states, order[done] % states
        final[done] = min(joint.final[q] + machines.final[machines.layout[m, FINAL] + state], HARD)
        for s in range(S):
            old, arc = pairs[s, 0], machines.layout[m, ARC] + state * machines.layout[m, WIDTH] + pairs[s, 1]
            cost[done, s] = min(joint.cost[q, old] + machines.cost[arc], HARD)
            if cost[done, s] == HARD:
                after[done, s] = 0
                continue
            key = joint.after[q, old] * states + machines.next_state[arc]
            if number[key] < 0:
                if count == most:
                    return Joint(joint.row, kind, after[:0], cost[:0], final[:0])
                number[key], order[count] = count, key
                count += 1
            after[done, s] = number[key]
        done += 1
    return Joint(joint.row, kind, after[:count], cost[:count], final[:count])


@subroutine
def multiply_machines(machines, classes, S, active, apart, most):
    """The joint automaton of machines in `active` (A,), in their order, while it has at most `most` joint states.

    Machines that read the previous label or share a mark stay outside, and those where apart (M,) is not 0. Also returns which ones are
    inside (A,).
    """
    row, known = _rows(classes, len(machines.table))
    joint = Joint(row, np.zeros((len(known), S), np.int32), *no_machines(1, 1)[2:])
    inside = np.zeros(len(active), np.bool_)
    for a in range(len(active)):
        m = active[a]
        priced = machines.sums[m, LEAST] > machines.sums[m, MOST]
        if machines.layout[m, STRIDE] or machines.mark[m] >= 0 or apart[m] or priced:
            continue
        kind, pairs = _split(joint.kind, joint.after.shape[1], machines, m, known)
        if len(pairs) > MOST_KINDS:
            continue
        more = _multiply(joint, kind, pairs, machines, m, most)
        if len(more.final):
            joint, inside[a] = more, True
    return joint, inside
