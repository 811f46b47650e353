"""Measures of draws and paired differences."""

import pytest
from pandas import DataFrame, Series

from benchmarks.report import difference, draws_of, gain


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
