"""Selection on folds against fits and scores by hand."""

import numpy as np
import pytest

from ilpinfer.learning.selection import largest, select, tried

FOLDS = [[4, 0], [1, 3], [2]]
VALUES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def fit(power, fold):
    """The mean of a power of the values that are not in a fold."""
    return np.mean([value**power for place, value in enumerate(VALUES) if place not in fold])


def score(mean, fold):
    return [abs(VALUES[place] - mean) for place in fold]


@pytest.mark.parametrize("sign", [1, -1])
def test_each_place_is_scored_by_what_was_fitted_without_its_fold(sign):
    choose = largest(lambda scores: sign * float(scores.sum()))
    selection = select({"one": 1, "two": 2, "same": 2}, fit, score, FOLDS, choose)
    sums = {}
    for name, power in {"one": 1, "two": 2, "same": 2}.items():
        trial = selection.trials[name]
        assert trial.fitted == tuple(fit(power, fold) for fold in FOLDS)
        own = {place: abs(VALUES[place] - fit(power, fold)) for fold in FOLDS for place in fold}
        assert trial.scores.tolist() == [own[place] for place in range(5)]
        sums[name] = sign * sum(own.values())
    assert selection.chosen == max(sums, key=sums.get), "of equal ones the first"


def test_counts_become_measures():
    counts = np.array([[4, 3, 2, 2, 1, 0], [2, 2, 1, 1, 1, 1]])
    selection = select(
        {"a": 0, "b": 1},
        lambda shift, fold: shift,
        lambda shift, fold: counts[fold] - shift,
        [[1], [0]],
        lambda trials: "b",
    )
    one, other = tried(selection.trials, {"b": "worse"})
    assert (one.measures.accuracy, one.measures.f1, one.refused) == (5 / 6, 4 / 6, "")
    assert (other.name, other.refused, selection.chosen) == ("b", "worse", "b")
    assert {*other.to_dict()} == {"name", "accuracy", "f1", "whole", "refused"}
