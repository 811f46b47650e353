"""Models of CRFsuite with features that are not those of their training."""

import numpy as np
import pycrfsuite
import pytest

import ilpinfer
from formulations import LabelSet
from ilpinfer.corpus import resumes
from ilpinfer.errors import ModelError
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.attribute_check import FeatureNotice, share
from ilpinfer.models.crf.templates import load_template, template_names
from ilpinfer.models.crf.weights import Weights
from ilpinfer.models.external import LinearChain

ITEMS = list(resumes.items(30, 1))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model file for each of three templates."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("general", "entities", "citations"):
        template = load_template(name)
        trainer = pycrfsuite.Trainer("lbfgs", {"max_iterations": 15}, verbose=False)
        for item in ITEMS[:20]:
            trainer.append(template.features(item.tokens), item.labels)
        trainer.train(str(folder / name))
    return folder


def accuracy(crf):
    right = total = 0
    for item in ITEMS[20:]:
        result = ilpinfer.decode(crf.trellis(item.tokens), method="viterbi").labels
        right += sum(map(str.__eq__, result, item.labels))
        total += len(result)
    return right / total


@pytest.mark.parametrize("name", ["general", "entities", "citations"])
def test_the_template_of_training_makes_every_attribute(files, name):
    crf = CRF.from_crfsuite(files / name, name)
    shares = {each: share(crf.learnt.attributes, load_template(each)) for each in template_names()}
    assert shares[name] == 1
    assert max(shares, key=lambda each: shares[each]) == name


def test_a_template_that_makes_little_is_an_error_that_names_the_best(files):
    with pytest.raises(ModelError) as caught:
        CRF.from_crfsuite(files / "citations", "general")
    said = str(caught.value)
    assert 'citations: template "general" makes ' in said and "attributes, and none such as" in said
    assert said.endswith('; template="citations" makes 100 %')
    with pytest.raises(ModelError, match=r"the template makes 0 % .*template=.general. makes 100 %"):
        CRF.from_crfsuite(files / "general", {"features": ["position"]})


def test_a_template_that_makes_some_is_a_notice_and_costs_accuracy(files):
    with pytest.warns(
        FeatureNotice, match='template "general" makes [5-9][0-9] % .*template="entities" makes 100 %'
    ) as result:
        some = CRF.from_crfsuite(files / "entities", "general")
    assert result[0].filename == __file__
    assert accuracy(some) < accuracy(CRF.from_crfsuite(files / "entities", "entities"))


def test_a_model_of_no_shipped_template_asks_for_its_own(tmp_path):
    path = tmp_path / "own"
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([["w=Ada & Co", "w[0]=x"], ["w=R=D"]], ["a", "b"])
    trainer.train(str(path))
    message = r"makes 0 % of the model's 3 attributes.*give the template that it was trained with"
    with pytest.raises(ModelError, match=message):
        CRF.from_crfsuite(path, "general")
    own = CRF.from_crfsuite(path)
    own.trellis_of([["w=R=D", "new"], ["new"]])
    with pytest.warns(
        FeatureNotice, match="knows none of the features of this sequence, such as 'word=Ada'; .*such as 'w="
    ):
        own.trellis_of([["word=Ada"], ["word=x"]])
    with pytest.warns(FeatureNotice, match="knows none of the features of this sequence, such as 'word:Ada'"):
        own.trellis_of([{"word": "Ada"}])
    own.trellis_of([[], []])


def test_values_may_hold_separators(files, tmp_path):
    template = load_template({"features": ["word", "word & word[1]"]})
    names = {name for names in template.features(["R & D", "a=b", "x"]) for name in names}
    assert share(sorted(names - {"word[0]=R & D & word[1]=a=b"}), template) == 1


def test_a_chain_of_others_says_that_features_are_unknown():
    one = Weights(("x",), ("w=a",), np.array([0, 1]), np.array([0]), np.array([1.0]), np.array([[0.0]]))
    model = LinearChain(CRF(LabelSet(("x",)), one), lambda tokens: [{f"word={t}": 1.0} for t in tokens])
    with pytest.warns(
        FeatureNotice, match="none of the features of this sequence, such as 'word=a'; .* such as 'w=a'"
    ):
        model.trellis(["a"])
