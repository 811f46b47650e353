"""Label setting: prefixes of labellings that could still reach a floor, those that agree merged, token by token.

A prefix is known by its last label and the states of the machines at hand: its key, in mixed radix. Its reach is the best
value of a labelling that begins so, as far as these machines' costs up to here and the scores tell.
"""

from typing import NamedTuple

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.tables import Integers, Small

DEAD = FORBIDDEN // 2


class Prefixes(NamedTuple):
    """Prefixes of all lengths in the order of their label ids, and where those of one length are by key.

    Parameters
    ----------
    reach : (N,) grid units; FORBIDDEN where a better one with the same key came later
    key : (N,) label + K · (joint state of the machines)
    label, parent : (N,) number 0 is the empty prefix
    slots : clock + number of a prefix; what is less than clock + the first number of a length is empty
    clock : (1,) larger than all that earlier calls have left in the slots
    """

    reach: Integers
    key: Integers
    label: Small
    parent: Small
    slots: Integers
    clock: Integers


@kernel
def no_prefixes(size):  # type: ignore[no-untyped-def]
    """Room for prefixes, which grows as needed."""
    reach, key = np.empty(size, np.int64), np.empty(size, np.int64)
    label, parent = np.empty(size, np.int32), np.empty(size, np.int32)
    return Prefixes(reach, key, label, parent, np.zeros(size, np.int64), np.zeros(1, np.int64))


@kernel
def _more_prefixes(p):  # type: ignore[no-untyped-def]
    """The same prefixes with twice the room."""
    return Prefixes(
        np.append(p.reach, p.reach),
        np.append(p.key, p.key),
        np.append(p.label, p.label),
        np.append(p.parent, p.parent),
        p.slots,
        p.clock,
    )


@kernel
def _more_slots(p, size):  # type: ignore[no-untyped-def]
    """The same prefixes with `size` empty slots."""
    return Prefixes(p.reach, p.key, p.label, p.parent, np.zeros(size, np.int64), p.clock)


@kernel
def _place(p, key, first, indexed):  # type: ignore[no-untyped-def]
    """The slot of a key, where prefixes of this length begin at `first`: a direct index, or an open hash table."""
    if indexed:
        return key
    slots, mask = p.slots, np.uint64(len(p.slots) - 1)
    hashed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    place = (hashed ^ (hashed >> np.uint64(32))) & mask
    while slots[place] >= p.clock[0] + first and p.key[slots[place] - p.clock[0]] != key:
        place = (place + np.uint64(1)) & mask
    return np.int64(place)


@kernel
def _room(p, first, made, more, indexed):  # type: ignore[no-untyped-def]
    """The prefixes with room for `more`."""
    while made + more > len(p.reach):
        p = _more_prefixes(p)
    if not indexed and 2 * (made - first + more) > len(p.slots):
        size = len(p.slots)
        while size < 4 * (made - first + more):
            size *= 2
        p = _more_slots(p, size)
        for h in range(first, made):
            if p.reach[h] > DEAD:
                p.slots[_place(p, p.key[h], first, False)] = p.clock[0] + h
    return p


@kernel
def follow(scores, edge_at, machines, classes, taken, recursion, floor, work, direct, p):  # type: ignore[no-untyped-def]
    """The first of the best labellings of at least `floor`, as the machines in `taken` (A,) charge them.

    Parameters
    ----------
    edge_at : (T,) which edge scores lead into each token
    classes : (T,) of machines
    recursion : completion, tail, and the best value without machines, of `recursion.complete`
    floor : at least `DEAD`
    work : steps, after which it stops
    direct : slots of the largest direct index
    p : room for prefixes

    Returns
    -------
    number of the labelling in `p`, -1 where none reaches the floor, -2 where the work was too much; a bound on what does
    not reach the floor; steps; p
    """
    completion, tail, total = recursion
    T, K, A = len(classes), scores.edge.shape[1], len(taken)
    radix, row, read = np.empty(A, np.int64), np.empty(A, np.int64), np.empty(A, np.int64)
    keys = K
    for a in range(A):
        radix[a] = keys
        keys *= machines.states[taken[a]]
    indexed = keys <= direct
    size = len(p.slots)
    while indexed and size < keys:
        size *= 2
    if size > len(p.slots):
        p = _more_slots(p, size)
    p.reach[0], p.key[0], p.label[0], p.parent[0] = total, 0, -1, -1
    begin, first, made, done, cut = 0, 1, 1, 0, FORBIDDEN
    start = np.zeros(K, np.int64)
    for t in range(T):
        c, ahead, last = classes[t], tail[t], t == T - 1
        for h in range(begin, first):
            if p.reach[h] < floor:
                continue
            if done > work:
                p.clock[0] += made
                return -2, cut, done, p
            if made + K > len(p.reach) or not indexed:
                p = _room(p, first, made, K, indexed)
            i = np.int64(p.label[h])
            edges, rest = start, total
            if i >= 0:
                edges, rest = scores.edge[edge_at[t], i, :K], completion[t - 1, i]
            for a in range(A):
                m = taken[a]
                row[a] = machines.arc[m] + p.key[h] // radix[a] % machines.states[m] * machines.width[m]
                read[a] = machines.table[c, m] + (i + 1) * machines.stride[m]
            done += K
            for j in range(K):
                reach = p.reach[h] - rest + edges[j] + ahead[j]
                if reach < floor:
                    cut = max(cut, reach)
                    continue
                key, spent = j, 0
                for a in range(A):
                    arc = row[a] + machines.symbols[read[a] + j]
                    state = machines.next_state[arc]
                    key += state * radix[a]
                    spent += machines.cost[arc]
                    if last:
                        spent += machines.final[machines.state_at[taken[a]] + state]
                    spent = min(spent, -FORBIDDEN)
                done += A + 1
                reach -= spent
                if reach < floor:
                    cut = max(cut, reach)
                    continue
                place = _place(p, key, first, indexed)
                other = p.slots[place] - p.clock[0]
                if other >= first:
                    if reach <= p.reach[other]:
                        continue
                    p.reach[other] = FORBIDDEN
                p.slots[place] = p.clock[0] + made
                p.reach[made], p.key[made], p.label[made], p.parent[made] = reach, key, j, h
                made += 1
        begin, first = first, made
    p.clock[0] += made
    end = begin + np.argmax(p.reach[begin:made]) if made > begin else -1
    return end, cut, done, p


@kernel
def spell(p, end, path):  # type: ignore[no-untyped-def]
    """Fill path (T,) with the labels of a prefix."""
    for t in range(len(path) - 1, -1, -1):
        path[t] = p.label[end]
        end = p.parent[end]
