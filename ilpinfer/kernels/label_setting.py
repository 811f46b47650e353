"""Label setting: prefixes of labellings that could still reach a floor, those that agree merged, token by token.

A prefix is known by its last label and the states of the machines at hand: its key, in mixed radix. Its reach is the best
value of a labelling that begins so, as far as these machines' costs up to here and the scores tell.
"""

from typing import NamedTuple

import numpy as np

from formulations.grid import FORBIDDEN, UNITS_PER_NAT
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.tables import Integers, Small

DEAD = FORBIDDEN // 2
DONE, NONE, STOPPED, FULL = 0, -1, -2, -3
"""All prefixes are extended; no labelling reaches the floor; the work was too much; there is no room for more prefixes."""
TOKEN, NEXT, BEGIN, FIRST, MADE, STEPS, CUT = range(7)
"""How far label setting is: the token, the next prefix to extend, where prefixes of its length and of the one that is being
made begin, how many there are in all, the work so far, and the best value that was below the floor."""
FIRST_STEP = UNITS_PER_NAT * 3 // 2
"""How far below a bound the floor begins, grid units."""
MOST_KEYS = 2**62
"""Labels times joint states, beyond which the work is too much."""
ROOM = 1024
"""Prefixes and slots that there is room for at first, a power of 2."""


class Prefixes(NamedTuple):
    """Prefixes of all lengths in the order of their label ids, and where those of one length are by key.

    Parameters
    ----------
    reach : (N,) grid units; FORBIDDEN where a better one with the same key came later
    key : (N,) label + K · (joint state of the machines)
    label, parent : (N,) number 0 is the empty prefix
    slots : clock + number of a prefix, a power of 2 of them; those below clock + the first number of a length are empty
    clock : (1,) not less than what earlier calls have left in the slots
    """

    reach: Integers
    key: Integers
    label: Small
    parent: Small
    slots: Integers
    clock: Integers


@subroutine
def no_prefixes():  # type: ignore[no-untyped-def]
    """Prefixes without room, which costs little where none are needed."""
    none, small = np.empty(0, np.int64), np.empty(0, np.int32)
    return Prefixes(none, none, small, small, none, np.zeros(1, np.int64))


@subroutine
def _more_prefixes(p, more):  # type: ignore[no-untyped-def]
    """The same prefixes with room for at least as many again, and `more`."""
    old = len(p.reach)
    size = 2 * old + more + ROOM
    reach, key = np.empty(size, np.int64), np.empty(size, np.int64)
    label, parent = np.empty(size, np.int32), np.empty(size, np.int32)
    for h in range(old):
        reach[h], key[h], label[h], parent[h] = p.reach[h], p.key[h], p.label[h], p.parent[h]
    return Prefixes(reach, key, label, parent, p.slots, p.clock)


@subroutine
def _more_slots(p, least):  # type: ignore[no-untyped-def]
    """The same prefixes with at least so many slots, all empty."""
    size = ROOM
    while size < least:
        size *= 2
    return Prefixes(p.reach, p.key, p.label, p.parent, np.zeros(size, np.int64), p.clock)


@subroutine
def _hashed(slots, keys, key, first, clock):  # type: ignore[no-untyped-def]
    """The slot of a key in an open hash table, where the prefixes of this length begin at `first`."""
    mask = len(slots) - 1
    spread = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64(spread >> np.uint64(20)) & mask
    while slots[place] >= clock + first and keys[slots[place] - clock] != key:
        place = (place + 1) & mask
    return place


@subroutine
def _with_room(p, first, made, more, indexed):  # type: ignore[no-untyped-def]
    """The same prefixes with room for `more`; those of this length are from `first` to `made`."""
    if made + more > len(p.reach):
        p = _more_prefixes(p, more)
    if not indexed and 2 * (made - first + more) > len(p.slots):
        p = _more_slots(p, 4 * (made - first + more))
        for h in range(first, made):
            if p.reach[h] > DEAD:
                p.slots[_hashed(p.slots, p.key, p.key[h], first, p.clock[0])] = p.clock[0] + h
    return p


@subroutine
def _look_ahead(edge, e, i, tail, t, rest, floor, values):  # type: ignore[no-untyped-def]
    """Fill values (K,) with what each label at token t after label i, -1 for START, could reach without machines.

    Returns the best of those that are below the floor.
    """
    cut = FORBIDDEN
    for j in range(len(values)):
        value = rest + tail[t, j] + (edge[e, i, j] if i >= 0 else 0)
        values[j] = value
        cut = max(cut, value if value < floor else FORBIDDEN)
    return cut


