"""Rules for models of sklearn-crfsuite and python-crfsuite."""

import math
import pickle

import pytest

pytest.importorskip("sklearn")

import pycrfsuite
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn_crfsuite import CRF

import ilpinfer
from formulations import constraints as C
from ilpinfer.adapters.sklearn import ConstrainedTagger, SequenceError
from ilpinfer.corpus.resumes import items
from ilpinfer.models import crf as own
from ilpinfer.models.external import LinearChain, tagger_weights

ITEMS = items(24, seed=5)
TEXTS, Y = [list(item.tokens) for item in ITEMS], [list(item.labels) for item in ITEMS]
BRIEF = C.at_most_tokens("organization", 2)
OPTIONS = {"c2": 0.1, "max_iterations": 15}


def features(tokens):
    return [{"word": token, "capital": token[:1].isupper(), "length": len(token) / 10} for token in tokens]


X = [features(tokens) for tokens in TEXTS]
HELD_OUT = slice(16, 24)


@pytest.fixture(scope="module")
def crf():
    return CRF(**OPTIONS).fit(X[:16], Y[:16])


@pytest.fixture
def path(crf, tmp_path):
    place = tmp_path / "model.crfsuite"
    with open(crf.modelfile.name, "rb") as stream:
        place.write_bytes(stream.read())
    return place


@pytest.fixture(params=["estimator", "frozen", "path", "text"])
def model(request, crf, path):
    files = {"path": path, "text": str(path)}
    return {"estimator": crf, "frozen": FrozenEstimator(crf), **files}[request.param]


def test_without_rules_it_predicts_as_crfsuite_does(crf, model):
    decoder = ConstrainedTagger((), model).fit()
    assert list(decoder.predict(X[HELD_OUT])) == list(crf.predict(X[HELD_OUT]))
    assert decoder.classes_.tolist() == list(crf.classes_)
    mine, theirs = decoder.predict_marginals(X[HELD_OUT]), crf.predict_marginals(X[HELD_OUT])
    for one, other in zip(mine, theirs):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            assert a == pytest.approx(b, abs=1e-3)
    assert decoder.score(X[HELD_OUT], Y[HELD_OUT]) == pytest.approx(crf.score(X[HELD_OUT], Y[HELD_OUT]))


def test_with_rules_it_predicts_as_decode_does(crf, model):
    rules = [BRIEF, C.tag_at("date", words=["Engineer"], penalty=2)]
    decoder = ConstrainedTagger(rules, model, token="word").fit()
    chain = LinearChain.from_estimator(crf, features)
    predicted = decoder.predict(X[HELD_OUT])
    assert sum(map(BRIEF.violations, crf.predict(X[HELD_OUT]))) > 0 == sum(map(BRIEF.violations, predicted))
    solutions, trellises = decoder.decode(X[HELD_OUT]), decoder.trellises(X[HELD_OUT])
    for tokens, labels, solution, trellis in zip(TEXTS[HELD_OUT], predicted, solutions, trellises):
        best = ilpinfer.decode(chain.trellis(tokens), rules)
        assert labels == best.labels == solution.labels
        assert solution.score == pytest.approx(best.score, abs=1e-3) and solution.status == "optimal"
        assert ilpinfer.verify(trellis, rules, solution).proved
        (chances,) = decoder.predict_marginals([features(tokens)])
        assert sum(chances[0].values()) == pytest.approx(1)


@pytest.mark.parametrize("penalty", [math.inf, 2.0])
def test_rules_that_look_at_tokens_need_the_feature_that_is_the_token(model, penalty):
    rules = [C.tag_at("date", words=["Engineer"], penalty=penalty)]
    for ask in ("predict", "predict_marginals", "decode"):
        with pytest.raises(SequenceError, match=r'X\[0\]: .*: it looks at tokens, .*, such as token="word"'):
            getattr(ConstrainedTagger(rules, model).fit(), ask)(X[HELD_OUT])
    assert len(ConstrainedTagger(rules, model, token="word").fit().predict(X[:2])) == 2


def test_fit_fits_a_clone_and_without_data_takes_the_estimator_as_it_is():
    crf = CRF(**OPTIONS)
    tagger = ConstrainedTagger([BRIEF], crf).fit(X[:16], Y[:16])
    assert crf.modelfile.name is None and tagger.model is crf
    fitted = CRF(**OPTIONS).fit(X[:16], Y[:16])
    again = ConstrainedTagger([BRIEF], fitted).fit()
    assert list(tagger.predict(X[HELD_OUT])) == list(again.predict(X[HELD_OUT]))
    with pytest.raises(NotFittedError, match="CRF has no model file"):
        ConstrainedTagger((), crf).fit()


