"""Rules for models of sklearn-crfsuite and python-crfsuite."""

import math
import pickle

import pytest

pytest.importorskip("sklearn")

import pycrfsuite
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted
from sklearn_crfsuite import CRF

import ilpinfer
from formulations import constraints as C
from ilpinfer.adapters.sklearn import (
    ConstrainedDecoder,
    InfeasibleError,
    SequenceError,
    span_f1,
)
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


@pytest.fixture
def tagger(path):
    result = pycrfsuite.Tagger()
    result.open(str(path))
    return result


@pytest.fixture(params=["estimator", "frozen", "path", "text", "tagger"])
def model(request, crf, path, tagger):
    files = {"path": path, "text": str(path), "tagger": tagger}
    return {"estimator": crf, "frozen": FrozenEstimator(crf), **files}[request.param]


def test_without_rules_it_predicts_as_crfsuite_does(crf, model):
    decoder = ConstrainedDecoder(model)
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
    decoder = ConstrainedDecoder(model, rules, token="word")
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
            getattr(ConstrainedDecoder(model, rules), ask)(X[HELD_OUT])
    assert len(ConstrainedDecoder(model, rules, token="word").predict(X[:2])) == 2


def test_fit_fits_a_clone():
    crf = CRF(**OPTIONS)
    decoder = ConstrainedDecoder(crf, [BRIEF]).fit(X[:16], Y[:16])
    assert crf.modelfile.name is None and decoder.estimator is crf
    fitted = CRF(**OPTIONS).fit(X[:16], Y[:16])
    assert list(decoder.estimator_.predict(X[HELD_OUT])) == list(fitted.predict(X[HELD_OUT]))
    again = ConstrainedDecoder(decoder.estimator_, [BRIEF])
    assert list(decoder.predict(X[HELD_OUT])) == list(again.predict(X[HELD_OUT]))


def test_models_that_cannot_be_fitted_stay_as_they_are(crf, path, tagger):
    for model in (FrozenEstimator(crf), path, tagger):
        for decoder in (ConstrainedDecoder(model).fit(X[:2], Y[:2]), ConstrainedDecoder(model).fit()):
            assert decoder.estimator_ is model
            assert list(decoder.predict(X[HELD_OUT])) == list(crf.predict(X[HELD_OUT]))


def test_features_are_made_of_tokens(crf):
    decoder = ConstrainedDecoder(crf, [C.tag_at("date", words=["Engineer"])], features=features)
    of_items = ConstrainedDecoder(crf, decoder.rules, token="word")
    assert list(decoder.predict(TEXTS[:16])) == list(of_items.predict(X[:16]))
    assert decoder.predict([["Engineer"]])[0] == ["date"]
    fitted = ConstrainedDecoder(CRF(**OPTIONS), features=features).fit(TEXTS[:16], Y[:16])
    assert list(fitted.predict(TEXTS[HELD_OUT])) == list(crf.predict(X[HELD_OUT]))
    short = ConstrainedDecoder(crf, features=lambda tokens: features(tokens)[1:])
    with pytest.raises(SequenceError, match=r"X\[1\]: features gave 1 item for 2 tokens"):
        ConstrainedDecoder(crf, features=lambda tokens: features(tokens)[:1]).predict([["a"], ["a", "b"]])
    with pytest.raises(SequenceError, match="labels, but"):
        short.set_params(estimator=CRF()).fit(TEXTS[:2], Y[:2])


def test_a_fitted_model_is_read_once_until_it_changes(crf, path, monkeypatch):
    decoder = ConstrainedDecoder(path)
    read = []
    original = own.CRF.from_crfsuite.__func__
    watched = classmethod(lambda cls, *a, **k: read.append(a) or original(cls, *a, **k))
    monkeypatch.setattr(own.CRF, "from_crfsuite", watched)
    first = list(decoder.predict(X[HELD_OUT]))
    assert list(decoder.predict(X[HELD_OUT])) == first and len(read) == 1
    decoder.set_params(rules=[BRIEF])
    assert sum(map(BRIEF.violations, decoder.predict(X[HELD_OUT]))) == 0 and len(read) == 2
    other = CRF(max_iterations=2).fit(X[:4], [["ignore"] * len(y) for y in Y[:4]])
    with open(other.modelfile.name, "rb") as stream:
        path.write_bytes(stream.read())
    decoder.set_params(rules=())
    assert {label for labels in decoder.predict(X[HELD_OUT]) for label in labels} == {"ignore"}


def test_an_estimator_that_is_fitted_again_is_read_again():
    crf = CRF(**OPTIONS).fit(X[:4], Y[:4])
    decoder = ConstrainedDecoder(crf)
    assert list(decoder.predict(X[:2])) == list(crf.predict(X[:2]))
    crf.fit(X[:4], [["ignore"] * len(y) for y in Y[:4]])
    assert set(decoder.predict(X[:2])[0]) == {"ignore"}


