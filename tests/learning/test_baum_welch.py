"""Soft EM on the pool alone is the algorithm of Baum and Welch: each cycle against sums over every labelling."""

import itertools
import math

import numpy as np

from ilpinfer.learning import CODL
from ilpinfer.models.forward_backward import log_partition

TEXTS = [tuple("abba"), tuple("ab"), tuple("c"), tuple("bbcab")]
PAIRS = [(tuple("aba"), tuple("xyy")), (tuple("bbc"), tuple("yxx"))]
UNSMOOTHED = {"emissions": "none", "transitions": "none"}


def learnt(cycles):
    codl = CODL(gamma=0.0, cycles=cycles, e_step="posterior")
    return codl.fit(PAIRS, TEXTS, options=UNSMOOTHED).model


def parameters(hmm):
    p = hmm.parameters
    return [np.exp(each) for each in (p.start, p.transitions, p.end, hmm.emissions.scores("abc"))]


def step(start, transitions, end, emission):
    """Parameters after a step of expectation-maximisation, from the probabilities of all labellings."""
    new = [np.zeros_like(each) for each in (start, transitions, end, emission)]
    for text in TEXTS:
        words, joint = ["abc".index(word) for word in text], {}
        for y in itertools.product(range(len(start)), repeat=len(text)):
            inner = math.prod(transitions[i, j] for i, j in itertools.pairwise(y))
            joint[y] = start[y[0]] * inner * end[y[-1]] * math.prod(emission[words, y])
        for y, p in joint.items():
            share = p / sum(joint.values())
            new[0][y[0]] += share
            new[2][y[-1]] += share
            np.add.at(new[1], (y[:-1], y[1:]), share)
            np.add.at(new[3], (words, y), share)
    first, steps, last, counts = new
    leaving = steps.sum(axis=1) + last
    return first / len(TEXTS), steps / leaving[:, None], last / leaving, counts / counts.sum(axis=0)


def test_a_cycle_is_that_of_enumeration():
    for cycles in (0, 1, 2):
        expected = step(*parameters(learnt(cycles)))
        for found, one in zip(parameters(learnt(cycles + 1)), expected, strict=True):
            np.testing.assert_allclose(found, one, atol=1e-5)


def test_the_likelihood_of_the_pool_rises():
    values = [sum(log_partition(learnt(cycles).trellis(text)) for text in TEXTS) for cycles in range(6)]
    assert np.all(np.diff(values) > 0.01)
