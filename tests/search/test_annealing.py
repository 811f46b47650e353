"""Simulated annealing: the labelling is worth what the rules say, and the same seed cools to the same one."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.effort import at_most, examples
from support.strategies import problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.search import annealing
from ilpinfer.search.annealing import Annealing
from ilpinfer.search.population import Individuals, Population

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def example(seed=0, **cost):
    rng = np.random.default_rng(seed)
    labels = [f"L{k}" for k in range(5)]
    trellis = Trellis.from_emissions(rng.normal(size=(40, 5)), rng.normal(size=(5, 5)), labels=labels)
    return trellis, [C.at_most_runs(label, 3, **cost) for label in labels]


@settings(max_examples=examples(100), **SLOW)
@given(problem=problems(), seed=st.integers(0, 99), steps=st.integers(1, 400))
def test_what_is_passed_through_is_worth_what_the_rules_say(problem, seed, steps):
    instance, cases = problem
    compiled = compile_problem(instance.trellis, [case.rule for case in cases])
    assume(not any(rule.machineless for rule in compiled.rules))
    start = np.zeros(instance.shape[0], np.int64)
    single = Individuals(seed=seed)
    population = Population(compiled.fold(), Task(Deadline()), single, start, 2**60)
    assert annealing.cool(population, Annealing(iterations=steps, seed=seed)) == steps
    label, _, _, _, total, breaks = population.arrays
    value = compiled.value(label[0].astype(np.int64))
    if not breaks[0]:
        assert total[0] == value.score
    best = population.incumbents
    assert best.path is None or compiled.value(best.path).score == best.value
    if len(best.improvements) > 1:
        assert best.improvements[-1].value > best.improvements[0].value


@pytest.mark.parametrize("cost", [{}, {"penalty": 1.5}])
def test_it_comes_near_the_optimum_and_a_seed_gives_the_same_labelling(cost):
    trellis, rules = example(**cost)
    best, viterbi = ilpinfer.decode(trellis, rules), ilpinfer.decode(trellis, rules, method="viterbi")
    result = [
        ilpinfer.decode(trellis, rules, method="annealing", iterations=100_000, seed=s) for s in (4, 4, 5)
    ]
    assert result[0].labels == result[1].labels
    assert viterbi.score < result[0].score <= best.score
    assert best.score - max(s.score for s in result) < 3.0


def test_it_keeps_its_time():
    trellis, rules = example()
    ilpinfer.decode(trellis, rules, method="annealing", time_limit=0.05)
    assert ilpinfer.decode(trellis, rules, method="annealing", time_limit=0.15).seconds < at_most(0.18)
