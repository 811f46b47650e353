"""The arithmetic of the study of corrections."""

import numpy as np
import pytest

import ilpinfer
from benchmarks.studies.corrections import ALONE, CHANGES, ENTROPY, FIRST, corrected
from formulations import Trellis
from formulations import constraints as C

TRELLIS = Trellis.from_emissions(
    [[0.0, 1.0], [0.0, 0.5], [0.0, 0.5], [3.0, 0.0]], [[4.0, 0.0], [0.0, 4.0]], labels=["a", "b"]
)


@pytest.mark.parametrize(
    ("way", "gold", "answers", "corrections"),
    [
        (ALONE, "bbba", 3, 3),
        (ALONE, "aaaa", 0, 0),
        (ALONE, "bbbb", 4, 4),
        (FIRST, "bbbb", 1, 1),
        (FIRST, "abab", 4, 4),
        (CHANGES, "aaaa", 0, 0),
    ],
)
def test_answers_and_corrections(way, gold, answers, corrections):
    assert ilpinfer.decode(TRELLIS).labels == list("aaaa")
    row = corrected(ilpinfer.Decoder([]), TRELLIS, list(gold), way)
    assert (row["answers"], row["corrections"], row["right"]) == (answers, corrections, True)


@pytest.mark.parametrize("way", [CHANGES, ENTROPY])
def test_questions_end_with_gold(way):
    row = corrected(ilpinfer.Decoder([]), TRELLIS, list("abab"), way)
    assert row["right"] and row["wrong"] == 2 and row["corrections"] <= row["answers"] <= 4


def test_where_hard_rules_forbid_gold_every_token_is_told():
    rules = [C.at_most_runs("b", 1)]
    row = corrected(ilpinfer.Decoder(rules), TRELLIS, list("baba"), FIRST)
    assert (row["answers"], row["right"]) == (4, False)
    assert np.isfinite(row["corrections"])
