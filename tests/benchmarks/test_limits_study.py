"""What counts as true under short limits, and how lateness is summed up."""

from types import SimpleNamespace

import pytest
from pandas import Series

from benchmarks.studies.limits import check, high, is_true
from benchmarks.study import Disagreement

BEST = SimpleNamespace(status="optimal", score=-5.0, bound=-5.0)


@pytest.mark.parametrize(
    ("status", "score", "bound", "true"),
    [
        ("optimal", -5.0, -5.0, True),
        ("optimal", -6.0, -5.0, False),
        ("feasible", -9.0, -1.0, True),
        ("feasible", -9.0, -6.0, False),
        ("feasible", -4.0, -1.0, False),
        ("infeasible", float("-inf"), float("-inf"), False),
    ],
)
def test_statuses_and_bounds_are_held_against_the_optimum(
    status: str, score: float, bound: float, true: bool
):
    assert is_true(SimpleNamespace(status=status, score=score, bound=bound), BEST) is true


def test_an_open_optimum_bounds_from_above():
    open_ = SimpleNamespace(status="feasible", score=-5.0, bound=-2.0)
    assert is_true(SimpleNamespace(status="feasible", score=-3.0, bound=-2.5), open_)
    assert not is_true(SimpleNamespace(status="feasible", score=-1.0, bound=0.0), open_)


def test_falsehoods_stop_the_study():
    row = {"data": "d", "item": "i", "method": "m", "limit": 0.05, "status": "optimal", "true": True}
    check([row])
    with pytest.raises(Disagreement, match=r"d, i: m with 0\.05 s says optimal"):
        check([row, {**row, "true": False}])


def test_the_percentile_is_one_of_the_values():
    assert high(Series(range(1, 21))) == 19.0
    assert high(Series([3.0])) == 3.0
