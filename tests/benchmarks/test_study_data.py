"""The data that studies share: evaluations as rows, paired draws, line breaks."""

import json

import numpy as np
import pytest
from pandas import DataFrame, Series

import ilpinfer
from benchmarks.data import models
from benchmarks.data.evaluations import evaluation_of, gains, interval, measures, row_of, span_measures
from benchmarks.data.line_breaks import features, trained_between_breaks, with_breaks
from benchmarks.report import difference, draws_of, gain
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


def test_draws_are_those_of_the_wanted_rows():
    rows = [
        {"draw": 0, "size": 5, "tokens": 60.0},
        {"draw": 1, "size": 5, "tokens": 70.0},
        {"draw": 0, "size": 20, "tokens": 80.0},
    ]
    assert draws_of(DataFrame(rows), size=5).to_dict() == {0: 60.0, 1: 70.0}


@pytest.mark.parametrize(
    ("values", "others", "gains", "text"),
    [
        ({0: 61.0, 1: 73.0, 2: 99.0}, {0: 60.0, 1: 70.0}, [1.0, 3.0], "+2.0 ± 1.0"),
        ({0: 61.0, 1: 73.0}, {0: 62.0, 1: 78.0}, [-1.0, -5.0], "−3.0 ± 2.0"),
        ({0: 1.5}, {0: 1.0}, [0.5], "+0.5"),
        ({0: 1.5}, {1: 1.0}, [], "–"),
        ({}, {}, [], "–"),
    ],
)
def test_differences_are_of_the_draws_that_both_have(values, others, gains, text):
    one, other = (Series(some, dtype=float) for some in (values, others))
    assert difference(one, other).tolist() == gains
    assert gain(one, other) == text


TEXTS = [
    ("1. @newline@ Facts @newline@ It rained .", "nr break title break text text text"),
    ("It rained @newline@ 2. @newline@ Law", "text text break nr break title"),
]


def test_a_field_of_the_tokens_between_line_breaks(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "FOLDER", tmp_path)
    pairs = [(tuple(tokens.split()), tuple(labels.split())) for tokens, labels in TEXTS]
    model = trained_between_breaks(pairs, "general", c2=0.01)
    assert model.labels.names == ("nr", "text", "title")
    for tokens, labels in pairs:
        trellis = model.trellis(tokens)
        assert "@newline@" not in trellis.tokens
        assert with_breaks(tokens, ilpinfer.decode(trellis).labels, "break") == list(labels)
    first = features(model.template, pairs[0][0])[1]
    assert "line-start[0]" in first and any(name.startswith("lower[-1]=1.") for name in first)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("B-x I-x O", "B-x I-x I-x O"),
        ("I-x I-x O", "I-x I-x I-x O"),
        ("B-x B-x O", "B-x O B-x O"),
        ("I-y I-x O", "I-y O I-x O"),
        ("x x O", "x O x O"),
    ],
)
def test_line_breaks_inside_a_run_go_on_with_it(labels, expected):
    tokens = ["a", "@newline@", "b", "c"]
    assert with_breaks(tokens, labels.split(), "O") == expected.split()
