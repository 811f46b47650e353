"""Files of models: what was saved comes back the same, and damage is told."""

import json
from pathlib import Path

import pytest

from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.errors import ModelError
from ilpinfer.learning.all_features import AllFeatures
from ilpinfer.learning.updates import Update
from ilpinfer.models.chain import Chain, summed
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM, SecondOrderHMM

ONE = [(["a", "b", "a"], ["x", "y", "x"]), (["c", "b"], ["y", "x"])]
OTHER = [(["b", "b", "c"], ["x", "y", "y"]), (["a"], ["y"]), (["a", "c"], ["x", "x"])]
TEXTS = ["a"], ["a", "c", "unseen", "b"], ["1999", "?"]


def trained(kind, pairs=ONE):
    return kind.train(pairs, **({"parameters": {"max_iterations": 5}} if kind is CRF else {}))


def corrected(kind):
    rules = RuleSet((C.at_most_runs("x", 1, penalty=0.5),))
    task = AllFeatures(ONE + OTHER, trained(kind), rules)
    return task.corrected(Update("perceptron", epochs=2).fit(task, task.places).weights)


MODELS = {
    "hmm": (lambda: trained(HMM), "ilpinfer-hmm", 2),
    "hmm without smoothing": (
        lambda: HMM.train(ONE, emissions="none", transitions="none", ends=False),
        "ilpinfer-hmm",
        2,
    ),
    "hmm of second order": (
        lambda: SecondOrderHMM.train(ONE, vocabulary="shapes", emissions="interpolation"),
        "ilpinfer-hmm2",
        1,
    ),
    "crf": (lambda: trained(CRF), "ilpinfer-crf", 2),
    "hmm without smoothing as a chain": (
        lambda: Chain.of(HMM.train(ONE, emissions="none", transitions="none")),
        "ilpinfer-chain",
        1,
    ),
    "sum of crf": (
        lambda: summed([Chain.of(trained(CRF)), Chain.of(trained(CRF, OTHER))], [0.25, 0.75]),
        "ilpinfer-chain",
        1,
    ),
    "corrected hmm": (lambda: corrected(HMM), "ilpinfer-chain", 1),
    "corrected crf": (lambda: corrected(CRF), "ilpinfer-chain", 1),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_from_its_file_and_damage_is_told(here, name):
    make, *form = MODELS[name]
    model, path = make(), Path("model.json")
    model.save(path)
    assert list(here.iterdir()) == [path.absolute()]
    record = json.loads(path.read_text())
    assert [record["format"], record["version"]] == form
    again = load_model(path)
    assert (type(again), again.labels) == (type(model), model.labels)
    for text in TEXTS:
        assert again.trellis(text) == model.trellis(text)
    again.save("again.json")
    whole = path.read_text()
    assert Path("again.json").read_text() == whole
    record["model"]["changed"] = True
    for damaged, words in ((whole[: len(whole) // 2], "not JSON"), (json.dumps(record), "its digest")):
        path.write_text(damaged)
        with pytest.raises(ModelError, match=rf"model\.json: damaged model, .*{words}"):
            load_model(path)
