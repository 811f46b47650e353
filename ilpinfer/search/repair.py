"""Repair of one labelling: changes of a token, a run or a border, as long as they improve it."""

from collections.abc import Callable, Iterator

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT, UNITS_PER_NAT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import repair as kernels
from ilpinfer.kernels.evolution import VALUED
from ilpinfer.kernels.warming import Stage
from ilpinfer.search.population import Individuals, Population, example, population_search

_HARD = min(LIMIT // 4, 1000 * UNITS_PER_NAT)
"""Weight of a hard violation during repair, grid units."""


def repair(
    problem: Problem, task: Task, name: str, begin: Callable[[Problem, LabelIds, Task], LabelIds | None]
) -> Iterator[Result]:
    """The labelling of `begin`, after repair; parameters as of `population_search`."""

    def run(population: Population) -> str:
        population.begin()
        improve_individual(population)
        return f"{population.counts[VALUED]} labellings"

    yield from population_search(problem, task, name, (REPAIR,), Individuals(), begin, run)


def improve_individual(population: Population) -> None:
    """Improve individual 0 until no change is better, or until the deadline."""
    deadline, position, code = population.task.deadline, np.zeros(3, np.int64), kernels.WORKED
    for array in population.arrays:
        array[1] = array[0]
    speed = 10_000.0
    while code != kernels.DONE and not deadline.passed:
        began, before = deadline.elapsed, int(population.counts[VALUED])
        code = kernels.improve(
            population.scores,
            population.machines,
            population.arrays,
            population.runs,
            _HARD,
            population.records,
            population.counts,
            position,
            max(1, int(speed * STRETCH)),
        )
        valued = int(population.counts[VALUED])
        speed = max(1.0, (valued - before) / max(1e-6, deadline.elapsed - began))
        population.record(began, before)
        if code == kernels.FULL and valued == before:
            population.make_room()
            for array in population.arrays:
                array[1] = array[0]


def _example() -> None:
    population = example(Individuals())
    population.begin()
    improve_individual(population)


REPAIR = Stage("repair", "repair of labellings", _example)
