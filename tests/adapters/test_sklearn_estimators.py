"""Estimators that train a model: against brute force, against `ilpinfer.decode`, and in the tools of scikit-learn."""

import itertools
import math
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted
from sklearn_crfsuite import CRF

import ilpinfer
from formulations import InferenceError, RuleSet, dump_rules, load_rules
from formulations import constraints as C
from ilpinfer.adapters.sklearn import (
    ConstrainedTagger,
    InfeasibleError,
    RelaxedNotice,
    SequenceError,
    span_f1,
)
from ilpinfer.corpus.resumes import items
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.training import train

ITEMS = items(24, seed=3)
X, Y = [item.tokens for item in ITEMS], [item.labels for item in ITEMS]
TRAIN, TEST = slice(0, 16), slice(16, 24)
ONE_TITLE = C.at_most_runs("job title", 1)
ITERATIONS = {"max_iterations": 15, "c2": 0.1}
NAMES = [["Ada", "Lovelace", "1843"], ["Turing", "1936"], ["Notes", "1843"], ["Emmy", "Noether", "1918"]]
KINDS = [["name", "name", "year"], ["name", "year"], ["title", "year"], ["name", "name", "year"]]


def features(tokens):
    return [{"word": token, "capital": token[:1].isupper(), "length": len(token) / 10} for token in tokens]


def of_features(texts):
    return list(map(features, texts))


ESTIMATORS = {
    "hmm": (ConstrainedTagger([ONE_TITLE], "hmm"), X),
    "hmm2": (ConstrainedTagger([ONE_TITLE], "hmm2"), X),
    "crf": (ConstrainedTagger([ONE_TITLE], options=ITERATIONS), X),
    "features": (ConstrainedTagger([ONE_TITLE], CRF(**ITERATIONS)), of_features(X)),
}


@pytest.fixture(params=ESTIMATORS)
def fitted(request):
    estimator, inputs = ESTIMATORS[request.param]
    return clone(estimator).fit(inputs[TRAIN], Y[TRAIN]), inputs


def small(rules, **options):
    return ConstrainedTagger(rules, **{"model": "hmm", **options}).fit(NAMES, KINDS)


def best_by_brute_force(trellis, rules):
    """The best labelling that keeps hard rules, by the plain checkers; and the probabilities of labels."""
    names = trellis.labels.names
    scores = {}
    for labels in itertools.product(names, repeat=len(trellis)):
        broken = [rule.violations(labels, tokens=trellis.tokens) for rule in rules]
        if all(not count or math.isfinite(r.penalty) for r, count in zip(rules, broken, strict=True)):
            cost = sum(r.penalty * count for r, count in zip(rules, broken, strict=True) if count)
            scores[labels] = trellis.score(labels) - cost
    total = sum(map(math.exp, scores.values()))
    chances = [
        {name: sum(math.exp(s) for y, s in scores.items() if y[t] == name) / total for name in names}
        for t in range(len(trellis))
    ]
    return max(scores.values()), chances


@pytest.mark.parametrize("model", ["hmm", "hmm2"])
def test_predictions_and_marginals_agree_with_brute_force(model):
    rules = [
        C.requires_before("name", "year"),
        C.at_most_tokens("title", 1, penalty=1.5),
        C.tag_at("title", words=["Ada"], penalty=0.7),
    ]
    estimator = small(rules, model=model)
    texts = [["1843", "1936", "Ada"], ["Notes"], ["1843", "Notes", "Notes", "Lovelace"], ["Ada", "1918"]]
    predicted = estimator.predict(texts)
    trellises, solutions = estimator.trellises(texts), estimator.decode(texts)
    for text, trellis, labels, solution in zip(texts, trellises, predicted, solutions):
        best, chances = best_by_brute_force(trellis, rules)
        assert solution.status == "optimal" and solution.labels == labels and len(labels) == len(text)
        assert solution.score == pytest.approx(best, abs=1e-4)
        assert ilpinfer.verify(trellis, estimator.decoder_.rules, solution).proved
        if model == "hmm":
            (marginals,) = estimator.predict_marginals([text])
            assert [list(each) for each in marginals] == [estimator.classes_.tolist()] * len(text)
            for mine, theirs in zip(marginals, chances):
                assert mine == pytest.approx(theirs, abs=1e-4)
    if model == "hmm2":
        with pytest.raises(SequenceError, match=r"X\[0\]: marginals need a first-order trellis"):
            estimator.predict_marginals(texts)


