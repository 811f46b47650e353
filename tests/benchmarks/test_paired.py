"""Means and paired differences of draws."""

import pytest

from benchmarks.paired import difference, gain, mean


def test_differences_are_of_the_draws_that_both_have():
    change, error = difference({0: 61.0, 1: 73.0, 2: 99.0}, {0: 60.0, 1: 70.0})
    assert (change, error) == (pytest.approx(2.0), pytest.approx(1.0))


def test_one_draw_has_no_error_and_none_no_mean():
    assert difference({0: 1.5}, {0: 1.0}) == (0.5, None)
    assert difference({0: 1.5}, {1: 1.0}) is None
    assert mean({}) is None


def test_gains_as_text():
    assert gain({0: 61.0, 1: 73.0}, {0: 62.0, 1: 78.0}) == "−3.0 ± 2.0"
    assert gain({}, {}) == "–"
