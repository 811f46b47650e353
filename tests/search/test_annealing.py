"""Simulated annealing: the labelling is worth what the rules say."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import problems

from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.search import annealing
from ilpinfer.search.annealing import Annealing
from ilpinfer.search.population import Individuals, Population


@settings(max_examples=examples(100))
@given(problem=problems(), seed=st.integers(0, 99), steps=st.integers(1, 400))
def test_what_is_passed_through_is_worth_what_the_rules_say(problem, seed, steps):
    compiled = problem.compiled()
    assume(not any(rule.machineless for rule in compiled.rules))
    start = np.zeros(problem.shape[0], np.int64)
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
