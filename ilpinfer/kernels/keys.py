# mypy: allow-untyped-defs
"""Keys of prefixes: a state, a joint state and the states of machines, some bits of a word for each; and hash tables of keys."""

import numpy as np

from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.tables import STATES

BITS = 62
"""Bits of each word of a key that are used."""
WORD, SHIFT, MASK, PAID_WORD, PAID_BIT = range(5)
"""Rows of `places_of`: the word of a key with a machine's state, the first bit, and the mask; the word, -1 for none, and the bit of a
rule that counts once."""


@subroutine
def slot_of(slots, keys, h, first, clock):
    """The slot of row h of keys (N, W) in an open hash table of the rows from `first` on; a slot below clock + first is free."""
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


@kernel
def enter(slots, rows, first, count):
    """Empty a hash table, and put `count` rows from `first` on into it."""
    for slot in range(len(slots)):
        slots[slot] = -1
    for row in range(first, first + count):
        slots[slot_of(slots, rows, row, first, 0)] = row


@subroutine
def places_of(machines, active, S, Q):
    """Bits of a key for S states, Q joint states, states of the machines in `active` (A,), and marks; the state has the lowest.

    Returns the rows of `WORD`; the place (M,) of each machine in `active`, or -1; first bit of the joint state in the first word, and its
    mask; number of words; bits of the last word.
    """
    where, word, used = np.empty((5, len(active)), np.int64), 0, _bits(S) + _bits(Q)
    place_of = np.full(len(machines.layout), -1)
    for a in range(len(active)):
        place_of[active[a]] = a
        need = _bits(machines.layout[active[a], STATES])
        if used + need > BITS:
            word, used = word + 1, 0
        where[WORD, a], where[SHIFT, a], where[MASK, a] = word, used, (1 << need) - 1
        where[PAID_WORD, a], where[PAID_BIT, a] = -1, 0
        used += need
        mark, known = machines.mark[active[a]], 0
        if mark >= 0:
            while machines.mark[active[known]] != mark:
                known += 1
            if known == a:
                if used + 1 > BITS:
                    word, used = word + 1, 0
                where[PAID_WORD, a], where[PAID_BIT, a] = word, 1 << used
                used += 1
            else:
                where[PAID_WORD, a], where[PAID_BIT, a] = where[PAID_WORD, known], where[PAID_BIT, known]
    return (where, place_of, _bits(S), (1 << _bits(Q)) - 1, word + 1), used


@subroutine
def _bits(values):
    """The number of bits for so many values."""
    bits = 0
    while 1 << bits < values:
        bits += 1
    return bits
