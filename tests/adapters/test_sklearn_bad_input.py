"""Bad input: one message that names the place, the value, and the way out."""

import math

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.exceptions import NotFittedError
from sklearn_crfsuite import CRF

from formulations import InferenceError
from formulations import constraints as C
from ilpinfer.adapters.sklearn import ConstrainedCRF, ConstrainedDecoder, ConstrainedHMM, SequenceError

WORDS = [["Ada", "1815"], ["Alan", "1912"]]
ITEMS = [[{"word": word} for word in text] for text in WORDS]
LABELS = [["name", "year"], ["name", "year"]]
OF_WORDS = {"hmm": ConstrainedHMM(), "crf": ConstrainedCRF(max_iterations=3)}
OF_ITEMS = {
    "crf": ConstrainedCRF(template=None, max_iterations=3),
    "decoder": ConstrainedDecoder(CRF(max_iterations=3)),
}


@pytest.fixture(params=OF_WORDS)
def of_words(request):
    return OF_WORDS[request.param]


@pytest.fixture(params=OF_ITEMS)
def of_items(request):
    return OF_ITEMS[request.param]


def both_refuse(estimator, X, known, message):
    """`fit` and `predict` refuse the same sequences."""
    with pytest.raises(SequenceError, match=message):
        estimator.fit(X, LABELS)
    with pytest.raises(SequenceError, match=message):
        estimator.fit(known, LABELS).predict(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("Ada Lovelace", "X is the text 'Ada Lovelace'; expected a list of sequences"),
        (None, "X is None; expected a list of sequences"),
        (3, "X is 3; expected a list of sequences"),
        ({"a": 1}, "X is {a = 1}; expected a list of sequences"),
        (["Ada", "Alan"], r"X\[0\] is the text 'Ada'; expected a list of tokens"),
        ([["Ada", "1815"], "Alan"], r"X\[1\] is the text 'Alan'; expected a list of tokens"),
        ([["Ada", "1815"], None], r"X\[1\] is None; expected a list of tokens"),
        ([["Ada", "1815"], []], r"X\[1\] is empty: leave it out, and its labels"),
        ([["Ada", "1815"], ["Alan", 1912]], r"X\[1\]\[1\] is 1912; expected a text"),
        ([["Ada", None], ["Alan", "1912"]], r"X\[0\]\[1\] is None; expected a text"),
        (np.zeros((2, 2)), r"X\[0\]\[0\] is .*0.0.*; expected a text"),
    ],
)
def test_sequences_of_tokens(of_words, X, message):
    both_refuse(of_words, X, WORDS, message)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("Ada", "X is the text 'Ada'; expected a list of sequences of features"),
        (WORDS, r"X\[0\]\[0\] is 'Ada'; expected a dict of features, or a list of their names"),
        ([ITEMS[0], []], r"X\[1\] is empty"),
        ([ITEMS[0], {"word": "Ada"}], r"X\[1\] is {word = 'Ada'}; expected a list of dicts of features"),
        ([ITEMS[0], [{"word": "a"}, None]], r"X\[1\]\[1\] is None; expected a dict of features"),
        (
            [ITEMS[0], [{"word": "a"}, {"size": math.nan}]],
            r"X\[1\]\[1\]\['size'\] is NaN; expected a finite number",
        ),
        (
            [ITEMS[0], [{"word": "a"}, {"size": -math.inf}]],
            r"X\[1\]\[1\]\['size'\] is -inf; expected a finite",
        ),
        ([[{"size": np.float32("nan")}] * 2, ITEMS[1]], r"X\[0\]\[0\]\['size'\] is NaN"),
        ([[{"in": {"size": math.nan}}] * 2, ITEMS[1]], r"X\[0\]\[0\]\['in'\]\['size'\] is NaN"),
        ([[{"word": None}] * 2, ITEMS[1]], r"X\[0\]\[0\]\['word'\] is None; expected a number, a text, true"),
        ([[{3: 1.0}] * 2, ITEMS[1]], r"X\[0\]\[0\] has the feature 3; expected a text"),
        ([[["a", 3]] * 2, ITEMS[1]], r"X\[0\]\[0\] has the feature 3; expected a text"),
    ],
)
def test_sequences_of_features(of_items, X, message):
    both_refuse(of_items, X, ITEMS, message)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ("name", "y is the text 'name'; expected a list of sequences of labels"),
        (LABELS[:1], "X has 2 sequences and y has 1; expected as many of each"),
        ([*LABELS, ["name"]], "X has 2 sequences and y has 3"),
        ([["name", "year"], ["name"]], r"y\[1\] has 1 label, but X\[1\] has 2 tokens"),
        ([["name", "year"], "name"], r"y\[1\] is the text 'name'; expected a list of labels"),
        ([["name", "year"], ["name", 3]], r"y\[1\]\[1\] is 3; expected the name of a label"),
        ([["name", "year"], ["name", ""]], r"y\[1\]\[1\] is ''; expected the name of a label"),
        (np.zeros((2, 2)), r"y\[0\]\[0\] is .*; expected the name of a label"),
    ],
)
def test_labels(y, message):
    for estimator, X in [*((e, WORDS) for e in OF_WORDS.values()), *((e, ITEMS) for e in OF_ITEMS.values())]:
        with pytest.raises(SequenceError, match=message):
            estimator.fit(X, y)
        with pytest.raises(SequenceError, match=message):
            estimator.fit(X, LABELS).score(X, y)


