"""The kernel for the best few labellings against all labellings, on random tables."""

import numpy as np
import pytest
from support.random_tables import cases

from ilpinfer.kernels.tables import (
    CODE,
    INSIDE,
    NO_LABELLING,
    NO_PATH,
    NUMBER,
    PROVED,
    TOO_MUCH_WORK,
    UNKNOWN_CLASS,
)

EMPTY = {NO_PATH, NO_LABELLING}
WORK = 2
"""Column of the results of lists: number of steps."""


def ranked(labellings, top):
    """The best few of labellings in the order of labels."""
    return sorted(labellings, key=lambda one: -one[0])[:top]


def check(case, here, top, paths, values, result, marks):
    """The list of one sequence; machines that were followed give the same one, as a proof needs, if sums have no multipliers."""
    expected, number = ranked(case.labellings(here, range(case.size[1])), top), result[NUMBER]
    found = list(zip(values[:number].tolist(), paths[:number].tolist(), strict=True))
    assert found == expected
    assert result[CODE] == PROVED if expected else result[CODE] in EMPTY
    if expected and not marks[1].any():
        assert ranked(case.labellings(here, np.flatnonzero(marks[0]).tolist()), top) == expected
    return len(expected)


@pytest.mark.parametrize("top", [1, 10])
def test_one_seed(top):
    case = cases(20)[0]
    lists, values, results, marks = case.run_few(top)
    for n, here in enumerate(case.sequences()):
        check(case, here, top, lists[n], values[n], results[n], marks[n])


@pytest.mark.parametrize("top", [1, 2, 3, 10, 50, 5000])
def test_the_best_few_labellings_in_order(top):
    codes, numbers, taken_up = set(), set(), 0
    for seed in range(20, 24):
        for case in cases(seed):
            lists, values, results, marks = case.run_few(top)
            for n, here in enumerate(case.sequences()):
                numbers.add(check(case, here, top, lists[n], values[n], results[n], marks[n]))
                codes.add(int(results[n, CODE]))
                taken_up = max(taken_up, np.count_nonzero(marks[n, 0]))
    assert codes == {PROVED, NO_PATH, NO_LABELLING}
    assert {0, min(top, 10)} <= numbers and taken_up >= 3


@pytest.mark.parametrize("top", [1, 4, 20])
def test_little_work_ends_or_multiplies_machines_and_what_is_proved_is_right(top):
    codes, inside, multipliers = set(), 0, 0
    for seed in range(24, 28):
        for case in cases(seed):
            for work in (0, 30, 120, 400, 1500):
                lists, values, results, marks = case.run_few(top, work)
                for n, here in enumerate(case.sequences()):
                    codes.add(int(results[n, CODE]))
                    if results[n, CODE] == TOO_MUCH_WORK:
                        assert results[n, NUMBER] == 0 and results[n, WORK] > 0
                    else:
                        check(case, here, top, lists[n], values[n], results[n], marks[n])
                        inside += np.count_nonzero(marks[n, 0] == INSIDE)
                        multipliers += np.count_nonzero(marks[n, 1])
    assert codes == {PROVED, NO_PATH, NO_LABELLING, TOO_MUCH_WORK}
    assert inside > 10 and multipliers > 10


def test_unknown_classes_are_told():
    codes = set()
    for case in cases(28, unknown=0.2):
        lists, values, results, marks = case.run_few(3)
        for n, here in enumerate(case.sequences()):
            code = int(results[n, CODE])
            codes.add(code)
            assert (code == UNKNOWN_CLASS) == bool((case.classes(here) < 0).any())
            if code != UNKNOWN_CLASS:
                check(case, here, 3, lists[n], values[n], results[n], marks[n])
    assert UNKNOWN_CLASS in codes and PROVED in codes
