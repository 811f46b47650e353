"""Tabu search over the runs of labellings (Glover 1989), a modern baseline beside annealing."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from formulations.grid import UNITS_PER_NAT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import tabu as kernels
from ilpinfer.kernels.evolution import VALUED
from ilpinfer.kernels.warming import Stage
from ilpinfer.search.best_first import better_first_labelling
from ilpinfer.search.parameters import Parameters, within
from ilpinfer.search.population import Individuals, Population, example, population_search


@dataclass(frozen=True)
class Tabu(Parameters):
    """Parameters of tabu search.

    Parameters
    ----------
    candidates : int, optional
        Changes that a step chooses among, unless one of them makes the labelling better at once.
    tenure : int, optional
        Steps for which a token may not have a label again that it has lost, and up to twice as many.
    patience : int, optional
        Steps without a better labelling, after which the search continues from the best one.
    kicks : int, optional
        Random changes of that one first.
    hard_weight : float, optional
        Nats a hard violation.
    refit_rate : float, optional
        Probability that a change forbids a token its label and refits the tokens around it, instead of changing a run
        or a border; 0 for second order.
    shift_rate : float, optional
        Shift rate of the others, how often it is a border that shifts.
    iterations : int, optional
        Steps at most; 0 for as many as time allows.
    seed : int, optional
        Seed of the random numbers.
    """

    candidates: int = within(100, 1, 1e6)
    tenure: int = within(3, 1, 1e9)
    patience: int = within(300, 1, 1e9)
    kicks: int = within(3, 0, 1e6)
    hard_weight: float = within(10.0, 0, 1e6)
    refit_rate: float = within(0.9, 0, 1)
    shift_rate: float = within(0.6, 0, 1)
    iterations: int = within(0, 0, 1e12)
    seed: int = within(0, 0, 2**63 - 1)


def tabu(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of the walk that keeps the hard rules."""
    parameters = task.parameters or Tabu()
    assert isinstance(parameters, Tabu)
    individuals = Individuals(2, 2, iterations=parameters.iterations, seed=parameters.seed)

    def run(population: Population) -> str:
        population.begin()
        return f"{move(population, parameters)} steps"

    yield from population_search(problem, task, name, (TABU,), individuals, better_first_labelling, run)


def memory_of(population: Population, parameters: Tabu) -> kernels.Memory:
    """An empty memory."""
    people = population.arrays
    (_, T), K, window = people.label.shape, population.scores.pool.shape[2], 1 << kernels.WIDEST
    fitness = int(people.total[0]) - round(parameters.hard_weight * UNITS_PER_NAT) * int(people.breaks[0])
    return kernels.Memory(
        np.zeros((T, K), np.int64),
        np.array([0, 0, fitness, 0]),
        np.empty((window, K), np.int64),
        np.zeros((window, K), np.int32),
    )


def move(population: Population, parameters: Tabu, memory: kernels.Memory | None = None) -> int:
    """Run steps to the last one or to the deadline; the number of steps."""
    deadline, p = population.task.deadline, parameters
    memory = memory or memory_of(population, parameters)
    weight = round(p.hard_weight * UNITS_PER_NAT)
    manner = kernels.Manner(p.candidates, p.tenure, p.patience, p.kicks, p.refit_rate, p.shift_rate)
    done, speed = 0, 10_000.0
    while not deadline.passed and (not p.iterations or done < p.iterations):
        began, before = deadline.elapsed, int(population.counts[VALUED])
        code, steps, tried = kernels.search(
            population.scores,
            population.machines,
            population.arrays,
            population.seed,
            population.runs,
            memory,
            manner,
            weight,
            population.records,
            population.counts,
            p.iterations - done if p.iterations else 2**62,
            max(1, int(speed * STRETCH)),
        )
        done += steps
        speed = max(1.0, tried / max(1e-6, deadline.elapsed - began))
        population.record(began, before)
        if code == kernels.FULL and not steps:
            population.make_room()
    return done


def _example() -> None:
    population = example(Individuals(2, 2))
    population.begin()
    move(population, Tabu(iterations=1))


TABU = Stage("tabu", "tabu search", _example)
