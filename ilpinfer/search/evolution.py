"""The evolutionary algorithm of Stokman 2011, section 4.2.3, and the hybrid with discrepancy search, section 4.2."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from formulations.dtypes import LabelIds
from formulations.grid import LIMIT, UNITS_PER_NAT
from formulations.messages import counted
from formulations.problem.problem import Problem
from ilpinfer.core.result import Result, Task
from ilpinfer.kernels import evolution as kernels
from ilpinfer.search.best_first import best_first_labelling
from ilpinfer.search.discrepancy import Discrepancy, limited_discrepancy
from ilpinfer.search.parameters import Parameters, by_variant, one_of, parameters_of, within
from ilpinfer.search.population import Individuals, Population, Stretches, population_search


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
        return Individuals(*numbers, kernels.Settings(*rates, ranked, both))


def evolutionary(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of all generations that keeps the hard rules."""
    parameters = parameters_of(task, Evolution)

    def begin(folded: Problem, path: LabelIds, task: Task) -> LabelIds | None:
        if parameters.start == "viterbi":
            return path
        return best_first_labelling(folded, task.deadline, share=1)

    def run(population: Population) -> str:
        run_generations(population, parameters)
        generations, valued = (int(population.counts[n]) for n in (kernels.GENERATION, kernels.VALUED))
        return f"{counted(generations, 'generation')}, {counted(valued, 'labelling')}"

    yield from population_search(problem, task, name, parameters.individuals, begin, run)


def run_generations(population: Population, parameters: Evolution) -> None:
    """Run generations until the limit of iterations or time."""
    a, most = population, LIMIT // 4
    weights = (parameters.start_weight, parameters.weight_increase)
    units = kernels.Weights(*(min(most, round(weight * UNITS_PER_NAT)) for weight in weights))
    stretches = Stretches(a, parameters.iterations, speed=100.0)
    while stretches.begin():
        before = int(a.counts[kernels.GENERATION])
        work = 1 if a.folded.functions else stretches.work
        last = before + min(work, stretches.most - stretches.done)
        state = a.scores, a.machines, a.arrays, a.places, a.seed, a.runs
        code = kernels.evolve(*state, a.individuals.settings, units, a.records, a.counts, last)
        a.count_functions()
        generations = int(a.counts[kernels.GENERATION]) - before
        stretches.end(generations, generations, full=code == kernels.FULL)


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