def test_models_that_cannot_be_fitted_stay_as_they_are(crf, path):
    for model in (FrozenEstimator(crf), path):
        for tagger in (ConstrainedTagger((), model).fit(X[:2], Y[:2]), ConstrainedTagger((), model).fit()):
            assert list(tagger.predict(X[HELD_OUT])) == list(crf.predict(X[HELD_OUT]))
        assert clone(tagger).fit().classes_.tolist() == tagger.classes_.tolist()


def test_features_are_made_of_tokens(crf):
    rules = [C.tag_at("date", words=["Engineer"])]
    tagger = ConstrainedTagger(rules, crf, features=features).fit()
    of_items = ConstrainedTagger(rules, crf, token="word").fit()
    assert list(tagger.predict(TEXTS[:16])) == list(of_items.predict(X[:16]))
    assert tagger.predict([["Engineer"]])[0] == ["date"]
    fitted = ConstrainedTagger((), CRF(**OPTIONS), features=features).fit(TEXTS[:16], Y[:16])
    assert list(fitted.predict(TEXTS[HELD_OUT])) == list(crf.predict(X[HELD_OUT]))
    short = ConstrainedTagger((), crf, features=lambda tokens: features(tokens)[:1])
    with pytest.raises(SequenceError, match=r"X\[1\]: features gave 1 item for 2 tokens"):
        short.fit().predict([["a"], ["a", "b"]])
    with pytest.raises(SequenceError, match="labels, but"):
        short.fit(TEXTS[:2], Y[:2])


def test_pickles(crf, path):
    fitted = ConstrainedTagger([BRIEF], CRF(**OPTIONS)).fit(X[:8], Y[:8])
    of_file = ConstrainedTagger("resume", path).fit()
    for tagger in (fitted, of_file):
        again = pickle.loads(pickle.dumps(tagger))
        assert list(again.predict(X[HELD_OUT])) == list(tagger.predict(X[HELD_OUT]))


def test_grid_search_compares_rules_for_one_model(crf):
    grid = {"rules": [[], [C.at_most_tokens("description", 0)], "resume"]}
    search = GridSearchCV(ConstrainedTagger((), FrozenEstimator(crf)), grid, cv=2, error_score="raise")
    search.fit(X[HELD_OUT], Y[HELD_OUT])
    assert search.best_params_["rules"] in ([], "resume")
    assert search.cv_results_["rank_test_score"][1] == 3


def test_names_and_item_sequences_are_features_too():
    names = [[[f"word={token}", f"capital={token[:1].isupper()}"] for token in tokens] for tokens in TEXTS]
    crf = CRF(**OPTIONS).fit(names[:16], Y[:16])
    expected = list(crf.predict(names[HELD_OUT]))
    assert list(ConstrainedTagger((), crf).fit().predict(names[HELD_OUT])) == expected
    sequences = [pycrfsuite.ItemSequence(each) for each in names[HELD_OUT]]
    assert list(ConstrainedTagger((), crf).fit().predict(sequences)) == expected
    sets = [[set(item) for item in each] for each in names[HELD_OUT]]
    assert list(ConstrainedTagger((), crf).fit().predict(sets)) == expected


def test_the_scheme_of_labels_is_read(crf):
    bio = [["B-word" if t % 2 == 0 else "I-word" for t in range(len(x))] for x in X[:4]]
    inner = CRF(max_iterations=5).fit(X[:4], bio)
    assert ConstrainedTagger([C.valid_scheme()], inner).fit().trellises(X[:1])[0].labels.scheme == "bio"
    plain = ConstrainedTagger([C.at_most_tokens("B-word", 0)], inner, scheme="plain").fit()
    assert "B-word" not in plain.predict(X[:1])[0]


def test_weights_of_a_tagger_are_those_of_its_file(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    exact, told = own.CRF.from_crfsuite(path).learnt, tagger_weights(tagger)
    assert told.labels == exact.labels and told.attributes == exact.attributes
    assert told.transitions == pytest.approx(exact.transitions, abs=1e-6)

    def table(weights):
        bounds = zip(weights.begins, weights.begins[1:])
        return {
            (a, int(weights.targets[i])): weights.weights[i]
            for a, (begin, end) in enumerate(bounds)
            for i in range(begin, end)
        }

    assert table(told) == pytest.approx(table(exact), abs=1e-6)
