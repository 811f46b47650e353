"""Evaluations that are written as rows and read again, for studies whose reports are made from rows alone."""

import json

import numpy as np
import pytest

from benchmarks.data.evaluations import (
    evaluation_of,
    gains,
    interval,
    measures,
    row_of,
    span_measures,
)
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.evaluation.significance import Difference

GOLD = ("B-a", "O", "B-b")


@pytest.fixture
def rows():
    """Two shuffles of two sections: places 1 and 0, then 0 and 1."""
    one, other = (
        evaluate([Pair(GOLD, labels, GOLD) for labels in some], scheme="bio")
        for some in ((GOLD, ("O", "O", "B-b")), (("B-a", "O", "O"), ("O", "O", "O")))
    )
    made = [row_of(one, [1, 0]), row_of(other, [0, 1])]
    return json.loads(json.dumps(made))


def test_labellings_of_a_section_are_added_up(rows):
    both = evaluation_of(rows)
    assert both.tokens.tolist() == [6, 6]
    assert both.correct.tolist() == [4, 4], "place 0: 2 + 2, place 1: 3 + 1"
    assert both.whole.tolist() == [0.0, 0.5]
    assert both.counts["spans"][:, 0].tolist() == [[2, 4, 2], [2, 4, 2]]
    assert measures(both) == ("66.67", "100.00", "50.00", "66.67", "25.00")


def test_a_row_alone_is_its_evaluation(rows):
    alone = evaluation_of(rows[:1])
    assert alone.whole.tolist() == [0.0, 1.0] and alone.missing == 0
    assert span_measures(np.array([4, 2, 1])) == ("25.00", "50.00", "33.33")


def test_gains_are_points(rows):
    tokens, spans, whole = gains(evaluation_of(rows[:1]), evaluation_of(rows[1:]), resamples=99)
    assert tokens.startswith("+33.33 [") and whole.startswith("+50.00 [")
    assert spans.startswith("+45.71 [") and ", p = " in spans, "F1 of 6/7 and 2/5"


def test_intervals_have_a_true_minus():
    assert interval(Difference("F1", 0.5, 0.51, -0.02, 0.005, 0.2)) == "−1.00 [−2.00, +0.50]"
