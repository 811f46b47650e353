# mypy: allow-untyped-defs
"""Label setting: prefixes of labellings that can still reach a floor are extended token by token; those with equal keys
are merged.

The key of a prefix is its last label and the states of the active machines, some bits for each. Its reach is an upper bound on the
labellings that begin with it, from the scores and these machines' costs so far.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.tables import ARC, FINAL, STATES, STRIDE, WIDTH

DEAD = FORBIDDEN // 2
DONE, NONE, STOPPED, FULL = 0, -1, -2, -3
"""All prefixes are extended; no labelling reaches the floor; the limit of work is reached; there is no room for more
prefixes.
"""
TOKEN, NEXT, BEGIN, FIRST, MADE, STEPS, CUT = range(7)
"""Progress of label setting: the token, the next prefix to extend, the first prefix of its length and of the following length, the
number of all prefixes, the work so far, and the best value below the floor."""
FIRST_STEP = UNITS_PER_NAT * 3 // 2
"""Distance of the first floor below the bound, grid units."""
BITS = 62
"""Bits of each word of a key that are used."""
WORD, SHIFT, MASK, ROW, READ = range(5)
"""Rows of `places`: the word of a key with a machine's state, the first bit, and the mask; for the current prefix, the first arc of the
machine's state, and its symbols."""
ROOM = 1024
"""Initial number of prefixes and of slots, a power of 2."""


class Prefixes(NamedTuple):
    """Prefixes of all lengths in the order of their label ids, and an index by key for those of one length.

    Parameters
    ----------
    reach : (N,) grid units; FORBIDDEN where a better one with the same key came later
    key : (N, W) the label, the joint state, and the state of each active machine, at the bits of `places_of`
    label, parent : (N,) number 0 is the empty prefix
    slots : clock + number of a prefix, a power of 2 of them; those below clock + the first number of a length are empty
    clock : (1,) at least the largest number that earlier calls have left in the slots
    """

    reach: Integers
    key: Integers
    label: Small
    parent: Small
    slots: Integers
    clock: Integers


@subroutine
def no_prefixes():
    """An empty record of prefixes."""
    none, small = np.empty(0, np.int64), np.empty(0, np.int32)
    return Prefixes(none, np.empty((0, 1), np.int64), small, small, none, np.zeros(1, np.int64))


@subroutine
def _more_prefixes(p, more):
    """The same prefixes with at least twice the room, and room for `more`."""
    old, words = p.key.shape
    size = 2 * old + more + ROOM
    reach, key = np.empty(size, np.int64), np.empty((size, words), np.int64)
    label, parent = np.empty(size, np.int32), np.empty(size, np.int32)
    for h in range(old):
        reach[h], label[h], parent[h] = p.reach[h], p.label[h], p.parent[h]
        for w in range(words):
            key[h, w] = p.key[h, w]
    return Prefixes(reach, key, label, parent, p.slots, p.clock)


@subroutine
def _with_words(p, words):
    """Room for prefixes whose keys have `words` words."""
    if p.key.shape[1] == words:
        return p
    return Prefixes(p.reach, np.empty((len(p.reach), words), np.int64), p.label, p.parent, p.slots, p.clock)


@subroutine
def _more_slots(p, least):
    """The same prefixes with at least `least` slots, all empty."""
    size = ROOM
    while size < least:
        size *= 2
    return Prefixes(p.reach, p.key, p.label, p.parent, np.zeros(size, np.int64), p.clock)


@subroutine
def slot_of(slots, keys, h, first, clock):
    """The slot of prefix h's key in an open hash table, where the prefixes of this length begin at `first`."""
    mask, words, spread = len(slots) - 1, keys.shape[1], np.uint64(0)
    for w in range(words):
        spread = (spread ^ np.uint64(keys[h, w])) * np.uint64(0x9E3779B97F4A7C15)
        spread ^= spread >> np.uint64(32)
    place = np.int64(spread >> np.uint64(2)) & mask
    while slots[place] >= clock + first:
        other, same = slots[place] - clock, True
        for w in range(words):
            same &= keys[other, w] == keys[h, w]
        if same:
            break
        place = (place + 1) & mask
    return place


@subroutine
def _reserve(p, first, count, more, indexed):
    """The same prefixes with room for `more`; those of this length are from `first` to `count`."""
    if count + more > len(p.reach):
        p = _more_prefixes(p, more)
    if not indexed and 2 * (count - first + more) > len(p.slots):
        p = _more_slots(p, 4 * (count - first + more))
        for h in range(first, count):
            if p.reach[h] > DEAD:
                p.slots[slot_of(p.slots, p.key, h, first, p.clock[0])] = p.clock[0] + h
    return p


@subroutine
def look_ahead(edge, e, i, tail, t, rest, floor, values):
    """Fill values (K,) with upper bounds for each label at token t after label i, -1 for START, without the other
    machines.

    Returns the best bound below the floor.
    """
    cut = FORBIDDEN
    for j in range(len(values)):
        value = rest + tail[t, j] + (edge[e, i, j] if i >= 0 else 0)
        values[j] = value
        cut = max(cut, value if value < floor else FORBIDDEN)
    return cut


