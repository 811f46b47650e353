"""Selection on folds against fits and scores by hand."""

import numpy as np
import pytest

from ilpinfer.learning import selection
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
    made = select({"one": 1, "two": 2, "same": 2}, fit, score, FOLDS, choose)
    sums = {}
    for name, power in {"one": 1, "two": 2, "same": 2}.items():
        trial = made.trials[name]
        assert trial.fitted == tuple(fit(power, fold) for fold in FOLDS)
        own = {place: abs(VALUES[place] - fit(power, fold)) for fold in FOLDS for place in fold}
        assert trial.scores.tolist() == [own[place] for place in range(5)]
        sums[name] = sign * sum(own.values())
    assert made.chosen == max(sums, key=sums.get), "of equal ones the first"


def test_counts_become_measures():
    counts = np.array([[4, 3, 2, 2, 1, 0], [2, 2, 1, 1, 1, 1]])
    made = select(
        {"a": 0, "b": 1},
        lambda shift, fold: shift,
        lambda shift, fold: counts[fold] - shift,
        [[1], [0]],
        lambda trials: "b",
    )
    one, other = tried(made.trials, {"b": "worse"})
    assert (one.measures.accuracy, one.measures.f1, one.refused) == (5 / 6, 4 / 6, "")
    assert (other.name, other.refused, made.chosen) == ("b", "worse", "b")
    assert {*other.to_dict()} == {"name", "accuracy", "f1", "whole", "refused"}


def test_a_slow_candidate_gets_the_time_that_earlier_ones_have_left(monkeypatch):
    now = [0.0]

    def clock():
        began = now[0]
        return lambda: now[0] - began

    def slow_fit(seconds, fold):
        now[0] += seconds
        return seconds

    monkeypatch.setattr(selection, "_clock", clock)
    each = {"no limit": 20.0, "quick": 1.0, "slow": 5.0, "as slow": 5.0, "slowest": 20.0}
    found = select(each, slow_fit, lambda made, fold: [[0]] * len(fold), FOLDS, lambda trials: "", 10.0)
    assert [len(trial.fitted) for trial in found.trials.values()] == [3, 3, 3, 2, 1]
    assert found.trials["as slow"].stopped == "2 of 3 folds in 12 s"
