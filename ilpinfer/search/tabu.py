"""Tabu search over the runs of labellings (Glover 1989), a modern baseline beside annealing."""

from collections.abc import Iterator

import numpy as np

from formulations.grid import UNITS_PER_NAT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import tabu as kernels
from ilpinfer.kernels.evolution import VALUED
from ilpinfer.kernels.warming import Stage
from ilpinfer.search.parameters import Evolution, Tabu
from ilpinfer.search.population import Population, example, searched
from ilpinfer.search.starting import better_first


def tabu(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling that keeps the hard rules, of all that were moved to."""
    parameters = task.parameters or Tabu()
    assert isinstance(parameters, Tabu)
    individuals = Evolution(
        population=2, offspring=2, start_mutations=0, seed=parameters.seed, iterations=parameters.iterations
    )

    def run(population: Population) -> str:
        population.begin()
        return f"{move(population, parameters)} steps"

    yield from searched(problem, task, name, (TABU,), individuals, better_first, run)


def memory_of(population: Population, parameters: Tabu) -> kernels.Memory:
    """Nothing tabu yet."""
    people = population.people
    (_, T), K, window = people.label.shape, population.scores.pool.shape[2], 1 << kernels.WIDEST
    fitness = int(people.total[0]) - round(parameters.hard_weight * UNITS_PER_NAT) * int(people.breaks[0])
    return kernels.Memory(
        np.zeros((T, K), np.int64),
        np.array([0, 0, fitness, 0]),
        np.empty((window, K), np.int64),
        np.zeros((window, K), np.int32),
    )


def move(population: Population, parameters: Tabu, memory: kernels.Memory | None = None) -> int:
    """Steps to the last one or to the deadline; how many there were."""
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
            population.people,
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
        population.take(began, before)
        if code == kernels.FULL and not steps:
            population.make_room()
    return done


def _example() -> None:
    population = example(Evolution(population=2, offspring=2, start_mutations=0))
    population.begin()
    move(population, Tabu(iterations=1))


TABU = Stage("tabu", "tabu search", _example)
