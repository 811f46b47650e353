"""Best-first, greedy with repair and relaxation-guided search, on small cases with every change tried by hand."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import at_most, examples
from support.strategies import cost_units, problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
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
@settings(max_examples=examples(100), **SLOW)
@given(problem=problems())
def test_nothing_near_a_repaired_labelling_is_better(method, problem):
    instance, cases = problem
    rules = [case.rule for case in cases]
    compiled = compile_problem(instance.trellis, rules)
    assume(not any(rule.machineless for rule in compiled.rules))
    solution = ilpinfer.decode(instance.trellis, rules, method=method)
    expected, _ = oracles.best(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y))
    if expected is None:
        assert not solution.has_labelling
        return
    assert solution.score <= expected * 2**-20
    if not solution.has_labelling:
        return
    own = compiled.value(solution.ids).score
    for near in neighbours(tuple(solution.ids.tolist()), instance.shape[1]):
        value = compiled.value(np.array(near)).score
        assert is_forbidden(value) or value <= own


@settings(max_examples=examples(100), **SLOW)
@given(problem=problems(), data=st.data())
def test_best_first_finds_a_labelling_that_keeps_the_hard_rules_if_there_is_one(problem, data):
    instance, cases = problem
    rules = [case.rule for case in cases]
    assume(not any(rule.machineless for rule in compile_problem(instance.trellis, rules).rules))
    expected, _ = oracles.best(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y))
    solution = ilpinfer.decode(instance.trellis, rules, method="best-first")
    assert solution.has_labelling == (expected is not None)


@pytest.mark.parametrize("method", REPAIRED)
def test_repair_gains_on_what_it_starts_from_and_keeps_its_time(method):
    rng = np.random.default_rng(2)
    labels = [f"L{k}" for k in range(8)]
    trellis = Trellis.from_emissions(rng.normal(size=(300, 8)), rng.normal(size=(8, 8)), labels=labels)
    rules = [C.at_most_runs(label, 5, penalty=1.0) for label in labels]
    ilpinfer.decode(trellis, rules, method=method, time_limit=0.05)
    solution = ilpinfer.decode(trellis, rules, method=method, time_limit=0.3)
    start = ilpinfer.decode(trellis, rules, method="best-first", time_limit=0.3)
    assert solution.seconds < at_most(0.33)
    assert solution.score > start.score
