"""Tabu search over the runs of labellings (Glover 1989), a modern baseline beside annealing."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from formulations.grid import UNITS_PER_NAT
from formulations.messages import counted
from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import tabu as kernels
from ilpinfer.search.best_first import better_first_labelling
from ilpinfer.search.parameters import Parameters, parameters_of, within
from ilpinfer.search.population import Individuals, Population, Stretches, population_search


@dataclass(frozen=True)
class Tabu(Parameters):
    candidates: int = within(100, 1, 1e6)  # changes that a step chooses among, unless one is better at once
    tenure: int = within(3, 1, 1e9)  # steps, at most doubled, in which a token may not get a lost label back
    patience: int = within(300, 1, 1e9)  # steps without a better labelling until it returns to the best one
    kicks: int = within(3, 0, 1e6)  # random changes of that one first
    hard_weight: float = within(10.0, 0, 1e6)  # nats a hard violation
    refit_rate: float = within(0.9, 0, 1)  # how often a change forbids a label and refits; 0 for second order
    shift_rate: float = within(0.6, 0, 1)  # how often another change shifts a border
    iterations: int = within(0, 0, 1e12)  # steps at most; 0 for as many as time allows
    seed: int = within(0, 0, 2**63 - 1)


def tabu(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of the walk that keeps the hard rules."""
    parameters = parameters_of(task, Tabu)
    individuals = Individuals(2, 2, iterations=parameters.iterations, seed=parameters.seed)
    how = individuals, better_first_labelling, lambda a: counted(move(a, parameters), "step")
    yield from population_search(problem, task, name, *how)


def memory_of(population: Population, parameters: Tabu) -> kernels.Memory:
    people = population.arrays
    T, K, window = people.label.shape[1], population.scores.pool.shape[2], 1 << kernels.WIDEST
    fitness = int(people.total[0]) - round(parameters.hard_weight * UNITS_PER_NAT) * int(people.breaks[0])
    return kernels.Memory(
        np.zeros((T, K), np.int64),
        np.array([0, 0, fitness, 0]),
        np.empty((window, K), np.int64),
        np.zeros((window, K), np.int32),
    )


def move(population: Population, parameters: Tabu, memory: kernels.Memory | None = None) -> int:
    """Run steps to the last one or to the deadline; the number of steps."""
    a, p = population, parameters
    memory = memory or memory_of(population, parameters)
    weight = round(p.hard_weight * UNITS_PER_NAT)
    manner = kernels.Manner(p.candidates, p.tenure, p.patience, p.kicks, p.refit_rate, p.shift_rate)
    stretches = Stretches(a, p.iterations)
    while stretches.begin():
        own, limits = (memory, manner, weight), (stretches.most - stretches.done, stretches.work)
        code, steps, tried = kernels.search(*a.walker, *own, a.records, a.counts, *limits)
        stretches.end(steps, tried, full=code == kernels.FULL)
    return stretches.done
