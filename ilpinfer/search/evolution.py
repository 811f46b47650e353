"""The evolutionary algorithm of Stokman 2011, section 4.2.3."""

from collections.abc import Iterator
from dataclasses import dataclass

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT, UNITS_PER_NAT
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import evolution as kernels
from ilpinfer.kernels.warming import Stage
from ilpinfer.search.best_first import best_first_labelling
from ilpinfer.search.parameters import Parameters, by_variant, one_of, within
from ilpinfer.search.population import Individuals, Population, example, population_search


@dataclass(frozen=True)
class Evolution(Parameters):
    """Parameters of the evolutionary algorithm; the numbers are those of Stokman 2011, Tables 5 and 6.

    Parameters
    ----------
    variant : str, optional
        "varied": ranked parents, borders that move both ways, from Viterbi's labelling; "published": uniform
        parents, borders that move backwards, from the best-first labelling (Tables 5 and 6). Each can be
        given by itself, too.
    population, offspring : int, optional
        Μ and λ.
    mutation_rate : float, optional
        Β, of each offspring.
    shift_rate : float, optional
        Ω, how often a mutation shifts a border rather than gives a run another label.
    selection_pressure : float, optional
        S of the linear ranking (eq. 66), above 1 and up to 2.
    start_weight, weight_increase : float, optional
        Γs and γδ, nats a hard violation, and more each generation (eq. 67).
    parents : str, optional
        "uniform", drawn at random (Table 5), or "ranked" (the text).
    shift : str, optional
        "backwards", or "both" ways.
    start : str, optional
        Labelling from which the first population is made: "viterbi", the best labelling under the rules on single
        tokens
        and steps, or the "best-first" one; where that is not there in time, there is no labelling.
    start_mutations : int, optional
        Start mutations of that labelling, for each individual of the first population but one.
    iterations : int, optional
        Generations at most; 0 for as many as time allows.
    seed : int, optional
        Seed of the random numbers.
    """

    variant: str = one_of("varied", "published")
    population: int = within(30, 1, 100_000)
    offspring: int = within(30, 1, 100_000)
    mutation_rate: float = within(0.25, 0, 1)
    shift_rate: float = within(0.9, 0, 1)
    selection_pressure: float = within(1.5, 1, 2)
    start_weight: float = within(2.0, 0, 1e6)
    weight_increase: float = within(1.0, 0, 1e6)
    parents: str = by_variant({"varied": "ranked", "published": "uniform"}, one_of("uniform", "ranked"))
    shift: str = by_variant({"varied": "both", "published": "backwards"}, one_of("backwards", "both"))
    start: str = by_variant({"varied": "viterbi", "published": "best-first"}, one_of("best-first", "viterbi"))
    start_mutations: int = within(3, 0, 1e6)
    iterations: int = within(0, 0, 1e12)
    seed: int = within(0, 0, 2**63 - 1)

    @property
    def individuals(self) -> Individuals:
        """Their numbers and settings."""
        ranked, both = self.parents == "ranked", self.shift == "both"
        return Individuals(
            self.population,
            self.offspring,
            self.start_mutations,
            self.iterations,
            self.seed,
            kernels.Settings(self.mutation_rate, self.selection_pressure, self.shift_rate, ranked, both),
        )


def evolutionary(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of all generations that keeps the hard rules."""
    parameters = task.parameters or Evolution()
    assert isinstance(parameters, Evolution)

    def begin(folded: Problem, path: LabelIds, task: Task) -> LabelIds | None:
        return (
            best_first_labelling(folded, task.deadline, share=1) if parameters.start == "best-first" else path
        )

    def run(population: Population) -> str:
        run_generations(population, parameters)
        generations, valued = (int(population.counts[n]) for n in (kernels.GENERATION, kernels.VALUED))
        return f"{generations} generations, {valued} labellings"

    yield from population_search(problem, task, name, (EVOLUTION,), parameters.individuals, begin, run)


def run_generations(population: Population, parameters: Evolution) -> None:
    """Create the first individuals, and run generations until the limit of iterations or time."""
    deadline, most = population.task.deadline, LIMIT // 4
    weights = (parameters.start_weight, parameters.weight_increase)
    units = kernels.Weights(*(min(most, round(weight * UNITS_PER_NAT)) for weight in weights))
    population.begin()
    last, speed = parameters.iterations or 2**62, 100.0
    while population.counts[kernels.GENERATION] < last and not deadline.passed:
        began, before = deadline.elapsed, population.counts.copy()
        until = min(last, int(before[kernels.GENERATION]) + max(1, int(speed * STRETCH)))
        code = kernels.evolve(
            population.scores,
            population.machines,
            population.arrays,
            population.places,
            population.seed,
            population.runs,
            population.individuals.settings,
            units,
            population.records,
            population.counts,
            until,
        )
        done = population.counts - before
        speed = max(1.0, done[kernels.GENERATION] / max(1e-6, deadline.elapsed - began))
        population.record(began, int(before[kernels.VALUED]))
        if code == kernels.FULL and not done[kernels.GENERATION]:
            population.make_room()


def _example() -> None:
    parameters = Evolution(iterations=1)
    run_generations(example(parameters.individuals), parameters)


EVOLUTION = Stage("evolution", "the evolutionary algorithm", _example)
