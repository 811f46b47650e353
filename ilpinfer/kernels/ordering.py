# mypy: allow-untyped-defs
"""Sorting and selection; numpy's functions would take seconds to compile."""

import numpy as np

from ilpinfer.kernels.jit import subroutine


@subroutine
def descending(values, count):
    """The order of the first `count` values, largest first; equal values keep their order (merge sort)."""
    order, merged = np.empty(count, np.int64), np.empty(count, np.int64)
    for n in range(count):
        order[n] = n
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            a, b = begin, middle
            for place in range(begin, end):
                if a < middle and (b == end or values[order[a]] >= values[order[b]]):
                    merged[place] = order[a]
                    a += 1
                else:
                    merged[place] = order[b]
                    b += 1
        order, merged = merged, order
        width *= 2
    return order


@subroutine
def nth_smallest(values, begin, end, n):
    """The value at position n of values[begin:end] in ascending order (quickselect)."""
    rest = np.empty(end - begin, np.int64)
    for k in range(end - begin):
        rest[k] = values[begin + k]
    low, high = 0, len(rest) - 1
    while low < high:
        pivot, i, j = rest[(low + high) // 2], low, high
        while i <= j:
            while rest[i] < pivot:
                i += 1
            while rest[j] > pivot:
                j -= 1
            if i <= j:
                rest[i], rest[j] = rest[j], rest[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            low = high
    return rest[n]
