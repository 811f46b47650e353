"""How machines read steps: what they read alike is numbered once, by hash tables over rows of numbers."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel


@kernel
def place(table, rows, first, row):  # type: ignore[no-untyped-def]
    """Where in a hash table a row is, or belongs; entries number the rows from `first`."""
    hashed = np.uint64(14695981039346656037)
    for value in row:
        hashed = (hashed ^ np.uint64(value + 2)) * np.uint64(1099511628211)
    slot = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(len(table) - 1))
    while table[slot] >= 0:
        if np.all(rows[first + table[slot]] == row):
            return slot
        slot = (slot + 1) & (len(table) - 1)
    return slot


@kernel
def rehashed(table, rows, first, count):  # type: ignore[no-untyped-def]
    """A hash table of twice the size."""
    larger = np.full(2 * len(table), -1, np.int64)
    for n in range(count):
        larger[place(larger, rows, first, rows[first + n])] = n
    return larger


@kernel
def longer(array, rows):  # type: ignore[no-untyped-def]
    larger = np.empty((rows, array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def number_readings(packed, kinds, K):  # type: ignore[no-untyped-def]
    """Steps that all machines read alike get one number.

    `kinds` (M, N) says which table each machine uses at a token of each kind. Returned are the number of each
    step, (N, K+1, K), the machines' symbols (R, M) of all numbers, and where those of each kind begin, (N+1,).
    """
    M, N = kinds.shape
    number = np.empty((N, K + 1, K), np.int32)
    begin = np.zeros(N + 1, np.int64)
    symbols = np.empty((64, M), np.int16)
    row = np.empty(M, np.int16)
    for kind in range(N):
        first, count = begin[kind], 0
        table = np.full(16, -1, np.int64)
        for i in range(K + 1):
            for j in range(K):
                for m in range(M):
                    row[m] = packed.symbols[kinds[m, kind] + i * packed.stride[m] + j]
                slot = place(table, symbols, first, row)
                n = table[slot]
                if n < 0:
                    n = table[slot] = count
                    if first + count == len(symbols):
                        symbols = longer(symbols, 2 * len(symbols))
                    symbols[first + count] = row
                    count += 1
                    if 2 * count > len(table):
                        table = rehashed(table, symbols, first, count)
                number[kind, i, j] = n
        begin[kind + 1] = first + count
    return number, symbols[: begin[N]], begin


@kernel
def group_rows(number, pool, pairs):  # type: ignore[no-untyped-def]
    """Labels before a step that lead to the same readings get one group, (N, K).

    A second array also tells labels apart by the edges that are possible. `pairs` (2, N) holds edge scores and
    kind of a step.
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


@kernel
def _group(rows, group):  # type: ignore[no-untyped-def]
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


@kernel
def _equal(a, b):  # type: ignore[no-untyped-def]
    j = 0
    while j < len(a) and a[j] == b[j]:
        j += 1
    return j == len(a)
