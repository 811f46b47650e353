"""The evolutionary algorithm of Stokman 2011, section 4.2.3, and the hybrid with discrepancy search, section 4.2."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, LIMIT, UNITS_PER_NAT, is_forbidden
from formulations.messages import counted
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import completions
from ilpinfer.kernels.native import kernels
from ilpinfer.search.discrepancy import VALUES, Discrepancy, Search, limited_discrepancy
from ilpinfer.search.parameters import Parameters, by_variant, one_of, parameters_of, within
from ilpinfer.search.population import (
    FULL,
    GENERATION,
    VALUED,
    Individuals,
    Population,
    Settings,
    Stretches,
    Weights,
    population_search,
)

_MOST_NODES = 200_000
"""Nodes of the best-first labelling without a time limit, so that it is the same on every machine."""
_FEW_NODES = 2_000
"""The same under rules that are Python functions, which take far longer."""


@dataclass(frozen=True)
class Evolution(Parameters):
    """Parameters of the evolutionary algorithm; the numbers are those of Stokman 2011, Tables 5 and 6.

    "varied" has ranked parents, borders that move both ways, and starts from Viterbi's labelling; "published" has uniform
    parents, borders that move backwards, and starts from the best-first labelling. Each can be given by itself, too.
    """

    variant: str = one_of("varied", "published")
    population: int = within(30, 1, 100_000)  # μ
    offspring: int = within(30, 1, 100_000)  # λ
    mutation_rate: float = within(0.25, 0, 1)  # β, of each offspring
    shift_rate: float = within(0.9, 0, 1)  # ω, how often a mutation shifts a border, and relabels no run
    selection_pressure: float = within(1.5, 1, 2)  # s of the linear ranking (eq. 66)
    start_weight: float = within(2.0, 0, 1e6)  # γs, nats a hard violation
    weight_increase: float = within(1.0, 0, 1e6)  # γδ, and more each generation (eq. 67)
    parents: str = by_variant({"varied": "ranked", "published": "uniform"}, one_of("uniform", "ranked"))
    shift: str = by_variant({"varied": "both", "published": "backwards"}, one_of("backwards", "both"))
    start: str = by_variant({"varied": "viterbi", "published": "best-first"}, one_of("best-first", "viterbi"))
    start_mutations: int = within(3, 0, 1e6)  # by which all first individuals but one differ from the start
    iterations: int = within(0, 0, 1e12)  # generations at most; 0 for as many as time allows
    seed: int = within(0, 0, 2**63 - 1)

    @property
    def individuals(self) -> Individuals:
        ranked, both = self.parents == "ranked", self.shift == "both"
        rates = self.mutation_rate, self.selection_pressure, self.shift_rate
        numbers = self.population, self.offspring, self.start_mutations, self.iterations, self.seed
        return Individuals(*numbers, Settings(*rates, ranked, both))


def best_first_labelling(folded: Problem, deadline: Deadline) -> LabelIds | None:
    """The first labelling of depth-first search that takes the best choice for each token and turns back at hard rules, ids (T,).

    None where the time does not suffice.
    """
    try:
        search = Search(folded, Task(deadline), Discrepancy("published", branching=1_000_000))
    except OutOfTime:
        return None
    if is_forbidden(search.best):
        return None
    most = _FEW_NODES if folded.functions else _MOST_NODES
    search.most = most if deadline.remaining is None else 2**62
    search.completion = completions(folded.lattice)
    search.round(np.array([2 * FORBIDDEN, FORBIDDEN, folded.lattice.pool.shape[2]]), -1, VALUES, first=True)
    return search.incumbents.path


def evolutionary(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of all generations that keeps the hard rules."""
    parameters = parameters_of(task, Evolution)

    def begin(folded: Problem, path: LabelIds, task: Task) -> LabelIds | None:
        if parameters.start == "viterbi":
            return path
        return best_first_labelling(folded, task.deadline)

    def run(population: Population) -> str:
        run_generations(population, parameters)
        generations, valued = (int(population.counts[n]) for n in (GENERATION, VALUED))
        return f"{counted(generations, 'generation')}, {counted(valued, 'labelling')}"

    yield from population_search(problem, task, name, parameters.individuals, begin, run)


def run_generations(population: Population, parameters: Evolution) -> None:
    """Run generations until the limit of iterations or time."""
    a, most = population, LIMIT // 4
    weights = (parameters.start_weight, parameters.weight_increase)
    units = Weights(*(min(most, round(weight * UNITS_PER_NAT)) for weight in weights))
    stretches = Stretches(a, parameters.iterations)
    while stretches.begin():
        before = int(a.counts[GENERATION])
        work = 1 if a.folded.functions else stretches.work
        last = before + min(work, stretches.most - stretches.done)
        code = kernels.evolve(a.breeding, a.places, units, a.records, last)
        a.count_functions()
        generations = int(a.counts[GENERATION]) - before
        stretches.end(generations, full=code == FULL)


@dataclass(frozen=True)
class Border(Parameters):
    """Parameters of the hybrid: "strong" has the admissible and the varied search, "published" both as in Stokman 2011, section 4.2."""

    variant: str = one_of("strong", "published")
    border: int = within(60, 0, 1e9)  # tokens up to which discrepancy search is used (Stokman 2011, Table 6)
    zero: str = one_of("score", "best")  # of discrepancy search, where it is the published one
    seed: int = within(0, 0, 2**63 - 1)


def hybrid(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """Discrepancy search up to a number of tokens, else the evolutionary algorithm, each with the parameters of its variant."""
    border = parameters_of(task, Border)
    depth_first, breeding = ("published",) * 2 if border.variant == "published" else ("admissible", "varied")
    if problem.shape[0] <= border.border:
        short = replace(task, parameters=Discrepancy(depth_first, zero=border.zero))
        yield from limited_discrepancy(problem, short, f"{name}: lds")
    else:
        long = replace(task, parameters=Evolution(breeding, seed=border.seed))
        yield from evolutionary(problem, long, f"{name}: evolutionary")
