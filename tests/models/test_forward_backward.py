"""Forward and backward sums, posterior decoding and the cutoff, against sums over all labellings."""

import itertools
import math

import numpy as np
import pytest
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.models.forward_backward import cut, log_partition, posterior_labels, posteriors, sums


def enumerated(trellis):
    """Labellings (n, T) and their scores (n,)."""
    T, K = trellis.lattice.shape
    labellings = list(itertools.product(range(K), repeat=T))
    return np.array(labellings), np.array([trellis.score(y) for y in labellings])


LABELS = ["a", "b", "c"]
CASES = [(T, K, order) for T in (1, 2, 3, 5) for K in (1, 2, 3) for order in (1, 2)]


@pytest.mark.parametrize(("T", "K", "order"), CASES)
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sums_are_those_over_all_labellings(T, K, order, forbidden):
    for seed in range(5):
        trellis = random_trellis(seed, T, LABELS[:K], order=order, scale=3.0, forbidden=forbidden)
        y, scores = enumerated(trellis)
        total = np.exp(scores).sum()
        if total == 0:
            assert log_partition(trellis) == -math.inf
            with pytest.raises(ValueError, match="the scores forbid every labelling"):
                posteriors(trellis)
            continue
        assert np.isclose(log_partition(trellis), np.log(total), atol=1e-9)
        p = np.exp(scores) / total
        expected = np.array([[p[y[:, t] == k].sum() for k in range(K)] for t in range(T)])
        assert np.allclose(posteriors(trellis), expected)
        assert posterior_labels(trellis) == [LABELS[k] for k in posteriors(trellis).argmax(axis=1)]
        edges = sums(trellis).edges().reshape(T - 1, trellis.lattice.states // K, K, K).sum(axis=1)
        pairs = [
            [[p[(y[:, t] == i) & (y[:, t + 1] == j)].sum() for j in range(K)] for i in range(K)]
            for t in range(T - 1)
        ]
        assert np.allclose(edges, np.array(pairs).reshape(T - 1, K, K))


def test_they_agree_with_marginals_without_rules():
    trellis = random_trellis(0, 40, list("abcde"), scale=3.0)
    chances = ilpinfer.marginals(trellis)
    assert np.allclose(posteriors(trellis), chances.labels)
    assert np.isclose(log_partition(trellis), chances.log_partition)


@pytest.mark.parametrize("order", [1, 2])
def test_long_sequences_with_scores_far_apart_neither_underflow_nor_overflow(order):
    T, K = 300, 3
    rng = np.random.default_rng(0)
    scores, first = rng.choice([-2000.0, 500.0], (T, K)), np.zeros((K, K)) if order == 2 else None
    trellis = Trellis.from_emissions(scores, np.zeros((K,) * (order + 1)), first=first)
    assert math.isfinite(log_partition(trellis))
    assert np.allclose(posteriors(trellis).sum(axis=1), 1)


@pytest.mark.parametrize(("T", "K", "order"), CASES)
def test_the_cutoff_forbids_what_is_improbable_and_nothing_else(T, K, order):
    trellis = random_trellis(1, T, LABELS[:K], order=order, scale=3.0)
    y, scores = enumerated(trellis)
    p = np.exp(scores) / np.exp(scores).sum()
    whole = cut(trellis, 0.0)
    assert [whole.score(labels) for labels in y] == list(scores)
    delta = 0.15
    label = [[p[y[:, t] == k].sum() for k in range(K)] for t in range(T)]

    def step(t, labels):
        first = max(t - order, 0)
        return p[(y[:, first : t + 1] == labels[first : t + 1]).all(axis=1)].sum()

    without_labels, without_steps = cut(trellis, delta, steps=False), cut(trellis, delta)
    for labels, score in zip(y, scores, strict=True):
        possible = all(label[t][k] >= delta for t, k in enumerate(labels))
        assert without_labels.score(labels) == (score if possible else -math.inf)
        possible &= all(step(t, labels) >= delta for t in range(1, T))
        assert without_steps.score(labels) == (score if possible else -math.inf)


def test_a_cutoff_can_lose_what_rules_need():
    trellis = Trellis.from_emissions(np.log([[0.99, 0.01]] * 3), np.zeros((2, 2)), labels=["a", "b"])
    rules = [C.at_least_tokens("b", 1)]
    assert ilpinfer.decode(trellis, rules).status == "optimal"
    assert ilpinfer.decode(cut(trellis, 0.05), rules).status == "infeasible"
    for delta in (-0.1, 1.5, "0.1", math.nan):
        with pytest.raises(ValueError, match="expected a probability from 0 to 1"):
            cut(trellis, delta)
