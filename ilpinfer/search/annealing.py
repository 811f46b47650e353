"""Simulated annealing over the runs of labellings (Kirkpatrick, Gelatt, Vecchi 1983), a modern baseline."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from formulations.grid import UNITS_PER_NAT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import annealing as kernels
from ilpinfer.kernels.evolution import VALUED
from ilpinfer.kernels.warming import Stage
from ilpinfer.search.best_first import better_first_labelling
from ilpinfer.search.parameters import Parameters, within
from ilpinfer.search.population import Individuals, Population, example, population_search

_STEPS = 1000
"""Steps of a call where their number is limited, so that the temperature falls alike however fast they are."""


@dataclass(frozen=True)
class Annealing(Parameters):
    """Parameters of simulated annealing.

    Parameters
    ----------
    start_temperature, end_temperature : float, optional
        Nats; it falls by the same share each step.
    hard_weight : float, optional
        Nats a hard violation.
    run_rate : float, optional
        Probability that a run or a border changes, instead of any short stretch.
    shift_rate : float, optional
        Shift rate of these, how often it is a border that shifts.
    iterations : int, optional
        Steps at most; 0 for as many as time allows.
    seed : int, optional
        Seed of the random numbers.
    """

    start_temperature: float = within(1.0, 1e-6, 1e6)
    end_temperature: float = within(0.1, 1e-6, 1e6)
    hard_weight: float = within(10.0, 0, 1e6)
    run_rate: float = within(0.2, 0, 1)
    shift_rate: float = within(0.6, 0, 1)
    iterations: int = within(0, 0, 1e12)
    seed: int = within(0, 0, 2**63 - 1)


def annealing(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of the walk that keeps the hard rules."""
    parameters = task.parameters or Annealing()
    assert isinstance(parameters, Annealing)
    individuals = Individuals(iterations=parameters.iterations, seed=parameters.seed)

    def run(population: Population) -> str:
        population.begin()
        return f"{cool(population, parameters)} steps"

    yield from population_search(problem, task, name, (ANNEALING,), individuals, better_first_labelling, run)


def cool(population: Population, parameters: Annealing) -> int:
    """Run steps while the temperature falls, to the last one or to the deadline; the number of steps."""
    deadline, p = population.task.deadline, parameters
    hot, cold = p.start_temperature * UNITS_PER_NAT, p.end_temperature * UNITS_PER_NAT
    weight, moves = round(p.hard_weight * UNITS_PER_NAT), (p.shift_rate, p.run_rate)
    done, speed, begun = 0, 10_000.0, deadline.elapsed
    while not deadline.passed and (not p.iterations or done < p.iterations):
        began, before = deadline.elapsed, int(population.counts[VALUED])
        if p.iterations:
            work = min(_STEPS, p.iterations - done)
            share, after = done / p.iterations, (done + work) / p.iterations
        else:
            work, length = max(1, int(speed * STRETCH)), deadline.limit - begun
            share, after = ((t - begun) / length for t in (began, began + work / speed))
        heat = np.array([hot * (cold / hot) ** min(1.0, x) for x in (share, after)])
        code, steps = kernels.anneal(
            population.scores,
            population.machines,
            population.arrays,
            population.seed,
            population.runs,
            moves,
            weight,
            heat,
            population.records,
            population.counts,
            work,
        )
        done += steps
        speed = max(1.0, steps / max(1e-6, deadline.elapsed - began))
        population.record(began, before)
        if code == kernels.FULL and not steps:
            population.make_room()
    return done


def _example() -> None:
    population = example(Individuals())
    population.begin()
    cool(population, Annealing(iterations=1))


ANNEALING = Stage("annealing", "simulated annealing", _example)