def test_nothing_to_fit_or_score():
    for estimator in (*OF_WORDS.values(), *OF_ITEMS.values()):
        with pytest.raises(ValueError, match="no sequences to train on"):
            estimator.fit([], [])
    with pytest.raises(ValueError, match="X has no sequences to score"):
        ConstrainedHMM().fit(WORDS, LABELS).score([], [])


def test_features_in_place_of_tokens():
    message = r"X\[0\]\[0\] is {word = 'Ada'}; expected a text; template=None takes features"
    both_refuse(ConstrainedCRF(max_iterations=3), ITEMS, WORDS, message)


def test_labels_that_training_has_not_seen_are_wrong():
    estimator = ConstrainedHMM().fit(WORDS, LABELS)
    assert estimator.score(WORDS, [["name", "date"], ["person", "year"]]) == 0.5


def test_mixed_schemes_and_unknown_ones():
    for estimator, X in ((ConstrainedHMM(), WORDS), (ConstrainedCRF(template=None), ITEMS)):
        with pytest.raises(ValueError, match="scheme"):
            estimator.fit(X, [["B-name", "year"], ["B-name", "O"]])
        with pytest.raises(ValueError, match="no scheme 'bio3'"):
            type(estimator)(**{**estimator.get_params(), "scheme": "bio3"}).fit(X, LABELS)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (ConstrainedHMM(order=3), "order is 3; expected 1 or 2"),
        (ConstrainedHMM(order="first"), "order is 'first'; expected 1 or 2"),
        (ConstrainedHMM(emissions="laplace"), 'no smoothing "laplace"'),
        (ConstrainedHMM(by="shape"), 'no classes of words "shape"; did you mean "shapes"'),
        (ConstrainedHMM(lower_case="yes"), "lower_case is 'yes'; expected true or false"),
        (ConstrainedHMM(method="astar"), 'no method "astar"'),
        (ConstrainedHMM(time_limit=-1), "time_limit is -1; expected seconds above 0"),
        (
            ConstrainedHMM(on_infeasible="ignore"),
            "on_infeasible is 'ignore'; expected 'raise', 'relax', 'none'",
        ),
        (ConstrainedHMM(on_infeasible=None), "on_infeasible is None"),
        (ConstrainedCRF(template="citation"), 'did you mean "citations"'),
        (ConstrainedCRF(template={"features": ["wrd"]}), 'no attribute "wrd"'),
        (ConstrainedCRF(algorithm="sgd"), 'no algorithm "sgd"'),
        (ConstrainedCRF(c1=-1.0), "lbfgs: c1 is -1.0"),
        (ConstrainedCRF(c2="much"), "lbfgs: c2 is 'much'"),
        (ConstrainedCRF(algorithm="l2sgd", c1=1.0), 'l2sgd has no parameter "c1"'),
        (ConstrainedCRF(parameters={"epsilom": 1.0}), 'did you mean "epsilon"'),
        (ConstrainedCRF(parameters={"c1": 1.0}, c1=0.5), "c1 is given twice"),
        (ConstrainedCRF(parameters={"template": "general"}), 'no parameter "template"'),
        (ConstrainedCRF(parameters=3), "parameters is 3; expected a dict"),
        (ConstrainedCRF(token="word"), "give template=None, or leave token out"),
    ],
    ids=repr,
)
def test_parameters(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(WORDS, LABELS)


def test_on_infeasible_is_checked_before_predictions():
    estimator = ConstrainedHMM().fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="on_infeasible is 'ignore'"):
        estimator.set_params(on_infeasible="ignore").predict(WORDS)


def test_errors_are_of_the_package_and_value_errors():
    with pytest.raises(InferenceError) as caught:
        ConstrainedHMM().fit("Ada", LABELS)
    assert isinstance(caught.value, ValueError) and "\n" not in str(caught.value)


def test_too_many_states_for_marginals_name_the_sequence():
    rules = [make(field, 200) for make in (C.at_most_tokens, C.at_most_runs) for field in ("name", "year")]
    texts = [["Ada"] * 300]
    estimator = ConstrainedHMM(rules).fit(WORDS, LABELS)
    with pytest.raises(SequenceError, match=r"X\[0\]: ") as caught:
        estimator.predict_marginals(texts)
    assert type(caught.value.__cause__).__name__ == "TooManyStates"


@pytest.mark.parametrize("method", ["predict", "predict_marginals", "decode", "trellises"])
@pytest.mark.parametrize(
    "estimator", [ConstrainedHMM(), ConstrainedCRF(), ConstrainedDecoder(CRF())], ids=repr
)
def test_estimators_that_are_not_fitted(estimator, method):
    with pytest.raises(NotFittedError):
        getattr(estimator, method)(WORDS)
    assert not hasattr(estimator, "classes_")
