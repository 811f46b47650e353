"""Mixtures of models: their parameters by definition, their files, and what cannot be mixed."""

import numpy as np
import pytest

from ilpinfer.models.crf import CRF
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.mixture import Mixture

ONE = [(["a", "b", "a"], ["x", "y", "x"]), (["c", "b"], ["y", "x"])]
OTHER = [(["b", "b", "c"], ["x", "y", "y"]), (["a"], ["y"]), (["a", "c"], ["x", "x"])]
TEXT = ("a", "c", "unseen", "b")


def path_score(model, path):
    return model.trellis(TEXT).score(path)


def test_probabilities_of_second_order_are_weighted_means():
    one, other = SecondOrderHMM.train(ONE), SecondOrderHMM.train(OTHER)
    mixture, path = Mixture((one, other), (0.25, 0.75)), [0, 1, 1, 0]
    before = [0, *(k + 1 for k in path)]

    def factors(model):
        """The probabilities along the path, as the model defines them."""
        p, e = model.parameters, model.emissions.scores(TEXT)
        words = [e[t, k] for t, k in enumerate(path)]
        steps = [p.transitions[before[t], path[t], path[t + 1]] for t in range(3)]
        stays = [p.stay[k] for k in path[:-1]]
        return np.exp([p.start[path[0]], *words, *steps, *stays, p.end[path[-1]]])

    expected = np.log(0.25 * factors(one) + 0.75 * factors(other)).sum()
    assert abs(path_score(mixture, path) - expected) < 1e-4


@pytest.mark.parametrize("kind", [HMM, SecondOrderHMM, CRF])
def test_mixed_scores_are_weighted_sums(kind):
    options = {"parameters": {"max_iterations": 5}} if kind is CRF else {}
    one, other = kind.train(ONE, **options), kind.train(OTHER, **options)
    mixture = Mixture((one, other), (0.25, 0.75), "scores")
    for path in ([0, 0, 0, 0], [1, 0, 1, 1]):
        expected = 0.25 * path_score(one, path) + 0.75 * path_score(other, path)
        assert abs(path_score(mixture, path) - expected) < 1e-4
