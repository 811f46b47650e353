"""The study of tuning: held-out sequences, the best trial, and capped gaps."""

from functools import partial

import numpy as np
import pytest

from benchmarks.studies.tuning import trials
from benchmarks.studies.tuning import trials as problems
from benchmarks.study import Sources
from formulations import RuleSet, Trellis
from formulations import constraints as C


@pytest.mark.parametrize("number", [18, 30, 100, 110])
def test_chunks_are_disjoint_and_spread(number):
    chosen = [problems._chosen(number, chunk) for chunk in range(problems.CHUNKS)]
    places = [place for chunk in chosen for place in chunk]
    assert len(set(places)) == len(places) == 18 and max(places) < number
    assert all(chunk[2] - chunk[0] > number // 2 for chunk in chosen)


def test_data_sets_of_missing_corpora_are_left_out(tmp_path):
    assert problems.held_out_names(Sources(tmp_path, "smoke")) == ["generator, 12 tokens, 5 labels"]


def test_the_best_trial_is_the_first_among_equals():
    rows = [{"trial": n, "gap": gap} for n, gap in enumerate((3.0, 0.5, 0.5))]
    assert trials.best(rows)["trial"] == 1


def test_importances_need_enough_trials():
    pytest.importorskip("optuna")
    options = {"population": 30}
    assert trials.importances([{"options": options, "gap": 1.0}] * 19) == {"population": None}


def test_no_labelling_counts_as_the_largest_gap():
    make = partial(Trellis.from_emissions, np.zeros((2, 2)), np.zeros((2, 2)), labels=["a", "b"])
    impossible = RuleSet((C.starts_with("a"), C.starts_with("b")))
    assert trials.gap(problems.Problem(make, impossible, 0.0), 0.01, 0, {}) == trials.CAP
    free = RuleSet((C.starts_with("a", penalty=1.0),))
    assert trials.gap(problems.Problem(make, free, 0.0), 0.05, 0, {}) == pytest.approx(0.0)
