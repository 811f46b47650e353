"""Rows for branching: counts of labels in stretches of tokens, and combinations of sums with a divisor.

A combination of sums with coefficients that have a divisor is a multiple of a row with smaller ones; where the sides
leave it no multiple of the divisor, both cases of the row are impossible at once (zero-half cuts: Caprara and Fischetti
1996, with any divisor).
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from formulations.automata.sums import Sum
from formulations.dtypes import Booleans, Integers

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Tokens and labels that count one."""

MOST_COMBINED = 6
"""Sums, all combinations of which are tried; of more, pairs and those that are even."""


def stretches(length: int) -> Iterator[list[range]]:
    """All tokens, their halves, quarters and so on, down to single tokens."""
    ranges = [range(length)]
    while ranges:
        yield ranges
        halves = [(each[: len(each) // 2], each[len(each) // 2 :]) for each in ranges if len(each) > 1]
        ranges = [half for pair in halves for half in pair]


def combined_rows(sums: Sequence[Sum]) -> list[Row]:
    """The rows whose multiples are combinations of sums over tokens, those with the largest divisors first."""
    flat = [each for each in sums if each.steps.values.shape[1] == 1]
    if not flat:
        return []
    places, index = np.unique(np.stack([each.steps.index for each in flat]), axis=1, return_inverse=True)
    index = index.reshape(-1)
    weights = np.stack(
        [each.steps.values[at, 0] for each, at in zip(flat, places, strict=True)]
    )  # (R, classes of tokens, K)
    result: dict[Row, int] = {}
    for factors in _factors(weights):
        some = np.flatnonzero(factors)
        total = np.tensordot(factors[some], weights[some], 1)
        total -= total.min(axis=1, keepdims=True)
        divisor = int(np.gcd.reduce(total, axis=None))
        if divisor and total.max() == divisor:
            row = _row(total > 0, index)
            if row is not None:
                result[row] = max(divisor, result.get(row, 0))
    return sorted(result, key=lambda row: (-result[row], row))


def _factors(weights: Integers) -> Iterator[Integers]:
    """Factors (R,) of combinations."""
    R = len(weights)
    if R <= MOST_COMBINED:
        yield from (
            np.array(f) for f in product((-1, 0, 1), repeat=R) if any(f) and next(filter(None, f)) > 0
        )
        return
    unit = np.eye(R, dtype=np.int64)
    yield from unit
    for r in range(R):
        for s in range(r):
            yield unit[r] + unit[s]
            yield unit[r] - unit[s]
    yield from _even(weights)


def _even(weights: Integers) -> Iterator[Integers]:
    """A basis of the factors 0 and 1 whose combinations are even but for a constant at each token."""
    R = len(weights)
    odd = (weights - weights[:, :, :1]).reshape(R, -1) % 2
    rows = np.hstack([odd, np.eye(R, dtype=np.int64)])
    done = 0
    for column in range(odd.shape[1]):
        ones = done + np.flatnonzero(rows[done:, column])
        if not len(ones):
            continue
        rows[[done, ones[0]]] = rows[[ones[0], done]]
        others = np.flatnonzero(rows[:, column])
        others = others[others != done]
        rows[others] = (rows[others] + rows[done]) % 2
        done += 1
    yield from rows[done:, odd.shape[1] :]


def _row(ones: Booleans, index: Integers) -> Row | None:
    """The row with these ones (classes of tokens, K), if they are the same labels at each token that has any."""
    labels, tokens = np.logical_or.reduce(ones, axis=0), np.logical_or.reduce(ones, axis=1)
    if not (ones == (tokens[:, None] & labels)).all():
        return None
    return tuple(np.flatnonzero(tokens[index]).tolist()), tuple(np.flatnonzero(labels).tolist())
