"""The measurement of lists of labellings, on a few random sequences."""

import numpy as np

from benchmarks.few import report, rows
from formulations import RuleSet, Trellis
from formulations import constraints as C


def test_rows_compare_both_ways():
    rng = np.random.default_rng(0)
    trellises = [
        Trellis.from_emissions(rng.normal(size=(5, 2)), rng.normal(size=(2, 2)), labels=["a", "b"])
        for _ in range(4)
    ]
    result = list(rows("random", trellises, RuleSet((C.at_most_runs("a", 1, penalty=1.0),)), (1, 3), 2))
    assert [(row["top"], row["same"]) for row in result] == [(1, True), (3, True)]
    assert all(row[key] > 0 for row in result for key in ("best", "arrays", "decode", "without", "times"))
    assert report(result).row_count == 2
