"""Mixtures of models: their parameters by definition, their files, and what cannot be mixed."""

import json

import numpy as np
import pytest

from ilpinfer.errors import ModelError
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.mixture import Mixture

ONE = [(["a", "b", "a"], ["x", "y", "x"]), (["c", "b"], ["y", "x"])]
OTHER = [(["b", "b", "c"], ["x", "y", "y"]), (["a"], ["y"]), (["a", "c"], ["x", "x"])]
TEXT = ("a", "c", "unseen", "b")


def path_score(model, path):
    return model.trellis(TEXT).score(path)


@pytest.mark.parametrize("kind", [HMM, SecondOrderHMM])
def test_probabilities_are_weighted_means(kind):
    one, other = kind.train(ONE), kind.train(OTHER)
    mixture = Mixture((one, other), (0.25, 0.75))
    path = [0, 1, 1, 0]

    def factors(model):
        """The probabilities along the path, as the model defines them."""
        p, e = model.parameters, model.emissions.scores(TEXT)
        words = [e[t, k] for t, k in enumerate(path)]
        if kind is HMM:
            steps = [p.transitions[a, b] for a, b in zip(path, path[1:])]
            return np.exp([p.start[path[0]], *words, *steps, p.end[path[-1]]])
        before = [0, *(k + 1 for k in path)]
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


def test_mixed_probabilities_are_distributions():
    mixture = Mixture((HMM.train(ONE), HMM.train(OTHER)), (0.3, 0.7))
    scores = mixture.token_scores
    assert np.isclose(np.exp(scores.start).sum(), 1)
    leaving = np.exp(scores.transitions).sum(axis=1) + np.exp(scores.end)
    assert np.allclose(leaving, 1)


@pytest.mark.parametrize("kind", [HMM, SecondOrderHMM, CRF])
def test_a_file_holds_every_part(kind, tmp_path):
    options = {"parameters": {"max_iterations": 5}} if kind is CRF else {}
    mixture = Mixture((kind.train(ONE, **options), kind.train(OTHER, **options)), (0.5, 0.5), "scores")
    mixture.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert np.array_equal(again.trellis(TEXT).lattice.node, mixture.trellis(TEXT).lattice.node)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "m.json"
    Mixture((HMM.train(ONE), HMM.train(OTHER)), (0.5, 0.5)).save(path)
    record = json.loads(path.read_text())
    record["model"]["weights"] = [0.5, 0.6]
    path.write_text(json.dumps(record))
    with pytest.raises(ModelError, match="its content does not fit its digest"):
        load_model(path)