def test_rules_change_held_out_predictions(fitted):
    estimator, inputs = fitted
    rule = C.at_most_tokens("organization", 2)
    held = clone(estimator).set_params(rules=[rule]).fit(inputs[TRAIN], Y[TRAIN])
    alone = clone(estimator).set_params(rules=()).fit(inputs[TRAIN], Y[TRAIN])
    broken = [rule.violations(labels) for labels in alone.predict(inputs[TEST])]
    kept = [rule.violations(labels) for labels in held.predict(inputs[TEST])]
    assert sum(broken) > 0 and sum(kept) == 0


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("hmm", {}),
        ("hmm2", {"transitions": "interpolation"}),
        ("hmm", {"by": "suffixes", "lower_case": True}),
        ("crf", {"c2": 0.5, "max_iterations": 5}),
        ("crf", {"template": "resume", "algorithm": "averaged-perceptron", "max_iterations": 3}),
    ],
)
def test_options_reach_the_training(kind, options):
    tagger = ConstrainedTagger((), kind, options=options, scheme="plain").fit(X[:8], Y[:8])
    model = train(kind, list(zip(X[:8], Y[:8])), scheme="plain", **options)
    assert tagger.model_.body() == model.body()
    assert tagger.predict([X[20]])[0] == ilpinfer.decode(model.trellis(X[20])).labels


def test_a_model_of_ilpinfer_stays_as_it_is():
    model = train("hmm", list(zip(X[:8], Y[:8])))
    for tagger in (
        ConstrainedTagger([ONE_TITLE], model).fit(),
        ConstrainedTagger([ONE_TITLE], model).fit(X, Y),
    ):
        assert tagger.model_ is model
        assert tagger.predict([X[20]])[0] == ilpinfer.decode(model.trellis(X[20]), [ONE_TITLE]).labels
    assert clone(tagger).fit().predict([X[20]])[0] == tagger.predict([X[20]])[0]


