"""Weighted sums of models, against sums over every labelling."""

import itertools

import numpy as np
import pytest

from formulations import Trellis
from ilpinfer.models.combination import Combination, combine
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.smoothing import Smoothing

T, K = 4, 3
NAMES = ["a", "b", "O"]


def factored(seed: int, names=NAMES, tokens=None) -> Trellis:
    rng = np.random.default_rng(seed)
    emissions = rng.normal(size=(T, K))
    emissions[1, 2] = -np.inf
    return Trellis.from_emissions(emissions, rng.normal(size=(K, K)), labels=names, tokens=tokens)


def dense(seed: int, names=NAMES) -> Trellis:
    rng = np.random.default_rng(seed)
    return Trellis(rng.normal(size=K), rng.normal(size=(T - 1, K, K)), names)


def second(seed: int, names=NAMES) -> Trellis:
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(K, K)), rng.normal(size=(T - 2, K, K, K))
    return Trellis.second_order(rng.normal(size=K), *steps, names)


SHUFFLED = ["O", "a", "b"]


@pytest.mark.parametrize(
    "trellises",
    [
        (factored(1), factored(2)),
        (factored(1), factored(2, SHUFFLED)),
        (dense(1), dense(2, SHUFFLED)),
        (factored(1), dense(2), factored(3, SHUFFLED)),
        (second(1), second(2, SHUFFLED)),
    ],
)
def test_every_labelling_has_the_weighted_sum_of_its_scores(trellises):
    weights = [0.3, 1.7, 1.0][: len(trellises)]
    both = combine(trellises, weights)
    assert both.labels == trellises[0].labels
    for labelling in itertools.product(NAMES, repeat=T):
        expected = sum(w * each.score(labelling) for w, each in zip(weights, trellises))
        assert both.score(labelling) == pytest.approx(expected, abs=1e-4)


def test_what_is_the_same_at_every_token_stays_apart():
    assert len(combine([factored(1), factored(2)]).lattice.pool) == 1


@pytest.mark.parametrize("make", [Trellis, lambda s, e, n: Trellis.second_order(s, None, e, n)])
def test_a_single_token(make):
    one = make([0.0, 1.0], [], ["a", "b"])
    assert combine([one, one], [1, 2]).score(["b"]) == 3.0


def test_a_weight_of_0_takes_no_part():
    both, labelling = combine([factored(1), dense(2)], [0, 2]), ["a", "O", "a", "a"]
    assert both.score(labelling) == pytest.approx(2 * dense(2).score(labelling), abs=1e-5)


def test_models_are_combined_too():
    models = [HMM.train([(("a", "1"), ("x", "y"))], transitions=Smoothing("additive", s)) for s in (0.1, 2.0)]
    both = Combination(tuple(models), (0.5, 0.5))
    assert both.labels == models[0].labels
    tokens = ("1", "a")
    mean = np.mean([model.trellis(tokens).score(["y", "x"]) for model in models])
    assert both.trellis(tokens).score(["y", "x"]) == pytest.approx(mean, abs=1e-5)


@pytest.mark.parametrize(
    ("trellises", "weights", "message"),
    [
        ([], None, "nothing to combine"),
        ([dense(1)], [1, 2], "2 weights for 1 models"),
        ([dense(1)], [-1], "weight 0 is -1; expected a number from 0"),
        ([dense(1)], [float("nan")], "weight 0 is nan"),
        ([dense(1), dense(2)], [0, 0], "every weight is 0"),
        ([dense(1), dense(2, ["a", "c", "O"])], None, "model 0 has label 'b', but model 1 has not"),
        ([dense(1), Trellis([0.0, 0.0, 0.0], [], NAMES)], None, "model 0 scores 4 tokens, but model 1 1"),
        ([dense(1), second(1)], None, "model 0 has order 1, but model 1 order 2"),
        (
            [factored(1, tokens=list("wxyz")), factored(1, tokens=list("wxya"))],
            None,
            "token 3 is 'z' for model 0, but 'a' for model 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(trellises, weights, message):
    with pytest.raises(ValueError, match=message):
        combine(trellises, weights)
