"""scikit-learn's own checks of estimators.

They pass numeric matrices, which the estimators do not take. So each estimator is wrapped: a row of a matrix is a sequence of
one token, whose features are the numbers of the row, or whose text shows them. All checks run on the wrapped ones, and those
that say how matrices are to be refused are expected to fail. Checks without data run on the estimators as they are, too.
"""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import is_classifier
from sklearn.utils import estimator_checks, get_tags
from sklearn_crfsuite import CRF

from formulations import constraints as C
from ilpinfer.adapters.sklearn import ConstrainedTagger

MATRIX = "says how a matrix is refused; here a row of any kind is made a sequence"
COLUMNS = "sequences have no fixed number of columns, so that there is no n_features_in_"
NOT_OF_SEQUENCES = {
    "check_complex_data": MATRIX,
    "check_estimator_sparse_tag": MATRIX,
    "check_estimator_sparse_array": MATRIX,
    "check_estimator_sparse_matrix": MATRIX,
    "check_fit1d": MATRIX,
    "check_fit2d_predict1d": MATRIX,
    "check_n_features_in": COLUMNS,
    "check_n_features_in_after_fitting": COLUMNS,
    "check_estimators_empty_data_messages": "a token without features is one like any other",
}
WITHOUT_DATA = (
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimators_unfitted",
)


class OfRows:
    """An estimator of matrices: a row is a sequence of one token."""

    def fit(self, X, y=None):
        return super().fit(self.sequences(X), None if y is None else self.labels(y))

    def predict(self, X):
        return np.array([float(label) for (label,) in super().predict(self.sequences(X))])

    def score(self, X, y):
        return super().score(self.sequences(X), self.labels(y))

    def labels(self, y):
        return [[str(label)] for label in np.ravel(y)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class WordsOfRows(OfRows):
    def sequences(self, X):
        return [["_".join(f"{x:.1f}" for x in np.atleast_1d(row))] for row in np.asarray(X)]


class FeaturesOfRows(OfRows):
    def sequences(self, X):
        return [
            [{f"x{i}": float(getattr(x, "real", x)) for i, x in enumerate(np.atleast_1d(row))}]
            for row in np.asarray(X)
        ]


class TokensTagger(WordsOfRows, ConstrainedTagger):
    pass


class FeaturesTagger(FeaturesOfRows, ConstrainedTagger):
    pass


OF_ROWS = [
    TokensTagger((), "hmm"),
    TokensTagger(options={"max_iterations": 10}),
    FeaturesTagger((), CRF(max_iterations=10)),
]
RULES = [C.at_most_runs("name", 1), C.tag_at("year", words=["1843"], penalty=0.5)]
ESTIMATORS = [
    ConstrainedTagger(),
    ConstrainedTagger(RULES, "hmm2", options={"emissions": "additive"}),
    ConstrainedTagger(RULES, CRF(), token="word"),
    ConstrainedTagger((), CRF(), features=list),
]


def check_name(check):
    while hasattr(check, "func"):
        check = check.func
    return check.__name__


def cases():
    """Every check of every estimator; where it is expected to fail, marked with the reason."""
    for estimator in OF_ROWS:
        words = {"check_estimators_nan_inf": "any text is a token"}
        expected = NOT_OF_SEQUENCES | (words if isinstance(estimator, WordsOfRows) else {})
        for number, (one, check) in enumerate(estimator_checks.estimator_checks_generator(estimator)):
            name = check_name(check)
            marks = [pytest.mark.xfail(reason=expected[name])] if name in expected else []
            yield pytest.param(one, check, marks=marks, id=f"{type(one).__name__}-{number}-{name}")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_checks_of_matrices(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", WITHOUT_DATA)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_checks_without_data(estimator, name):
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this release of scikit-learn has no {name}")
    check(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_tags_say_what_is_taken(estimator):
    tags = get_tags(estimator)
    assert tags.target_tags.required and tags.requires_fit
    assert tags.input_tags.string and not tags.input_tags.two_d_array
    assert not is_classifier(estimator)  # its targets would have to be numbers or names, not lists of names
