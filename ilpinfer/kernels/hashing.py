# mypy: allow-untyped-defs
"""Hash tables of rows of numbers. A slot holds the number of a row, or -1; the number of slots is a power of two."""

import numpy as np

from ilpinfer.kernels.jit import kernel, subroutine


@subroutine
def place(slots, rows, first, row):
    """The slot of the row (W,) equal to rows[row], or the free slot for it; slots number the rows from `first`."""
    hashed = np.uint64(14695981039346656037)
    for k in range(rows.shape[1]):
        hashed = (hashed ^ np.uint64(rows[row, k])) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(32)
    slot = np.int64(hashed & np.uint64(len(slots) - 1))
    while slots[slot] >= 0 and not same(rows, first + slots[slot], row):
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@subroutine
def same(rows, one, other):
    """Whether two rows are equal."""
    k = 0
    while k < rows.shape[1] and rows[one, k] == rows[other, k]:
        k += 1
    return k == rows.shape[1]


@kernel
def enter(slots, rows, first, count):
    """Empty a hash table, and put `count` rows into it."""
    for slot in range(len(slots)):
        slots[slot] = -1
    for row in range(first, first + count):
        slots[place(slots, rows, first, row)] = row - first
