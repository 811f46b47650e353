# mypy: allow-untyped-defs
"""Prefixes of labellings: their record, its room, and choices among those of one length."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.keys import slot_of
from ilpinfer.kernels.ordering import descending, nth_smallest
from ilpinfer.kernels.recursion import DEAD

TOKEN, NEXT, MADE, EDGES, STEPS, CUT, KEPT = range(7)
"""Progress of label setting: the token, the next prefix to extend, the numbers of prefixes and of steps kept, the work so far, the
best value that was left out, and the number of events kept."""
ROOM = 1024
"""Initial number of prefixes and of slots, a power of 2."""


class Prefixes(NamedTuple):
    """Prefixes of all lengths, and an index by key for those of one length; in a graph, also the steps between them.

    Prefixes of t tokens are those from level[t] to level[t + 1]; number 0 is the empty prefix. Prefixes are in the order of their label
    ids, but for those of a graph, which have no parents and where all labellings end in one prefix.
    """

    reach: Integers  # (N,) grid units; FORBIDDEN where a better one with the same key came later
    # (N, W) the state, the joint state, and the state of each active machine, at the bits of `places_of`; with an account of costs,
    # these are the last word
    key: Integers
    state: Small  # (N,)
    parent: Small  # (N,)
    group: Small  # (N,) the first prefix with the same key, where several are kept
    level: Integers  # (T + 2,)
    slots: Integers  # clock + number of a prefix, 2^n of them; empty below clock + the first of a length
    clock: Integers  # (1,) at least the largest number that earlier calls have left in the slots
    begin: Small  # (N + 1,) where the steps from a prefix begin, in the order of states
    target: Small  # (E,) the prefix that a step leads to
    label: Small  # (E,) the state of that prefix
    worth: Integers  # (E,) the loss of a step, at most 0
    ahead: Integers  # (N,) the least loss from a prefix to the end, FORBIDDEN where no labelling leads there


@subroutine
def no_prefixes(T):
    """A record without room."""
    none, small = np.empty(0, np.int64), np.empty(0, np.int32)
    nodes = none, np.empty((0, 1), np.int64), small, small, small
    level, clock = np.zeros(T + 2, np.int64), np.zeros(1, np.int64)
    return Prefixes(*nodes, level, none, clock, small, small, small, none, none)


@subroutine
def _more(array, size):
    """A larger array that begins with the numbers of this one."""
    larger = np.empty(size, array.dtype)
    for k in range(len(array)):
        larger[k] = array[k]
    return larger


@subroutine
def _more_prefixes(p, more):
    """The same prefixes with at least twice the room, and room for `more`."""
    old, words = p.key.shape
    size = 2 * old + more + ROOM
    key = np.empty((size, words), np.int64)
    for h in range(old):
        for w in range(words):
            key[h, w] = p.key[h, w]
    nodes = _more(p.reach, size), key, _more(p.state, size), _more(p.parent, size), _more(p.group, size)
    begin, ahead = _more(p.begin, size + 1), np.empty(size, np.int64)
    return Prefixes(*nodes, p.level, p.slots, p.clock, begin, p.target, p.label, p.worth, ahead)


@subroutine
def _with_words(p, words):
    """Room for prefixes whose keys have `words` words."""
    if p.key.shape[1] == words:
        return p
    nodes = p.reach, np.empty((len(p.reach), words), np.int64), p.state, p.parent, p.group
    return Prefixes(*nodes, p.level, p.slots, p.clock, p.begin, p.target, p.label, p.worth, p.ahead)


@subroutine
def more_slots(p, least):
    """The same prefixes with at least `least` slots, all empty."""
    size = ROOM
    while size < least:
        size *= 2
    nodes, slots = (p.reach, p.key, p.state, p.parent, p.group), np.zeros(size, np.int64)
    return Prefixes(*nodes, p.level, slots, p.clock, p.begin, p.target, p.label, p.worth, p.ahead)


@subroutine
def _more_steps(p, more):
    """The same graph with at least twice the room for steps, and room for `more`."""
    nodes, size = (p.reach, p.key, p.state, p.parent, p.group), 2 * len(p.target) + more + 4 * ROOM
    steps = _more(p.target, size), _more(p.label, size), _more(p.worth, size)
    return Prefixes(*nodes, p.level, p.slots, p.clock, p.begin, *steps, p.ahead)


@subroutine
def reserve(p, at, more, indexed, graph):
    """The same prefixes with room for the successors of another one."""
    first, count = p.level[at[TOKEN] + 1], at[MADE]
    if count + more > len(p.reach):
        p = _more_prefixes(p, more)
    if graph and at[EDGES] + more > len(p.target):
        p = _more_steps(p, more)
    if not indexed and 2 * (count - first + more) > len(p.slots):
        p = more_slots(p, 4 * (count - first + more))
        for h in range(first, count):
            if p.reach[h] > DEAD:
                place = slot_of(p.slots, p.key, h, first, p.clock[0])
                if p.slots[place] < p.clock[0] + first:
                    p.slots[place] = p.clock[0] + h
    return p


@subroutine
def begin(p, at, total, words):
    """Begin with the empty prefix; the same prefixes, with keys of `words` words."""
    p = _with_words(p, words)
    at[TOKEN], at[NEXT], at[MADE], at[EDGES], at[CUT] = 0, 0, 1, 0, FORBIDDEN
    p.level[0], p.level[1] = 0, 1
    return p


@subroutine
def keep_copies(p, first, count, copies):
    """Keep the best `copies` of prefixes with the same key; of equal ones, the first."""
    worth, number = np.empty(count - first, np.int64), np.zeros(count - first, np.int64)
    for h in range(first, count):
        worth[h - first] = p.reach[h]
    for c in descending(worth, count - first):
        of = p.group[first + c] - first
        number[of] += 1
        if number[of] > copies:
            p.reach[first + c] = FORBIDDEN


@subroutine
def drop_dominated(p, first, count):
    """Drop prefixes where another one with the same states costs no more and has at least the same score without costs."""
    words, size = p.key.shape[1] - 1, 16
    while size < 2 * (count - first):
        size *= 2
    keys, score = np.empty((count - first, words), np.int64), np.empty(count - first, np.int64)
    for h in range(first, count):
        score[h - first] = p.reach[h] + p.key[h, words] if p.reach[h] > DEAD else FORBIDDEN
        for w in range(words):
            keys[h - first, w] = p.key[h, w]
    slots = np.full(size, -1, np.int64)
    for c in descending(score, count - first):
        if p.reach[first + c] <= DEAD:
            continue
        place = slot_of(slots, keys, c, 0, 0)
        cheapest = slots[place]
        if cheapest >= 0 and p.key[first + cheapest, words] <= p.key[first + c, words]:
            p.reach[first + c] = FORBIDDEN
        else:
            slots[place] = c


@subroutine
def narrow(p, first, count, width):
    """Keep the `width` prefixes with the highest reach, of equal ones the first; returns the highest reach that is left out."""
    left, cut = 0, FORBIDDEN
    for h in range(first, count):
        left += p.reach[h] > DEAD
    if left <= width:
        return cut
    threshold, equal = nth_smallest(p.reach, first, count, count - first - width), width
    for h in range(first, count):
        equal -= p.reach[h] > threshold
    for h in range(first, count):
        if p.reach[h] == threshold and equal:
            equal -= 1
        elif p.reach[h] <= threshold:
            cut = max(cut, p.reach[h])
            p.reach[h] = FORBIDDEN
    return cut


@subroutine
def spell(p, end, path):
    """Fill path (T,) with the states of a prefix."""
    for t in range(len(path) - 1, -1, -1):
        path[t] = p.state[end]
        end = p.parent[end]


@kernel
def spell_all(p, ends, paths):
    """Fill paths (n, T) with the states of prefixes (n,)."""
    for k in range(len(ends)):
        spell(p, ends[k], paths[k])
