"""Baum-Welch against expectation-maximisation that adds up over every state sequence."""

import itertools
import math

import numpy as np
import pytest

from ilpinfer.models.forward_backward import log_partition
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.baum_welch import baum_welch

TEXTS = [tuple("abba"), tuple("ab"), tuple("c"), tuple("bbcab")]
PAIRS = [(("a", "b"), ("x", "y")), (("b", "b", "c"), ("y", "y", "x"))]


def slow_step(start, transitions, end, emission, texts):
    """One step of expectation-maximisation by enumeration, and log P(X) before it; probabilities in plain space."""
    K = len(start)
    new = [np.zeros_like(x) for x in (start, transitions, end, emission)]
    total = 0.0
    for text in texts:
        joint = {}
        for y in itertools.product(range(K), repeat=len(text)):
            p = start[y[0]] * end[y[-1]]
            for t, k in enumerate(y):
                p *= emission["abc".index(text[t]), k]
                p *= transitions[y[t - 1], k] if t else 1
            joint[y] = p
        whole = sum(joint.values())
        total += math.log(whole)
        for y, p in joint.items():
            new[0][y[0]] += p / whole
            new[2][y[-1]] += p / whole
            for t, k in enumerate(y):
                new[3]["abc".index(text[t]), k] += p / whole
                if t:
                    new[1][y[t - 1], k] += p / whole
    leaving = new[1].sum(axis=1)
    return new, leaving, total


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("K", [1, 2, 3])
def test_each_step_is_that_of_enumeration(K, ends):
    one = baum_welch(TEXTS, K, seed=3, iterations=1, tolerance=0, ends=ends).hmm
    p = one.parameters
    start, transitions = np.exp(p.start), np.exp(p.transitions)
    end = np.exp(p.end) if ends else np.ones(K)
    emission = np.exp(one.emissions.log_probabilities[:3])
    (first, steps, last, words), leaving, total = slow_step(start, transitions, end, emission, TEXTS)
    leaving = leaving + last if ends else leaving

    fit = baum_welch(TEXTS, K, seed=3, iterations=2, tolerance=0, ends=ends)
    again = fit.hmm.parameters
    assert np.isclose(fit.trace[1], total)
    assert np.allclose(np.exp(again.start), first / len(TEXTS))
    assert np.allclose(np.exp(again.transitions), steps / leaving[:, None])
    assert np.allclose(np.exp(fit.hmm.emissions.log_probabilities[:3]), words / words.sum(axis=0))
    if ends:
        assert np.allclose(np.exp(again.end), last / leaving)
    else:
        assert again.end is None


@pytest.mark.parametrize("start", [3, HMM.train(PAIRS)], ids=["random", "counted"])
def test_the_likelihood_never_falls_and_is_that_of_the_model(start):
    fit = baum_welch(TEXTS, start, iterations=60)
    assert np.all(np.diff(fit.trace) >= -1e-9)
    assert fit.trace[-1] > fit.trace[0] + 0.1
    assert np.isclose(sum(log_partition(fit.hmm.trellis(text)) for text in TEXTS), fit.trace[-1], atol=1e-4)


def test_restarts_keep_the_likeliest_and_repeat():
    seen, options = [], {"restarts": 4, "seed": 1, "iterations": 20}
    fit = baum_welch(TEXTS, ["x", "y"], **options, progress=lambda *step: seen.append(step))
    assert len(fit.restarts) == 4 and len(set(fit.restarts)) == 4
    assert fit.trace[-1] == max(fit.restarts)
    assert {restart for restart, _, _ in seen} == {0, 1, 2, 3}
    assert (np.argmax(fit.restarts), len(fit.trace) - 2, fit.trace[-1]) in seen
    assert fit.hmm.labels.names == ("x", "y")
    again = baum_welch(TEXTS, ["x", "y"], **options)
    assert again.trace == fit.trace
    assert baum_welch(TEXTS, 2, seed=2, iterations=20).trace != fit.trace


def test_it_stops_once_gains_are_small():
    assert baum_welch(TEXTS, 1, iterations=50).converged, "one state is learnt in one step"
    fit = baum_welch(TEXTS, 2, iterations=3, tolerance=0)
    assert not fit.converged and len(fit.trace) == 4


def test_a_counted_start_goes_on_from_its_probabilities_and_keeps_its_labels():
    hmm = HMM.train(PAIRS)
    fit = baum_welch(TEXTS, hmm, iterations=1)
    seen = np.exp(hmm.emissions.scores(["a", "b", "c"]))
    p = hmm.parameters
    own = (np.exp(each) for each in (p.start, p.transitions, p.end))
    _, _, total = slow_step(*own, seen / seen.sum(axis=0), TEXTS)
    assert np.isclose(fit.trace[0], total)
    assert fit.hmm.labels.names == ("x", "y")
    smoothed = baum_welch(TEXTS, hmm, iterations=1, emissions="additive", transitions="interpolation").hmm
    assert math.isfinite(log_partition(smoothed.trellis(["new"])))
    assert log_partition(fit.hmm.trellis(["new"])) == -math.inf
