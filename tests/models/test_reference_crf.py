"""The conditional random field of the book: by enumeration, finite differences and convergence."""

import itertools

import numpy as np
import pytest
from support import crf_by_the_book as book


def instance(seed, lengths=(4, 1, 3), features=3, labels=3):
    random = np.random.default_rng(seed)
    samples = [
        (random.integers(0, 2, (T, features)).astype(float), random.integers(0, labels, T)) for T in lengths
    ]
    parameters = book.Parameters(random.normal(size=(labels, labels)), random.normal(size=(features, labels)))
    return parameters, samples


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_and_expected_counts_by_enumeration(seed):
    parameters, samples = instance(seed)
    for x, _ in samples:
        weights = {}
        for y in itertools.product(range(3), repeat=len(x)):
            score = sum(x[t] @ parameters.vertices[:, k] for t, k in enumerate(y))
            weights[y] = np.exp(score + sum(parameters.edges[i, j] for i, j in itertools.pairwise(y)))
        Z = sum(weights.values())
        assert book.partition(book.matrices(parameters, x)) == pytest.approx(Z)
        total = book.Parameters.zero(3, 3)
        for y, weight in weights.items():
            assert book.probability(parameters, x, np.array(y)) == pytest.approx(weight / Z)
            total = total + book.counted(parameters, x, np.array(y)).scaled(weight / Z)
        assert np.allclose(book.expected(parameters, x).flat(), total.flat())


@pytest.mark.parametrize("variance", [np.inf, 0.7])
def test_the_gradient_is_that_of_finite_differences(variance):
    parameters, samples = instance(7)
    result, flat, step = book.gradient(parameters, samples, variance).flat(), parameters.flat(), 1e-6
    for i in range(len(flat)):
        ends = []
        for sign in (1, -1):
            moved = flat.copy()
            moved[i] += sign * step
            ends.append(book.likelihood(parameters.shaped(moved), samples, variance))
        assert result[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)


def test_iterative_scaling_never_gets_worse_and_comes_near_the_maximum():
    _, samples = instance(3, lengths=(5, 4, 6, 3, 5, 4))
    start, seen = book.Parameters.zero(3, 3), []
    result = book.scaled_iteratively(start, samples, 300, seen.append)
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(seen))
    best = book.maximised(start, samples, variance=1e6)
    shown = sum((book.counted(start, x, y) for x, y in samples), start).flat() > 0
    assert shown.all(), "every weight has a best value"
    assert book.likelihood(result, samples) == pytest.approx(book.likelihood(best, samples), abs=0.05)
