"""Heuristics that start from one labelling: best-first, greedy with repair, and guided by a relaxation."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.problem import Problem
from formulations.grid import FORBIDDEN, LIMIT, UNITS_PER_NAT, is_forbidden
from formulations.limits import OutOfTime
from ilpinfer.certificate import VITERBI_BOUND
from ilpinfer.deadline import STRETCH
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rounds import Round
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.found import Found, Task
from ilpinfer.search import repair_kernels as kernels
from ilpinfer.search import starting
from ilpinfer.search.discrepancy import run_time
from ilpinfer.search.evolution import Population, late
from ilpinfer.search.parameters import Evolution
from ilpinfer.warming import warm

Path = NDArray[np.int64]

_HARD = min(LIMIT // 4, 1000 * UNITS_PER_NAT)
"""What a hard violation weighs while a labelling is repaired, grid units."""


def best_first(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """The first labelling of depth-first search that takes the best choice for each token and turns back at hard rules."""
    yield from _begun(problem, task, name, _first, repair=False)


def greedy(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """The best-first labelling, repaired: changes of a token, a run or a border while one makes it better."""
    yield from _begun(problem, task, name, _first, repair=True)


def relaxation_guided(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """The labelling of the engine's Lagrangian relaxation, repaired (Rush and Collins 2012, section 7)."""
    task.deadline.excuse(warm("engine"))
    yield from _begun(problem, task, name, _relaxed, repair=True)


def _begun(
    problem: Problem,
    task: Task,
    name: str,
    begin: Callable[[Problem, Problem, Task, Path], Path],
    *,
    repair: bool,
) -> Iterator[Found]:
    for stage in ("viterbi", "discrepancy", "evolution", "repair"):
        task.deadline.excuse(warm(stage))
    task = replace(task, deadline=run_time(task.deadline))
    folded = problem.fold()
    bound, path = viterbi(folded.lattice)
    if is_forbidden(bound):
        yield Found(None, FORBIDDEN, f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    single = Evolution(population=1, offspring=1)
    try:
        population = Population(folded, task, single, begin(problem, folded, task, path), bound)
    except OutOfTime:
        yield late(folded, path, bound, name)
        return
    population.begin()
    if repair:
        mend(population)
    valued = int(population.counts[kernels.VALUED])
    yield population.incumbents.best(bound, f"{name}: {valued} labellings")


def _first(problem: Problem, folded: Problem, task: Task, path: Path) -> Path:
    found = starting.best_first(folded, task.deadline)
    return path if found is None else found


def _relaxed(problem: Problem, folded: Problem, task: Task, path: Path) -> Path:
    """The labelling of the relaxation in which the rules that Viterbi's breaks are inside, or bear prices."""
    progress = Progress.of(problem, task.deadline)
    relaxation = Round(progress, progress.parts(progress.fresh([path], [])), 1)
    relaxed = relaxation.guide.solve(relaxation.prices, task.deadline)
    if relaxed is None or is_forbidden(relaxed.bound):
        return path
    return relaxation.tighten(relaxed).path if relaxation.charged else relaxed.path


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
