"""Counts of labels and the choice of rewards."""

import pytest
from pandas import DataFrame

from benchmarks.studies.trompper import chosen, confusion, counts_of, shares
from ilpinfer.evaluation.evaluation import Pair


def row(fold, reward, predicted, gold, both):
    """A row with so many titles."""
    matrix = [[0] * 4 for _ in range(4)]
    matrix[1][1], matrix[1][2], matrix[2][1] = both, gold - both, predicted - both
    return {"shuffle": 0, "fold": fold, "reward": reward, "confusion": matrix}


def test_confusion_has_gold_in_rows():
    pair = Pair(
        ("1.", "Feiten", "x"), ("NR", "TEXT_BLOCK", "TEXT_BLOCK"), ("NR", "SECTION_TITLE", "TEXT_BLOCK")
    )
    assert confusion([pair]) == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


def test_counts_and_measures():
    confusions = [row(fold, 0.0, 4, 5, 3)["confusion"] for fold in (0, 1)]
    assert counts_of(confusions).tolist() == [8, 10, 6]
    # P = 6/8, R = 6/10, F0.5 = 1.25 P R / (0.25 P + R) = 0.5625 / 0.7875.
    assert shares(confusions) == pytest.approx((0.75, 0.6, 2 / 3, 0.5625 / 0.7875))


def rewards(rows, beta):
    return [(one.fold, one.reward) for one in chosen(DataFrame(rows), beta).itertuples()]


def test_the_reward_of_a_fold_is_chosen_on_the_others():
    # Reward 1 is perfect in fold 0 and useless in fold 1: fold 0 has to take 0, fold 1 has to take 1.
    rows = [row(0, 0.0, 10, 10, 5), row(0, 1.0, 10, 10, 10), row(1, 0.0, 10, 10, 5), row(1, 1.0, 10, 10, 0)]
    assert rewards(rows, 1.0) == [(0, 0.0), (1, 1.0)]


def test_precision_counts_more_for_half():
    # On the other fold: reward 0 has P 1, R 0.5; reward 1 has P 0.6, R 0.9. F1 0.67 and 0.72, F0.5 0.83 and 0.64.
    rows = [row(0, 0.0, 10, 20, 10), row(0, 1.0, 30, 20, 18), row(1, 0.0, 0, 20, 0), row(1, 1.0, 0, 20, 0)]
    assert rewards(rows, 1.0)[1] == (1, 1.0)
    assert rewards(rows, 0.5)[1] == (1, 0.0)
