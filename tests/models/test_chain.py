"""Log-linear chains: filled by HMMs and CRFs, and weighted sums, against scores of their parts."""

import pickle
from itertools import product

import pytest

from ilpinfer.models.chain import Chain, summed
from ilpinfer.models.crf import CRF
from ilpinfer.models.hmm import HMM
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
