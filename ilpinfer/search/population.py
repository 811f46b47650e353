"""Individuals of the evolutionary algorithm and their values."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from formulations.dtypes import Booleans, Integers, Small
from formulations.grid import FORBIDDEN, LIMIT, UNITS_PER_NAT
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime, check
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Task
from ilpinfer.exact.ground import joint_symbols, pack_problem
from ilpinfer.kernels.joint_states import joint_of
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.packing import chain_of
from ilpinfer.kernels.tables import Rules, integers, small
from ilpinfer.search.incumbents import Incumbents
from ilpinfer.search.parameters import Parameters, by_variant, one_of, within

_LARGEST_MEMO = 4_000_000
DONE, FULL = range(2)
"""Why `evolve` has stopped: all generations are done, or there is no room for joint states or for labellings."""
SPARE = 4
"""Free joint states for each token that a kernel needs to continue."""
GENERATION, VALUED, FOUND, BEST = range(4)
"""Places among the counts: generations and valuations so far, labellings recorded, best value."""


class IndividualArrays(NamedTuple):
    """Labels, joint states, values and hard violations up to each token (N, T), and the last two in all (N,)."""

    label: Small
    joint: Small
    worth: Integers
    broken: Integers
    total: Integers
    breaks: Integers


class Slots(NamedTuple):
    """Numbers of the individuals of the population (μ,), and free numbers (λ,)."""

    living: Integers
    free: Integers


class Settings(NamedTuple):
    """Mutation rate β, selection pressure s, shift rate ω; whether parents are ranked, and borders shift both ways."""

    rate: float
    pressure: float
    shift: float
    ranked: bool
    both: bool


class PenaltyGrowth(NamedTuple):
    """Weight of a hard violation at the start, grid units, and its growth each generation (eq. 67)."""

    start: int
    increase: int


class BestIndividuals(NamedTuple):
    """Values (N,), valuations so far (N,) and labels (N, T) of labellings that keep the hard rules."""

    values: Integers
    when: Integers
    paths: Small


class Runs(NamedTuple):
    """The scheme of the labels, in which whole runs change.

    `joins` (K, K) is true where a step stays in the same run; `forms` (K, 6) are the labels of a run of the field of each label.
    """

    joins: Booleans
    forms: Integers


@dataclass(frozen=True)
class Evolution(Parameters):
    """Parameters of the evolutionary algorithm; the defaults are from Stokman 2011, Tables 5 and 6.

    "varied" has ranked parents, borders that move both ways, and starts from Viterbi's labelling; "published" has uniform
    parents, borders that move backwards, and starts from the best-first labelling. Each can be given by itself, too.
    """

    variant: str = one_of("varied", "published")
    population: int = within(30, 1, 100_000)  # μ
    offspring: int = within(30, 1, 100_000)  # λ
    mutation_rate: float = within(0.25, 0, 1)  # β, of each offspring
    shift_rate: float = within(0.9, 0, 1)  # ω, how often a mutation shifts a border, not a label
    selection_pressure: float = within(1.5, 1, 2)  # s of the linear ranking (eq. 66)
    start_weight: float = within(2.0, 0, 1e6)  # γs, nats a hard violation
    weight_increase: float = within(1.0, 0, 1e6)  # γδ, and more each generation (eq. 67)
    parents: str = by_variant({"varied": "ranked", "published": "uniform"}, one_of("uniform", "ranked"))
    shift: str = by_variant({"varied": "both", "published": "backwards"}, one_of("backwards", "both"))
    start: str = by_variant({"varied": "viterbi", "published": "best-first"}, one_of("best-first", "viterbi"))
    start_mutations: int = within(3, 0, 1e6)  # by which all first individuals but one differ from the start
    iterations: int = within(0, 0, 1e12)  # generations at most; 0 for as many as time allows
    seed: int = within(0, 0, 2**63 - 1)


@dataclass
class Population:
    """The individuals of a search, with the arrays of its kernels; OutOfTime where the deadline passes meanwhile."""

    folded: Problem
    task: Task
    parameters: Evolution
    start: Integers  # label ids (T,) of the first one
    bound: int  # grid units; no labelling is worth more
    incumbents: Incumbents = field(init=False)

    def __post_init__(self) -> None:
        lattice, p = self.folded.lattice, self.parameters
        T, mu, lam = len(lattice.node), p.population, p.offspring
        rates = p.mutation_rate, p.selection_pressure, p.shift_rate
        self.settings = Settings(*rates, p.parents == "ranked", p.shift == "both")
        instance, tokens = pack_problem(self.folded)
        self.incumbents = Incumbents(self.folded, self.task)
        chain = chain_of(lattice)
        self.scores = chain._replace(pool=_never_empty(chain.pool), step=_never_empty(chain.step))
        rules = Rules(instance.machines, tokens.classes)
        symbols = joint_symbols(instance, tokens.classes)
        self.machines = joint_of(rules, symbols, 1024 + 8 * T, counting=True)
        N = mu + lam
        tables = small(N, T), small(N, T), integers(N, T), integers(N, T)
        self.arrays = IndividualArrays(*tables, integers(N), integers(N))
        self.places = Slots(np.arange(mu), np.arange(mu, N))
        self.seed = np.array([p.seed], np.uint64)
        self.runs = Runs(self.folded.labels.joins, self.folded.labels.run_forms)
        room = 64 + lam
        self.records = BestIndividuals(integers(room), integers(room), small(room, T))
        self.counts = np.array([0, 0, 0, FORBIDDEN])
        self._counted: dict[bytes, tuple[int, int]] = {}  # cost and hard violations of Python functions
        self._begin()

    @property
    def breeding(self) -> tuple[Any, ...]:
        """The individuals and how they change, as kernels read them."""
        state = self.scores, self.machines, self.arrays, self.seed, self.runs
        return *state, self.settings, self.counts

    def _begin(self) -> None:
        """Create the first individuals; past the deadline, only one."""
        p = self.parameters
        mu = 1 if self.task.deadline.passed else p.population
        self.arrays[0][0] = self.start
        while not kernels.begin_population(self.breeding, mu, p.start_mutations):
            self.make_room()
        label, _, _, _, total, breaks = self.arrays
        kept = [n for n in range(mu) if not breaks[n]]
        if kept:
            best = max(kept, key=lambda n: total[n])
            self.counts[BEST] = total[best]
            path = label[best].astype(np.int64)
            self.incumbents.offer(path, int(total[best]), self.task.deadline.elapsed, self.bound)

    def run(self) -> None:
        """Run generations up to their limit or the deadline, by calls of the kernel of a few milliseconds each."""
        p, deadline, most = self.parameters, self.task.deadline, LIMIT // 4
        weights = (p.start_weight, p.weight_increase)
        units = PenaltyGrowth(*(min(most, round(weight * UNITS_PER_NAT)) for weight in weights))
        last, speed = p.iterations or 2**62, 100.0
        while (before := int(self.counts[GENERATION])) < last and not deadline.passed:
            began, valued = deadline.elapsed, int(self.counts[VALUED])
            work = 1 if self.folded.functions else max(1, int(speed * STRETCH))
            code = kernels.evolve(self.breeding, self.places, units, self.records, min(last, before + work))
            self.count_functions()
            done = int(self.counts[GENERATION]) - before
            speed = max(1.0, done / max(1e-6, deadline.elapsed - began))
            self.record(began, valued)
            if code == FULL and not done:
                with suppress(OutOfTime):  # which the loop sees
                    self.make_room()

    def record(self, began: float, before: int) -> None:
        """Record the labellings of a stretch, given the second and the number of valuations at which it began."""
        ended, valued = self.task.deadline.elapsed, max(1, int(self.counts[VALUED]) - before)
        values, when, paths = self.records
        for n in range(self.counts[FOUND]):
            seconds = began + (when[n] - before) / valued * (ended - began)
            self.incumbents.offer(paths[n].astype(np.int64), int(values[n]), seconds, self.bound)
        self.counts[FOUND] = 0

    def count_functions(self) -> None:
        """Charge the living individuals for what Python functions count, once a labelling, and offer them."""
        if not self.folded.functions:
            return
        label, joint, worth, broken, total, breaks = self.arrays
        for who in self.places[0].tolist():
            path = label[who].astype(np.int64)
            key = path.tobytes()
            if key not in self._counted:
                counts = [(rule, rule.violations(path)) for rule in self.folded.functions]
                hard = sum(count for rule, count in counts if rule.hard)
                self._counted[key] = sum(rule.finite_penalty * count for rule, count in counts), hard
            cost, hard = self._counted[key]
            end, more = self.machines.memo.end[joint[who, -1]].tolist()
            total[who], breaks[who] = worth[who, -1] - end - cost, broken[who, -1] + more + hard
            if not breaks[who] and total[who] > self.incumbents.value:
                self.incumbents.offer(path, int(total[who]), self.task.deadline.elapsed, self.bound)

    def make_room(self) -> None:
        """Make room for joint states, and evaluate all individuals again; OutOfTime where a time limit passes meanwhile."""
        n, moves = self.machines.memo.after.shape
        larger = 4 * n if 4 * n * moves <= _LARGEST_MEMO else n
        while not self._fits(larger):
            larger *= 2

    def _fits(self, n: int) -> bool:
        """Evaluate all individuals with room for n joint states; whether enough room is left for offspring."""
        self.machines = joint_of(self.machines.rules, self.machines.symbols, n, counting=True)
        T, lam = self.arrays[0].shape[1], len(self.places[1])
        for who in self.places[0].tolist():
            check()
            self.arrays[1][who] = -1
            if not kernels.value_individual(self.breeding, who, 0, T):
                return False
        return bool(int(self.machines.memo.number[0]) + (lam + SPARE) * T <= n)


def _never_empty(array: Integers) -> Integers:
    """The array, with an entry where it is empty, as kernels may read its first entry."""
    return array if len(array) else np.zeros((1, *array.shape[1:]), np.int64)
