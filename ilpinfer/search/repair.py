"""Repair of one labelling: changes of a token, a run or a border, as long as they improve it."""

from collections.abc import Callable, Iterator

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT, UNITS_PER_NAT
from formulations.messages import counted
from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Relaxation, price_sums
from ilpinfer.kernels import repair as kernels
from ilpinfer.kernels.decoding import MOST_JOINT
from ilpinfer.kernels.evolution import VALUED
from ilpinfer.search.best_first import better_first_labelling
from ilpinfer.search.population import Individuals, Population, Stretches, population_search

_HARD = min(LIMIT // 4, 1000 * UNITS_PER_NAT)  # weight of a hard violation during repair, grid units


def repair(
    problem: Problem, task: Task, name: str, begin: Callable[[Problem, LabelIds, Task], LabelIds | None]
) -> Iterator[Result]:
    """The labelling of `begin`, after repair; parameters as of `population_search`."""

    def run(population: Population) -> str:
        improve_individual(population)
        return counted(population.counts[VALUED], "labelling")

    yield from population_search(problem, task, name, Individuals(), begin, run)


def improve_individual(population: Population) -> None:
    """Improve individual 0 until no change is better, or until the deadline."""
    a, position, code = population, np.zeros(3, np.int64), kernels.WORKED
    stretches = Stretches(a)
    while code != kernels.DONE and stretches.begin():
        for array in a.arrays:
            array[1] = array[0]
        before = int(a.counts[VALUED])
        code = kernels.improve(
            a.scores, a.machines, a.arrays, a.runs, _HARD, a.records, a.counts, position, stretches.work
        )
        valued = int(a.counts[VALUED]) - before
        stretches.end(valued, valued, full=code == kernels.FULL)


def greedy(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The better of Viterbi's and the best-first labelling, repaired: a token, a run or a border changed while that helps."""
    yield from repair(problem, task, name, better_first_labelling)


def relaxation_guided(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The labelling of the engine's Lagrangian relaxation, by a beam of one prefix, repaired (Rush and Collins 2012, section 7)."""

    def relaxed(folded: Problem, path: LabelIds, task: Task) -> LabelIds | None:
        known = Known.of(problem, task.deadline)
        price_sums(known)
        relaxation, broken = Relaxation(known), known.broken([path])
        beam = relaxation.prefixes(broken, task.deadline, width=1, inside=MOST_JOINT)
        return next(iter(beam.paths), relaxation.path if beam.complete else None)

    yield from repair(problem, task, name, relaxed)
