"""Forward and backward sums, posterior decoding and the cutoff, against sums over all labellings."""

import itertools
import math

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.models.forward_backward import cut, log_partition, posterior_labels, posteriors, sums
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.smoothing import Smoothing


def random_trellis(T, K, order, seed, forbidden=0.0):
    rng = np.random.default_rng(seed)

    def scores(*shape):
        return np.where(rng.random(shape) < forbidden, -np.inf, rng.normal(scale=3, size=shape))

    if order == 1:
        return Trellis(scores(K), scores(T - 1, K, K))
    return Trellis.second_order(scores(K), scores(K, K) if T > 1 else None, scores(max(T - 2, 0), K, K, K))


def enumerated(trellis):
    """Labellings (n, T) and their scores (n,)."""
    T, K = trellis.lattice.shape
    labellings = list(itertools.product(range(K), repeat=T))
    return np.array(labellings), np.array([trellis.score(y) for y in labellings])


CASES = [(T, K, order) for T in (1, 2, 3, 5) for K in (1, 2, 3) for order in (1, 2)]


@pytest.mark.parametrize(("T", "K", "order"), CASES)
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_sums_are_those_over_all_labellings(T, K, order, forbidden):
    for seed in range(5):
        trellis = random_trellis(T, K, order, seed, forbidden)
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
        assert posterior_labels(trellis) == [str(k) for k in posteriors(trellis).argmax(axis=1)]
        edges = sums(trellis).edges().reshape(T - 1, trellis.lattice.states // K, K, K).sum(axis=1)
        pairs = [
            [[p[(y[:, t] == i) & (y[:, t + 1] == j)].sum() for j in range(K)] for i in range(K)]
            for t in range(T - 1)
        ]
        assert np.allclose(edges, np.array(pairs).reshape(T - 1, K, K))


def test_they_agree_with_marginals_without_rules():
    trellis = random_trellis(40, 5, 1, 0)
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


def test_posterior_labels_are_not_the_best_labelling():
    """0.4 for one labelling that starts with b, 0.6 for two that start with a."""
    edges = np.log([[[0.3 / 0.6, 0.3 / 0.6], [1.0, 1e-12]]])
    trellis = Trellis(np.log([0.6, 0.4]), edges, labels=["a", "b"])
    assert ilpinfer.decode(trellis).labels == ["b", "a"]
    assert posterior_labels(trellis) == ["a", "a"]


@pytest.mark.parametrize(("T", "K", "order"), CASES)
def test_the_cutoff_forbids_what_is_improbable_and_nothing_else(T, K, order):
    trellis = random_trellis(T, K, order, 1)
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


def test_label_bias():
    """The words of Stokman 2011, section 3.1.4: rib is 1 1 1 and rob is 2 2 2, and no step leads from 1 to 2.

    Where scores are normalised at each step, given the token, the second letter cannot move what the first one has
    decided: the more frequent word always wins. A hidden Markov model has P(letter | label) in its scores, and so
    tells them apart; of a letter that says nothing, the frequency decides.
    """
    words = [(("r", "i", "b"), ("1", "1", "1"))] * 2 + [(("r", "o", "b"), ("2", "2", "2"))] * 3
    hmm = HMM.train(words, emissions=Smoothing("additive", 1e-3), transitions="none")
    transitions = np.exp(hmm.parameters.transitions)
    assert transitions[0, 1] == transitions[1, 0] == 0
    assert np.allclose(posteriors(hmm.trellis(["r"])), [[0.4, 0.6]], atol=1e-3), "r says nothing"
    assert ilpinfer.decode(hmm.trellis(["r", "i", "b"])).labels == ["1"] * 3
    assert ilpinfer.decode(hmm.trellis(["r", "o", "b"])).labels == ["2"] * 3
    assert ilpinfer.decode(hmm.trellis(["r", "u", "b"])).labels == ["2"] * 3

    by_step = transitions / transitions.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        edges = np.log(np.stack([by_step, by_step]))
    for word in ("rib", "rob"):
        biased = Trellis(np.log([0.4, 0.6]), edges, labels=["1", "2"], tokens=list(word))
        assert np.allclose(posteriors(biased), [[0.4, 0.6]] * 3)
        assert ilpinfer.decode(biased).labels == ["2"] * 3