@subroutine
def _extend(handle, edge_at, classes, joint, active, recursion, limits, places, values, p, at):
    """Extend prefixes from position `at` on, until all are labellings (`DONE`), the limit of work is reached (`STOPPED`) or the arrays
    are full (`FULL`)."""
    completion, tail, total = recursion
    floor, work, indexed = limits
    edge, machines = handle.scores.edge, handle.machines
    symbols, table, layout = machines.symbols, machines.table, machines.layout
    next_state, cost, final = machines.next_state, machines.cost, machines.final
    reach, key, label, parent, slots, clock = p.reach, p.key, p.label, p.parent, p.slots, p.clock[0]
    T, K, A = len(classes), edge.shape[1], len(active)
    where, joint_shift, joint_mask, words = places
    word, shift, mask, row, read = where
    last = T - 1
    h, begin, first, count, done, cut = at[NEXT], at[BEGIN], at[FIRST], at[MADE], at[STEPS], at[CUT]
    code = DONE
    for t in range(at[TOKEN], T):
        c, kind = classes[t], joint.kind[joint.row[t]]
        while h < first:
            if reach[h] < floor:
                h += 1
                continue
            if done > work:
                code = STOPPED
            elif count + K > len(reach) or (not indexed and 2 * (count - first + K) > len(slots)):
                code = FULL
            if code != DONE:
                break
            i, q = np.int64(label[h]), key[h, 0] >> joint_shift & joint_mask
            rest = reach[h] - (completion[q, t - 1, i] if t else total)
            cut = max(cut, look_ahead(edge, edge_at[t], i, tail[q], t, rest, floor, values))
            for a in range(A):
                m = active[a]
                row[a] = layout[m, ARC] + (key[h, word[a]] >> shift[a] & mask[a]) * layout[m, WIDTH]
                read[a] = table[c, m] + (i + 1) * layout[m, STRIDE]
            done += K
            for j in range(K):
                value = values[j]
                if value < floor:
                    continue
                key[count, 0] = j | np.int64(joint.after[q, kind[j]]) << joint_shift
                for w in range(1, words):
                    key[count, w] = 0
                spent = 0
                for a in range(A):
                    arc = row[a] + symbols[read[a] + j]
                    key[count, word[a]] |= np.int64(next_state[arc]) << shift[a]
                    spent = min(spent + cost[arc], HARD)
                    if t == last:
                        spent = min(spent + final[layout[active[a], FINAL] + next_state[arc]], HARD)
                done += A + 4
                value -= spent
                if value < floor:
                    cut = max(cut, value)
                    continue
                place = key[count, 0] if indexed else slot_of(slots, key, count, first, clock)
                other = slots[place] - clock
                if other >= first:
                    if value <= reach[other]:
                        continue
                    reach[other] = FORBIDDEN
                slots[place] = clock + count
                reach[count], label[count], parent[count] = value, j, h
                count += 1
            h += 1
        if code != DONE:
            at[TOKEN] = t
            break
        begin, first = first, count
    at[NEXT], at[BEGIN], at[FIRST], at[MADE], at[STEPS], at[CUT] = h, begin, first, count, done, cut
    return code


@subroutine
def places_of(layout, active, K, Q):
    """Bits of a key for K labels, Q joint states, and states of the machines in `active` (A,); the label has the lowest.

    Returns the rows of `WORD`; first bit of the joint state in the first word, and its mask; number of words; bits of
    the last word.
    """
    where, word, used = np.empty((5, len(active)), np.int64), 0, _bits(K) + _bits(Q)
    for a in range(len(active)):
        need = _bits(layout[active[a], STATES])
        if used + need > BITS:
            word, used = word + 1, 0
        where[WORD, a], where[SHIFT, a], where[MASK, a] = word, used, (1 << need) - 1
        used += need
    return (where, _bits(K), (1 << _bits(Q)) - 1, word + 1), used


@subroutine
def _bits(values):
    """The number of bits for so many values."""
    bits = 0
    while 1 << bits < values:
        bits += 1
    return bits


@subroutine
def set_labels(handle, edge_at, classes, joint, active, recursion, bound, least, limits, p):
    """The first of the best labellings by scores, joint automaton and the machines in `active` (A,).

    Only prefixes that can reach a floor are extended; the floor is lowered until a labelling reaches it.

    Parameters
    ----------
    handle : `Handle`
    edge_at : (T,) edge scores of the step into each token
    classes : (T,) of machines
    recursion : completion, tail, and the best value without the machines in `active`, of `joint.complete_jointly`
    bound : upper bound on all labellings
    least : labellings with a lower value are left out; grid units
    limits : limit of steps, and slots of the largest direct index
    p : room for prefixes

    Returns
    -------
    number of the labelling in `p`, `NONE` where none has a finite value, or `STOPPED`; its value or another bound on the
    best one; steps; p
    """
    K = handle.scores.edge.shape[1]
    places, used = places_of(handle.machines.layout, active, K, len(joint.final))
    p = _with_words(p, places[3])
    values, at = np.empty(K, np.int64), np.zeros(7, np.int64)
    size = 1 << used
    work, indexed = limits[0], places[3] == 1 and size <= limits[1]
    if len(p.slots) < (size if indexed else ROOM):
        p = _more_slots(p, size if indexed else ROOM)
    step = FIRST_STEP
    while True:
        floor, code = max(bound - step, least, DEAD), FULL
        at[TOKEN], at[NEXT], at[BEGIN], at[FIRST], at[MADE], at[CUT] = 0, 0, 0, 1, 1, FORBIDDEN
        while code == FULL:
            p = _reserve(p, at[FIRST], at[MADE], K, indexed)
            p.key[0], p.reach[0], p.label[0], p.parent[0] = 0, recursion[2], -1, -1
            stops = floor, work, indexed
            code = _extend(handle, edge_at, classes, joint, active, recursion, stops, places, values, p, at)
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
def spell(p, end, path):
    """Fill path (T,) with the labels of a prefix."""
    for t in range(len(path) - 1, -1, -1):
        path[t] = p.label[end]
        end = p.parent[end]