def test_rules_of_several_files_and_none(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(dump_rules([ONE_TITLE, *load_rules("resume")]), "utf-8")
    forms = path, [str(path)], (), None
    ruled, alike, plain, none = (
        list(ConstrainedTagger(form, "hmm").fit(X[TRAIN], Y[TRAIN]).predict(X[TEST])) for form in forms
    )
    assert ruled == alike != plain == none
    several = ConstrainedTagger(["resume", path], "hmm").fit(X[TRAIN], Y[TRAIN])
    assert len(several.decoder_.rules) == 2 * len(load_rules("resume")) + 1


def test_a_declared_field_may_be_absent():
    rules = RuleSet((C.at_most_runs("salary", 1), ONE_TITLE), ("salary", "job title"))
    estimator = ConstrainedTagger(rules, "hmm").fit(X[TRAIN], Y[TRAIN])
    with pytest.warns(UserWarning, match="salary"):
        assert estimator.predict(X[TEST]).shape == (8,)


IMPOSSIBLE = [
    C.tag_at("year", words=["Ada"], name="Ada is a year"),
    C.at_least_tokens("title", 1, name="a title"),
]


def test_infeasible_sequences():
    texts = [["Turing", "1936"], ["Ada"], ["Emmy", "1918"], ["Ada"]]
    estimator = small(IMPOSSIBLE)
    with pytest.raises(InfeasibleError, match=r"X\[1\]: no labelling keeps the hard rules \(.*on_infeasible"):
        estimator.predict(texts)
    message = r"X\[1\]: .* no probabilities; decode\(X\) gives the reason, and on_inf"
    with pytest.raises(InfeasibleError, match=message):
        estimator.predict_marginals(texts)
    with pytest.raises(InfeasibleError):
        estimator.score(texts, [["name", "year"], ["name"], ["name", "year"], ["year"]])
    solutions = estimator.decode(texts)
    assert [s.status for s in solutions] == ["optimal", "infeasible", "optimal", "infeasible"]

    estimator.set_params(on_infeasible="none")
    predicted = estimator.predict(texts)
    assert [labels is None for labels in predicted] == [False, True, False, True]
    assert [m is None for m in estimator.predict_marginals(texts)] == [False, True, False, True]
    gold = [list(predicted[0]), ["year"], ["title", "title"], ["year"]]
    right = 2 + sum(label == "title" for label in predicted[2])
    assert estimator.score(texts, gold) == right / 6
    assert span_f1(estimator, texts, gold) < 1

    estimator.set_params(on_infeasible="relax")
    with pytest.warns(
        RelaxedNotice, match=r"in 2 predictions, since no labelling keeps them: X\[1\], X\[3\]"
    ):
        relaxed = estimator.predict(texts)
    assert relaxed[1] == list(solutions[1].infeasibility.labels) and relaxed[1] in (["year"], ["title"])
    with pytest.raises(InfeasibleError):
        estimator.predict_marginals(texts)
    assert [s.labels for s in solutions if s.has_labelling] == [relaxed[0], relaxed[2]]


def test_score_is_token_accuracy_and_span_f1_counts_spans(fitted):
    estimator, inputs = fitted
    predicted = estimator.predict(inputs[TEST])
    pairs = [(a, b) for labels, gold in zip(predicted, Y[TEST]) for a, b in zip(labels, gold, strict=True)]
    assert estimator.score(inputs[TEST], Y[TEST]) == np.mean([a == b for a, b in pairs])
    result = evaluate([Pair(x, tuple(p), y) for x, p, y in zip(X[TEST], predicted, Y[TEST])])
    found, gold, right = result.of_all()
    f1 = 2 * right / (found + gold)
    assert 0 < f1 < 1
    assert span_f1(estimator, inputs[TEST], Y[TEST]) == pytest.approx(f1)


def test_span_f1_of_schemes_of_either_side():
    class Predicts:
        def __init__(self, *labels):
            self.labels = labels

        def predict(self, X):
            return list(self.labels)

    gold = [["B-a", "I-a", "B-a", "O"], ["O", "B-b"]]
    exact = Predicts(["B-a", "E-a", "S-a", "O"], ["O", "S-b"])
    assert span_f1(exact, [None] * 2, gold) == 1.0
    half = Predicts(["B-a", "E-a", "O", "O"], None)
    assert span_f1(half, [None] * 2, gold) == 0.5
    assert span_f1(Predicts(None, ["O", "O"]), [None] * 2, gold) == 0.0


@pytest.mark.parametrize(
    "estimator", [ConstrainedTagger((), "hmm"), ConstrainedTagger(options=ITERATIONS)], ids=repr
)
def test_labels_are_predicted_in_the_scheme_that_is_asked_for(estimator):
    bio = [["B-name", "I-name", "O"], ["B-name", "O"], ["O", "O"], ["B-name", "I-name", "O"]]
    inputs = NAMES
    estimator = clone(estimator).set_params(rules=[C.valid_scheme()], scheme="iobes").fit(inputs, bio)
    assert estimator.classes_.tolist() == ["B-name", "E-name", "O", "S-name"]
    predicted = estimator.predict(inputs)
    assert {label for labels in predicted for label in labels} <= set(estimator.classes_)
    two = ["B-name", "E-name", "O"]
    assert list(predicted) == [two, ["S-name", "O"], ["O", "O"], two]
    assert estimator.score(inputs, bio) == span_f1(estimator, inputs, bio) == 1.0


@pytest.mark.parametrize(
    "estimator",
    [
        ConstrainedTagger((), "hmm2"),
        ConstrainedTagger(options={"template": "citations", "max_iterations": 2}),
    ],
    ids=repr,
)
def test_pickles_are_the_same_model(estimator):
    model = clone(estimator).fit(X[:4], Y[:4]).model_
    again = pickle.loads(pickle.dumps(model))
    assert again.body() == model.body()
    assert again.trellis(X[5]) == model.trellis(X[5])


def test_several_labellings_with_proofs(fitted):
    estimator, inputs = fitted
    few = estimator.decode(inputs[TEST], top=3)
    assert [len(each) for each in few] == [3] * 8
    trellises, predicted = estimator.trellises(inputs[TEST]), estimator.predict(inputs[TEST])
    for trellis, solutions, labels in zip(trellises, few, predicted):
        assert solutions[0].labels == labels
        assert solutions[0].score >= solutions[1].score >= solutions[2].score
        assert ilpinfer.verify(trellis, estimator.decoder_.rules, solutions).proved


def test_too_many_states_for_marginals_name_the_sequence():
    rules = [make(field, 200) for make in (C.at_most_tokens, C.at_most_runs) for field in ("name", "year")]
    with pytest.raises(SequenceError, match=r"X\[0\]: labels and rules take more than 4000000 joint states"):
        small(rules).predict_marginals([["Ada"] * 300])


def test_labels_that_training_has_not_seen_are_wrong():
    assert small([]).score([["Ada", "1843"]], [["name", "date"]]) == 0.5


def test_errors_are_of_the_package_and_value_errors():
    with pytest.raises(InferenceError, match="X is the text 'Ada'") as caught:
        small([]).predict("Ada")
    assert isinstance(caught.value, ValueError)


def test_parameters_count_when_they_are_fitted():
    estimator = small([])
    before = list(estimator.predict([["Turing", "1936"]]))
    estimator.set_params(rules=[C.tag_at("title", words=["1936"])])
    assert list(estimator.predict([["Turing", "1936"]])) == before == [["name", "year"]]
    assert estimator.fit(NAMES, KINDS).predict([["Turing", "1936"]])[0][1] == "title"


def test_a_method_with_its_options():
    estimator = small([C.requires_before("name", "year")], method="beam:width=3", time_limit=5)
    (solution,) = estimator.decode([["1843", "1936"]])
    assert solution.method.startswith("beam") and solution.labels == ["name", "year"]


def test_grid_search_finds_the_rules_that_help():
    gold = [[kind, "year"] for kind in ("name", "title", "name", "title", "name", "name")]
    texts = [[f"X{number}", "1843"] for number in range(6)]
    wrong, right = C.tag_at("title", words=["X0", "X4"]), C.tag_at("title", words=["X1", "X3"])
    grid = {"rules": [[wrong], [], [right]], "options": [{"by": "classes"}, {"by": "uniform"}]}
    search = GridSearchCV(ConstrainedTagger((), "hmm"), grid, cv=2, error_score="raise").fit(texts, gold)
    assert search.best_params_["rules"] == [right] and search.best_score_ == 1.0
    assert list(search.predict(texts[:1])) == gold[:1]
    by_spans = GridSearchCV(ConstrainedTagger((), "hmm"), grid, cv=2, error_score="raise", scoring=span_f1)
    assert by_spans.fit(texts, gold).best_score_ == 1.0


def test_grid_search_over_training_and_rules_of_a_crf():
    grid = {"model__c2": np.array([0.1, 10.0]), "rules": ["resume", []]}
    crf = ConstrainedTagger((), CRF(max_iterations=5))
    search = GridSearchCV(crf, grid, cv=2, error_score="raise").fit(of_features(X), Y)
    assert set(search.best_params_) == {"model__c2", "rules"} and len(search.cv_results_["params"]) == 4
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_cross_validation(fitted):
    estimator, inputs = fitted
    scores = cross_val_score(estimator, inputs, Y, cv=2)
    assert scores.shape == (2,) and (scores > 0.3).all()
    assert (cross_val_score(estimator, inputs, Y, cv=2, scoring=span_f1) > 0).all()
    predicted = cross_val_predict(estimator, inputs, Y, cv=2)
    assert [len(labels) for labels in predicted] == list(map(len, X))
    assert all(ONE_TITLE.violations(labels) == 0 for labels in predicted)


def test_sequences_of_equal_length_stay_lists():
    predicted = small([]).predict([["Ada", "1843"], ["Emmy", "1918"]])
    assert predicted.shape == (2,) and isinstance(predicted[0], list)
    assert small([]).predict([]).shape == (0,)


def test_pipelines():
    lower = FunctionTransformer(lambda texts: [[token.lower() for token in text] for text in texts])
    words = Pipeline([("lower", lower), ("hmm", ConstrainedTagger([ONE_TITLE], "hmm"))])
    words.fit(X[TRAIN], Y[TRAIN])
    expected = ConstrainedTagger([ONE_TITLE], "hmm").fit(lower.transform(X[TRAIN]), Y[TRAIN])
    assert list(words.predict(X[TEST])) == list(expected.predict(lower.transform(X[TEST])))
    assert words.score(X[TEST], Y[TEST]) == expected.score(lower.transform(X[TEST]), Y[TEST])
    crf = ConstrainedTagger((), CRF(**ITERATIONS))
    pipeline = Pipeline([("features", FunctionTransformer(of_features)), ("crf", crf)])
    search = GridSearchCV(pipeline, {"crf__rules": [[], [ONE_TITLE]]}, cv=2, error_score="raise")
    assert search.fit(X, Y).best_params_["crf__rules"] in ([], [ONE_TITLE])
    check_is_fitted(search.best_estimator_["crf"])


@pytest.mark.parametrize("model", ["hmm", "crf", CRF(max_iterations=5)], ids=["hmm", "crf", "crfsuite"])
def test_tokens_with_helper_labels_are_left_out(model):
    X = [["<s>", "Ada", "Love", "##lace", "1843"], ["<s>", "Ada", "1936"]]
    y = [["[CLS]", "B-name", "I-name", "X", "B-year"], ["[CLS]", "B-name", "B-year"]]
    own = {} if isinstance(model, str) else {"features": lambda tokens: [{"w": token} for token in tokens]}
    with pytest.warns(UserWarning, match="left out: 3 tokens in 2 sequences"):
        tagger = ConstrainedTagger([C.valid_scheme()], model, never=["X", "[CLS]"], **own).fit(X, y)
    assert set(tagger.classes_) == {"B-name", "I-name", "B-year"}
    assert span_f1(tagger, X, y) == 1.0
    counted = [
        (a, b)
        for one, two in zip(tagger.predict(X), y, strict=True)
        for a, b in zip(one, two, strict=True)
        if "-" in b
    ]
    assert tagger.score(X, y) == sum(a == b for a, b in counted) / len(counted)


@pytest.mark.filterwarnings("ignore:left out")
def test_the_score_of_helper_labels_alone_is_zero():
    tagger = ConstrainedTagger([], "hmm", never=["X"]).fit([["a", "b"]], [["X", "O"]])
    assert (tagger.score([["a"]], [["X"]]), span_f1(tagger, [["a"]], [["X"]])) == (0.0, 0.0)
