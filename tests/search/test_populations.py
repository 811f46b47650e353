"""Whatever the evolutionary algorithm passes through is worth what the rules say."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import problems

from formulations import Trellis
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.search.evolution import Evolution
from ilpinfer.search.population import Population, Settings


def check(compiled, population, places):
    label, _, _, _, total, breaks = population.arrays
    for who in places:
        path = label[who].astype(np.int64)
        value = compiled.value(path)
        assert (breaks[who] == 0) == (value.feasible and not is_forbidden(compiled.lattice.score(path)))
        assert breaks[who] or total[who] == value.score
    best = population.incumbents
    assert best.path is None or compiled.value(best.path).score == best.value
    values = [improvement.value for improvement in best.improvements]
    assert len(values) < 2 or values[-1] > values[0]


PARAMETERS = st.builds(
    Evolution,
    population=st.integers(1, 6),
    offspring=st.integers(1, 7),
    mutation_rate=st.just(0.7),
    shift_rate=st.just(0.5),
    parents=st.sampled_from(("uniform", "ranked")),
    shift=st.sampled_from(("backwards", "both")),
    seed=st.integers(0, 99),
    iterations=st.just(12),
)


@settings(max_examples=examples(100))
@given(problem=problems(), parameters=PARAMETERS, data=st.data())
def test_evolution(problem, parameters, data):
    compiled, start = problem.machined(), np.array(data.draw(st.sampled_from(problem.labellings)))
    population = Population(problem.compiled().fold(), Task(Deadline()), parameters, start, 2**60)
    population.run()
    check(compiled, population, population.places[0].tolist())


def test_settings_are_those_of_the_parameters():
    problem = compile_problem(Trellis(np.zeros(2), np.zeros((2, 2, 2)), labels=["a", "O"]), []).fold()
    parameters = Evolution(parents="ranked", shift="backwards")
    made = Population(problem, Task(Deadline()), parameters, np.zeros(3, np.int64), 0)
    assert made.settings == Settings(0.25, 1.5, 0.9, True, False)
