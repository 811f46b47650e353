"""Best-first, greedy with repair and relaxation-guided search, on small cases with every change tried by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import at_most, examples
from support.strategies import problems
from support.trellises import many_runs

import ilpinfer
from formulations.grid import is_forbidden

REPAIRED = ("greedy", "relaxation-guided")


def neighbours(path, labels):
    """Every change of one token, one run or one border."""
    for t in range(len(path)):
        for k in range(labels):
            yield (*path[:t], k, *path[t + 1 :])
        end = next((e for e in range(t, len(path)) if path[e] != path[t]), len(path))
        if t == 0 or path[t - 1] != path[t]:
            for k in range(labels):
                yield (*path[:t], *[k] * (end - t), *path[end:])
        if t and path[t - 1] != path[t]:
            yield (*path[: t - 1], path[t], *path[t:])
            yield (*path[:t], path[t - 1], *path[t + 1 :])


@pytest.mark.parametrize("method", REPAIRED)
@settings(max_examples=examples(100))
@given(problem=problems())
def test_nothing_near_a_repaired_labelling_is_better(method, problem):
    compiled = problem.machined()
    solution = ilpinfer.decode(*problem.given, method=method)
    expected, _ = problem.best()
    if expected is None:
        assert not solution.has_labelling
        return
    assert solution.score <= expected * 2**-20
    if not solution.has_labelling:
        return
    own = compiled.value(solution.ids).score
    for near in neighbours(tuple(solution.ids.tolist()), problem.shape[1]):
        value = compiled.value(np.array(near)).score
        assert is_forbidden(value) or value <= own


@settings(max_examples=examples(100))
@given(problem=problems(), data=st.data())
def test_best_first_finds_a_labelling_that_keeps_the_hard_rules_if_there_is_one(problem, data):
    problem.machined()
    expected, _ = problem.best()
    solution = ilpinfer.decode(*problem.given, method="best-first")
    assert solution.has_labelling == (expected is not None)


@pytest.mark.parametrize("method", REPAIRED)
def test_repair_gains_on_what_it_starts_from_and_keeps_its_time(method):
    given = many_runs(300, 8, 5, seed=2, penalty=1.0)
    ilpinfer.decode(*given, method=method, time_limit=0.05)
    solution = ilpinfer.decode(*given, method=method, time_limit=0.3)
    assert solution.seconds < at_most(0.33)
    assert solution.score > ilpinfer.decode(*given, method="best-first", time_limit=0.3).score
