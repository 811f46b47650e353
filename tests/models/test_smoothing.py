"""Smoothing against the textbook's formulas, written out term by term."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ilpinfer.models.hmm.smoothing import AMOUNTS, Smoothing, smooth

COUNTS = hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(0, 5))


@given(COUNTS, st.sampled_from(sorted(AMOUNTS)))
def test_every_method_gives_distributions(counts, method):
    N = counts.shape[1]
    levels = [counts.astype(float), counts.sum(axis=0).astype(float)]
    result = smooth(levels, np.full(N, 1 / N), Smoothing(method))
    assert np.allclose(result.sum(axis=1), 1)
    assert np.all(result >= 0)
    if method != "none":
        assert np.all(result > 0), "nothing is impossible"


COUNT = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
TOTAL = COUNT.sum(axis=0)
UNIFORM = np.full(3, 1 / 3)


def test_maximum_likelihood():
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("none"))
    assert np.allclose(result, [[3 / 4, 1 / 4, 0], UNIFORM, [1 / 4, 1 / 4, 1 / 2]])


def test_additive_adds_to_every_count():
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("additive", 0.5))
    expected = [[(c + 0.5) / (sum(row) + 3 * 0.5) for c in row] for row in COUNT.tolist()]
    assert np.allclose(result, expected)
    usual, one = (smooth([COUNT], UNIFORM, Smoothing("additive", *own)) for own in ((), (1,)))
    assert np.allclose(usual, one)


def test_witten_bell_leans_by_different_outcomes():
    lower = [(c + 4 / 3) / (8 + 4) for c in TOTAL]
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("witten-bell"))
    assert np.allclose(result[0], [(c + 3 * b) / (4 + 3) for c, b in zip(COUNT[0], lower)])
    assert np.allclose(result[1], lower), "a context without an example has what shorter ones say"
    assert np.allclose(result[2], [(c + 4 * b) / (4 + 4) for c, b in zip(COUNT[2], lower)])


def test_absolute_discounting_hands_down_what_it_takes():
    lower = np.array([(c - 0.25 + 0.75 / 3) / 8 for c in TOTAL])
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("absolute-discounting", 0.25))
    assert np.allclose(result[0], (np.array([2.75, 0.75, 0.0]) + 0.5 * lower) / 4)
    assert np.allclose(result[1], lower)
    estimated = smooth([COUNT], UNIFORM, Smoothing("absolute-discounting"))
    once, twice = 3, 1
    D = (once + 0.5) / (once + 2 * twice + 1)
    assert np.allclose(estimated[0], [(3 - D + 2 * D / 3) / 4, (1 - D + 2 * D / 3) / 4, 2 * D / 3 / 4])


def test_deleted_interpolation_votes_with_each_event_left_out():
    votes = [1.0, 1.0, 1.0]
    for row in COUNT:
        for j, c in enumerate(row):
            if c:
                own = (c - 1) / (row.sum() - 1)
                candidates = [own, (TOTAL[j] - 1) / (TOTAL.sum() - 1), 1 / 3]
                votes[candidates.index(max(candidates))] += c
    λ = np.array(votes) / sum(votes)
    result = smooth([COUNT, TOTAL], UNIFORM, Smoothing("interpolation"))
    expected = λ[0] * COUNT[0] / 4 + λ[1] * TOTAL / 8 + λ[2] * UNIFORM
    assert np.allclose(result[0], expected)
    assert np.allclose(result[1], (λ[0] + λ[1]) * TOTAL / 8 + λ[2] * UNIFORM)