@subroutine
def _extend(handle, edge_at, classes, taken, recursion, limits, radix, row, read, values, p, at):  # type: ignore[no-untyped-def]
    """Extend prefixes from where `at` says, until all are labellings (`DONE`), or the work (`STOPPED`) or the room (`FULL`) ends."""
    completion, tail, total = recursion
    floor, work, indexed = limits
    edge, machines = handle.scores.edge, handle.machines
    symbols, table, stride = machines.symbols, machines.table, machines.stride
    next_state, cost, final = machines.next_state, machines.cost, machines.final
    reach, key, label, parent, slots, clock = p.reach, p.key, p.label, p.parent, p.slots, p.clock[0]
    T, K, A = len(classes), edge.shape[1], len(taken)
    h, begin, first, made, done, cut = at[NEXT], at[BEGIN], at[FIRST], at[MADE], at[STEPS], at[CUT]
    code = DONE
    for t in range(at[TOKEN], T):
        c = classes[t]
        while h < first:
            if reach[h] < floor:
                h += 1
                continue
            if done > work:
                code = STOPPED
            elif made + K > len(reach) or (not indexed and 2 * (made - first + K) > len(slots)):
                code = FULL
            if code != DONE:
                break
            i = np.int64(label[h])
            rest = reach[h] - (completion[t - 1, i] if t else total)
            cut = max(cut, _look_ahead(edge, edge_at[t], i, tail, t, rest, floor, values))
            for a in range(A):
                m = taken[a]
                row[a] = machines.arc[m] + key[h] // radix[a] % machines.states[m] * machines.width[m]
                read[a] = table[c, m] + (i + 1) * stride[m]
            done += K
            for j in range(K):
                value = values[j]
                if value < floor:
                    continue
                place, spent = j, 0
                for a in range(A):
                    arc = row[a] + symbols[read[a] + j]
                    place += next_state[arc] * radix[a]
                    spent = min(spent + cost[arc], -FORBIDDEN)
                    if t == T - 1:
                        spent = min(spent + final[machines.state_at[taken[a]] + next_state[arc]], -FORBIDDEN)
                done += A + 4
                value -= spent
                if value < floor:
                    cut = max(cut, value)
                    continue
                key[made] = place
                if not indexed:
                    place = _hashed(slots, key, place, first, clock)
                other = slots[place] - clock
                if other >= first:
                    if value <= reach[other]:
                        continue
                    reach[other] = FORBIDDEN
                slots[place] = clock + made
                reach[made], label[made], parent[made] = value, j, h
                made += 1
            h += 1
        if code != DONE:
            at[TOKEN] = t
            break
        begin, first = first, made
    at[NEXT], at[BEGIN], at[FIRST], at[MADE], at[STEPS], at[CUT] = h, begin, first, made, done, cut
    return code


@subroutine
def follow(handle, edge_at, classes, taken, recursion, bound, least, limits, p):  # type: ignore[no-untyped-def]
    """The first of the best labellings, as the machines in `taken` (A,) charge them.

    Prefixes are followed down to a floor, which goes down until a labelling reaches it.

    Parameters
    ----------
    handle : `Handle`
    edge_at : (T,) which edge scores lead into each token
    classes : (T,) of machines
    recursion : completion, tail, and the best value without machines, of `recursion.complete`
    bound : no labelling is worth more
    least : labellings worth less do not matter; grid units
    limits : steps, after which it stops, and slots of the largest direct index
    p : room for prefixes

    Returns
    -------
    number of the labelling in `p`, `NONE` where none has a finite value, or `STOPPED`; its value or another bound on the
    best one; steps; p
    """
    states, K, A = handle.machines.states, handle.scores.edge.shape[1], len(taken)
    radix, row, read = np.empty(A, np.int64), np.empty(A, np.int64), np.empty(A, np.int64)
    values, at, size = np.empty(K, np.int64), np.zeros(7, np.int64), K
    for a in range(A):
        radix[a] = size
        if size > MOST_KEYS // states[taken[a]]:
            return STOPPED, bound, 0, p
        size *= states[taken[a]]
    work, indexed = limits[0], size <= limits[1]
    if len(p.slots) < (size if indexed else ROOM):
        p = _more_slots(p, size if indexed else ROOM)
    step = FIRST_STEP
    while True:
        floor, code = max(bound - step, least, DEAD), FULL
        at[TOKEN], at[NEXT], at[BEGIN], at[FIRST], at[MADE], at[CUT] = 0, 0, 0, 1, 1, FORBIDDEN
        while code == FULL:
            p = _with_room(p, at[FIRST], at[MADE], K, indexed)
            p.reach[0], p.key[0], p.label[0], p.parent[0] = recursion[2], 0, -1, -1
            stops = floor, work, indexed
            code = _extend(handle, edge_at, classes, taken, recursion, stops, radix, row, read, values, p, at)
        p.clock[0] += at[MADE]
        if code == STOPPED:
            return STOPPED, bound, at[STEPS], p
        end = NONE
        for h in range(at[BEGIN], at[MADE]):
            if p.reach[h] >= floor and (end < 0 or p.reach[h] > p.reach[end]):
                end = h
        if end >= 0:
            return end, p.reach[end], at[STEPS], p
        bound, step = at[CUT], step * 5 // 2
        if bound < DEAD:
            return NONE, FORBIDDEN, at[STEPS], p


@subroutine
def spell(p, end, path):  # type: ignore[no-untyped-def]
    """Fill path (T,) with the labels of a prefix."""
    for t in range(len(path) - 1, -1, -1):
        path[t] = p.label[end]
        end = p.parent[end]