def test_what_is_fitted_passes_the_check_of_scikit_learn(model):
    check_is_fitted(ConstrainedDecoder(model))


def test_clones(crf, path, tagger):
    again = clone(ConstrainedDecoder(crf, [BRIEF], token="word"))
    assert again.token == "word" and again.estimator is not crf
    with pytest.raises(NotFittedError):
        again.predict(X)
    assert clone(ConstrainedDecoder(tagger)).estimator is tagger
    assert clone(ConstrainedDecoder(path)).estimator == path
    frozen = FrozenEstimator(crf)
    assert clone(ConstrainedDecoder(frozen)).estimator is frozen


def test_pickles(crf, path, tagger):
    fitted = ConstrainedDecoder(CRF(**OPTIONS), [BRIEF]).fit(X[:8], Y[:8])
    used = ConstrainedDecoder(crf, [BRIEF])
    used.predict(X[:1])
    for decoder in (fitted, used, ConstrainedDecoder(path, "resume")):
        again = pickle.loads(pickle.dumps(decoder))
        assert list(again.predict(X[HELD_OUT])) == list(decoder.predict(X[HELD_OUT]))
    kept = pickle.dumps(ConstrainedDecoder(path).fit())
    path.unlink()
    assert list(pickle.loads(kept).predict(X[HELD_OUT])) == list(crf.predict(X[HELD_OUT]))
    with pytest.raises(TypeError, match="a Tagger cannot be pickled: give ConstrainedDecoder the path"):
        pickle.dumps(ConstrainedDecoder(tagger))


def test_grid_search_compares_rules_for_one_model(crf):
    grid = {"rules": [[], [C.at_most_tokens("description", 0)], "resume"]}
    search = GridSearchCV(ConstrainedDecoder(FrozenEstimator(crf)), grid, cv=2, error_score="raise")
    search.fit(X[HELD_OUT], Y[HELD_OUT])
    assert search.best_params_["rules"] in ([], "resume")
    assert search.cv_results_["rank_test_score"][1] == 3
    inner, grid = ConstrainedDecoder(CRF(max_iterations=5), "resume"), {"estimator__c2": [0.1, 100.0]}
    nested = GridSearchCV(inner, grid, cv=2, scoring=span_f1, error_score="raise")
    assert nested.fit(X, Y).best_params_["estimator__c2"] in (0.1, 100.0)
    assert nested.best_estimator_.estimator_.c2 == nested.best_params_["estimator__c2"]


def test_in_a_pipeline_and_cross_validated():
    make = FunctionTransformer(lambda texts: [features(tokens) for tokens in texts])
    pipeline = Pipeline([("features", make), ("crf", ConstrainedDecoder(CRF(**OPTIONS), [BRIEF]))])
    predicted = cross_val_predict(pipeline, TEXTS, Y, cv=2)
    assert [len(labels) for labels in predicted] == list(map(len, TEXTS))
    assert sum(map(BRIEF.violations, predicted)) == 0


def test_names_and_item_sequences_are_features_too():
    names = [[[f"word={token}", f"capital={token[:1].isupper()}"] for token in tokens] for tokens in TEXTS]
    crf = CRF(**OPTIONS).fit(names[:16], Y[:16])
    expected = list(crf.predict(names[HELD_OUT]))
    assert list(ConstrainedDecoder(crf).predict(names[HELD_OUT])) == expected
    sequences = [pycrfsuite.ItemSequence(each) for each in names[HELD_OUT]]
    assert list(ConstrainedDecoder(crf).predict(sequences)) == expected
    sets = [[set(item) for item in each] for each in names[HELD_OUT]]
    assert list(ConstrainedDecoder(crf).predict(sets)) == expected


def test_the_scheme_of_labels_is_read(crf):
    bio = [["B-word" if t % 2 == 0 else "I-word" for t in range(len(x))] for x in X[:4]]
    inner = CRF(max_iterations=5).fit(X[:4], bio)
    assert ConstrainedDecoder(inner, [C.valid_scheme()]).trellises(X[:1])[0].labels.scheme == "bio"
    plain = ConstrainedDecoder(inner, [C.at_most_tokens("B-word", 0)], scheme="plain")
    assert "B-word" not in plain.predict(X[:1])[0]


def test_infeasible_sequences(crf):
    rules = [C.at_most_tokens(name, 0, name=f"no {name}") for name in crf.classes_]
    decoder = ConstrainedDecoder(crf, rules)
    with pytest.raises(InfeasibleError, match=r"X\[0\]: no labelling keeps the hard rules"):
        decoder.predict(X[:2])
    assert list(decoder.set_params(on_infeasible="none").predict(X[:2])) == [None, None]


def test_weights_of_a_tagger_are_those_of_its_file(path, tagger):
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
