"""Heuristics that start from one labelling: best-first, greedy with repair, and guided by a relaxation."""

from collections.abc import Callable, Iterator

import numpy as np

from formulations.grid import LIMIT, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.label_setting import LABEL_SETTING
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rounds import Round
from ilpinfer.kernels import repairing as kernels
from ilpinfer.kernels.warming import Stage
from ilpinfer.search import starting
from ilpinfer.search.parameters import Evolution
from ilpinfer.search.population import Path, Population, example, searched

_HARD = min(LIMIT // 4, 1000 * UNITS_PER_NAT)
"""What a hard violation weighs while a labelling is repaired, grid units."""


def best_first(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The first labelling of depth-first search that takes the best choice for each token and turns back at hard rules."""

    def first(folded: Problem, path: Path, task: Task) -> Path | None:
        return starting.best_first(folded, task.deadline)

    yield from _begun(problem, task, name, first, repair=False)


def greedy(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The better of Viterbi's and the best-first labelling, repaired: a token, a run or a border changed while that helps."""
    yield from _begun(problem, task, name, starting.better_first, repair=True)


def relaxation_guided(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The labelling of the engine's Lagrangian relaxation, repaired (Rush and Collins 2012, section 7).

    Rules that Viterbi's labelling breaks are inside the relaxation, or bear multipliers.
    """
    task.deadline.excuse(LABEL_SETTING.warm())

    def relaxed(folded: Problem, path: Path, task: Task) -> Path | None:
        progress = Progress.of(problem, task.deadline)
        relaxation = Round(progress, progress.machines(progress.fresh([path], [])), 1)
        result = relaxation.guide.solve(relaxation.multipliers, task.deadline)
        if result is None or is_forbidden(result.bound):
            return None
        return relaxation.tighten(result).path if relaxation.charged else result.path

    yield from _begun(problem, task, name, relaxed, repair=True)


def _begun(
    problem: Problem,
    task: Task,
    name: str,
    begin: Callable[[Problem, Path, Task], Path | None],
    *,
    repair: bool,
) -> Iterator[Result]:
    def run(population: Population) -> str:
        population.begin()
        if repair:
            mend(population)
        return f"{population.counts[kernels.VALUED]} labellings"

    single = Evolution(population=1, offspring=1)
    yield from searched(problem, task, name, (REPAIR,), single, begin, run)


def mend(population: Population) -> None:
    """Repair individual 0, until nothing makes it better or to the deadline."""
    deadline, position, code = population.task.deadline, np.zeros(3, np.int64), kernels.WORKED
    for array in population.people:
        array[1] = array[0]
    speed = 10_000.0
    while code != kernels.DONE and not deadline.passed:
        began, before = deadline.elapsed, int(population.counts[kernels.VALUED])
        code = kernels.improve(
            population.scores,
            population.machines,
            population.people,
            population.runs,
            _HARD,
            population.records,
            population.counts,
            position,
            max(1, int(speed * STRETCH)),
        )
        valued = int(population.counts[kernels.VALUED])
        speed = max(1.0, (valued - before) / max(1e-6, deadline.elapsed - began))
        population.take(began, before)
        if code == kernels.FULL and valued == before:
            population.make_room()
            for array in population.people:
                array[1] = array[0]


def _example() -> None:
    population = example(Evolution(population=1, offspring=1))
    population.begin()
    mend(population)


REPAIR = Stage("repair", "repair of labellings", _example)
