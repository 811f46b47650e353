"""Simulated annealing over the runs of labellings (Kirkpatrick, Gelatt, Vecchi 1983), a modern baseline."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from formulations.grid import UNITS_PER_NAT
from formulations.messages import counted
from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import annealing as kernels
from ilpinfer.search.best_first import better_first_labelling
from ilpinfer.search.parameters import Parameters, parameters_of, within
from ilpinfer.search.population import Individuals, Population, Stretches, population_search

_STEPS = 1000
"""Steps of a call where their number is limited, so that the temperature falls alike however fast they are."""


@dataclass(frozen=True)
class Annealing(Parameters):
    start_temperature: float = within(1.0, 1e-6, 1e6)  # nats; it falls by the same share each step
    end_temperature: float = within(0.1, 1e-6, 1e6)
    hard_weight: float = within(10.0, 0, 1e6)  # nats a hard violation
    run_rate: float = within(0.2, 0, 1)  # how often a run or a border changes, not any short stretch
    shift_rate: float = within(0.6, 0, 1)  # how often, of these, it is a border that shifts
    iterations: int = within(0, 0, 1e12)  # steps at most; 0 for as many as time allows
    seed: int = within(0, 0, 2**63 - 1)


def annealing(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of the walk that keeps the hard rules."""
    parameters = parameters_of(task, Annealing)
    individuals = Individuals(iterations=parameters.iterations, seed=parameters.seed)
    how = individuals, better_first_labelling, lambda a: counted(cool(a, parameters), "step")
    yield from population_search(problem, task, name, *how)


def cool(population: Population, parameters: Annealing) -> int:
    """Run steps while the temperature falls, to the last one or to the deadline; the number of steps."""
    a, p, deadline = population, parameters, population.task.deadline
    hot, cold = p.start_temperature * UNITS_PER_NAT, p.end_temperature * UNITS_PER_NAT
    weight, moves = round(p.hard_weight * UNITS_PER_NAT), (p.shift_rate, p.run_rate)
    stretches, begun = Stretches(a, p.iterations), deadline.elapsed
    while stretches.begin():
        if p.iterations:
            work = min(_STEPS, p.iterations - stretches.done)
            shares = (stretches.done / p.iterations, (stretches.done + work) / p.iterations)
        else:
            work, length = stretches.work, deadline.limit - begun
            shares = ((stretches.began - begun) / length, (stretches.ends - begun) / length)
        heat = np.array([hot * (cold / hot) ** min(1.0, share) for share in shares])
        code, steps = kernels.anneal(*a.walker, moves, weight, heat, a.records, a.counts, work)
        stretches.end(steps, steps, full=code == kernels.FULL)
    return stretches.done
