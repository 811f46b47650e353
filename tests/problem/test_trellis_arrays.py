"""Scores of a trellis as arrays: their sum along a labelling is its score."""

import math

import numpy as np
import pytest
from support import oracles

from formulations import Trellis


def _draw(rng, *shape):
    scores = rng.integers(-40, 40, shape) / 8
    scores[rng.random(shape) < 0.1] = -math.inf
    return scores


def _along(table, *ids):
    return sum(table[t, *step] for t, step in enumerate(zip(*ids, strict=True)))


@pytest.mark.parametrize("T", [1, 2, 5])
@pytest.mark.parametrize("K", [1, 3])
def test_arrays_of_first_order(T, K):
    rng = np.random.default_rng(10 * T + K)
    dense = Trellis(_draw(rng, K), _draw(rng, T - 1, K, K))
    factored = Trellis.from_emissions(
        _draw(rng, T, K), _draw(rng, K, K), start=_draw(rng, K), end=_draw(rng, K)
    )
    for trellis in (dense, factored, Trellis.joined([dense, factored])):
        length = len(trellis)
        assert trellis.first is None and trellis.emissions.shape == (length, K)
        assert trellis.edges.shape == trellis.transitions.shape == (length - 1, K, K)
        for y in rng.integers(0, K, (20, length)):
            score = trellis.score(y)
            assert score == trellis.start[y[0]] + _along(trellis.edges, y[:-1], y[1:])
            assert score == _along(trellis.emissions, y) + _along(trellis.transitions, y[:-1], y[1:])


@pytest.mark.parametrize("T", [1, 2, 5])
def test_arrays_of_second_order(T):
    K = 3
    rng = np.random.default_rng(T)
    dense = Trellis.second_order(
        _draw(rng, K), _draw(rng, K, K) if T > 1 else None, _draw(rng, max(T - 2, 0), K, K, K)
    )
    factored = Trellis.from_emissions(_draw(rng, T, K), _draw(rng, K, K, K), first=_draw(rng, K, K))
    for trellis in (dense, factored):
        for path in oracles.labellings(T, K):
            y = np.array(path)
            score = trellis.start[y[0]] + (trellis.first[y[0], y[1]] if T > 1 else 0.0)
            assert trellis.score(y) == score + _along(trellis.edges, y[:-2], y[1:-1], y[2:])
        with pytest.raises(ValueError, match="read start, first and edges"):
            _ = trellis.emissions
        with pytest.raises(ValueError, match="read start, first and edges"):
            _ = trellis.transitions


def test_one_table_of_transitions_is_not_repeated():
    trellis = Trellis.from_emissions(np.zeros((10_000, 100)), np.zeros((100, 100)))
    assert trellis.transitions.shape == (9_999, 100, 100) and trellis.transitions.strides[0] == 0
    assert not trellis.transitions.flags.writeable
