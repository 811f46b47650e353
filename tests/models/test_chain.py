"""Chains of scores, and sums of them."""

import itertools
import pickle
from itertools import product

import numpy as np
import pytest
from support.trellises import random_trellis

from formulations import Trellis
from ilpinfer.models.chain import Chain, summed
from ilpinfer.models.combination import Combination, combine
from ilpinfer.models.crf import CRF
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.smoothing import Smoothing
from ilpinfer.models.hmm.vocabulary import LADDERS

ONE = [(["a", "b", "a"], ["x", "y", "x"]), (["c", "b"], ["y", "x"]), (["Ada", "1815"], ["x", "y"])]
OTHER = [(["b", "b", "c"], ["x", "y", "y"]), (["a"], ["y"]), (["a", "c"], ["x", "x"])]
TEXTS = ("a", "c", "Unseen", "b"), ("1999", "?"), ("a b",)
KINDS = {
    **{by: (lambda pairs, by=by: HMM.train(pairs, vocabulary=by)) for by in LADDERS},
    "without smoothing": lambda pairs: HMM.train(
        pairs, vocabulary="uniform", emissions="none", transitions="none"
    ),
    "without ends": lambda pairs: HMM.train(pairs, ends=False),
    "crf": lambda pairs: CRF.train(pairs, parameters={"max_iterations": 5}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_scores_as_the_model_that_fills_it(kind):
    model = KINDS[kind](ONE)
    filled = Chain.of(model)
    for text in TEXTS:
        assert filled.trellis(text) == model.trellis(text)
    assert pickle.loads(pickle.dumps(filled)).trellis(TEXTS[0]) == filled.trellis(TEXTS[0])


@pytest.mark.parametrize("kind", ["crf", "uniform"])
def test_a_sum_of_chains_has_the_weighted_sums_of_their_scores(kind):
    models = [KINDS[kind](pairs) for pairs in (ONE, OTHER)]
    both = summed([Chain.of(model) for model in models], [0.25, 0.75])
    known = [word for word in TEXTS[0] if kind == "crf" or all(word in model.words for model in models)]
    for path in product("xy", repeat=len(known)):
        scores = [model.trellis(known).score(path) for model in models]
        assert both.trellis(known).score(path) == pytest.approx(0.25 * scores[0] + 0.75 * scores[1], abs=1e-4)


def test_chains_of_other_labels_have_no_sum():
    chains = [Chain.of(HMM.train(pairs)) for pairs in (ONE, [(["a"], ["z"])])]
    with pytest.raises(ValueError, match="chains with different labels cannot be added"):
        summed(chains, [0.5, 0.5])


T, K = 4, 3
NAMES = ["a", "b", "O"]


def factored(seed: int, names=NAMES, tokens=None) -> Trellis:
    rng = np.random.default_rng(seed)
    emissions = rng.normal(size=(T, K))
    emissions[1, 2] = -np.inf
    return Trellis.from_emissions(emissions, rng.normal(size=(K, K)), labels=names, tokens=tokens)


SHUFFLED = ["O", "a", "b"]


@pytest.mark.parametrize(
    "trellises",
    [
        (factored(1), factored(2)),
        (factored(1), factored(2, SHUFFLED)),
        (random_trellis(1, T, NAMES), random_trellis(2, T, SHUFFLED)),
        (factored(1), random_trellis(2, T, NAMES), factored(3, SHUFFLED)),
        (random_trellis(1, T, NAMES, order=2), random_trellis(2, T, SHUFFLED, order=2)),
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
    dense, labelling = random_trellis(2, T, NAMES), ["a", "O", "a", "a"]
    both = combine([factored(1), dense], [0, 2])
    assert both.score(labelling) == pytest.approx(2 * dense.score(labelling), abs=1e-5)


def test_models_are_combined_too():
    models = [HMM.train([(("a", "1"), ("x", "y"))], transitions=Smoothing("additive", s)) for s in (0.1, 2.0)]
    both = Combination(tuple(models), (0.5, 0.5))
    assert both.labels == models[0].labels
    tokens = ("1", "a")
    mean = np.mean([model.trellis(tokens).score(["y", "x"]) for model in models])
    assert both.trellis(tokens).score(["y", "x"]) == pytest.approx(mean, abs=1e-5)
