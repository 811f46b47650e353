"""Individuals of the evolutionary algorithm and their values."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from formulations.dtypes import Booleans, Integers, LabelIds, Small
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime, check
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.deadline import STRETCH
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.ground import joint_symbols, pack_problem
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.kernels.joint_states import joint_of
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.packing import chain_of
from ilpinfer.kernels.tables import Rules, integers, small
from ilpinfer.search.discrepancy import run_time
from ilpinfer.search.incumbents import Incumbents

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


class Places(NamedTuple):
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


class Weights(NamedTuple):
    """Weight of a hard violation at the start, grid units, and its growth each generation (eq. 67)."""

    start: int
    increase: int


class Records(NamedTuple):
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


_SETTINGS = Settings(0.25, 1.5, 0.9, False, False)


@dataclass(frozen=True)
class Individuals:
    """Numbers of individuals, and the settings of their mutations."""

    size: int = 1
    offspring: int = 1  # places for them
    mutations: int = 0  # of the first individual, for each of the others
    iterations: int = 0  # at most; 0 for as many as time allows
    seed: int = 0
    settings: Settings = _SETTINGS


def population_search(
    problem: Problem,
    task: Task,
    name: str,
    individuals: Individuals,
    begin: Callable[[Problem, LabelIds, Task], LabelIds | None],
    run: "Callable[[Population], str]",
) -> Iterator[Result]:
    """The best labelling of a search over individuals, which `begin` makes and `run` changes, with a text on its steps."""
    folded = problem.fold()
    bound, path = viterbi(folded.lattice)
    if is_forbidden(bound):
        yield Result(None, FORBIDDEN, f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    if not individuals.iterations:
        task = replace(task, deadline=run_time(task.deadline))
    first: LabelIds | None = None
    try:
        first = begin(folded, path, task)
        if first is None:
            yield Result(None, bound, f"{name}: no first labelling in time", VITERBI_BOUND)
            return
        population = Population(folded, task, individuals, first, bound)
    except OutOfTime:
        kept = None if first is None or not folded.value(first).feasible else first
        yield Result(kept, bound, f"{name}: no time left", VITERBI_BOUND)
        return
    done = run(population)
    yield population.incumbents.best(bound, f"{name}: {done}")


@dataclass
class Population:
    """The individuals of a search, with the arrays of its kernels; OutOfTime where the deadline passes meanwhile."""

    folded: Problem
    task: Task
    individuals: Individuals
    start: Integers  # label ids (T,) of the first one
    bound: int  # grid units; no labelling is worth more
    incumbents: Incumbents = field(init=False)

    def __post_init__(self) -> None:
        lattice, p = self.folded.lattice, self.individuals
        T, mu, lam = len(lattice.node), p.size, p.offspring
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
        self.places = Places(np.arange(mu), np.arange(mu, N))
        self.seed = np.array([p.seed], np.uint64)
        self.runs = Runs(self.folded.labels.joins, self.folded.labels.run_forms)
        room = 64 + lam
        self.records = Records(integers(room), integers(room), small(room, T))
        self.counts = np.array([0, 0, 0, FORBIDDEN])
        self._counted: dict[bytes, tuple[int, int]] = {}  # cost and hard violations of Python functions
        self._begin()

    @property
    def breeding(self) -> tuple[Any, ...]:
        """The individuals and how they change, as kernels read them."""
        state = self.scores, self.machines, self.arrays, self.seed, self.runs
        return *state, self.individuals.settings, self.counts

    def _begin(self) -> None:
        """Create the first individuals; past the deadline, only one."""
        p = self.individuals
        mu = 1 if self.task.deadline.passed else p.size
        self.arrays[0][0] = self.start
        while not kernels.begin_population(self.breeding, mu, p.mutations):
            self.make_room()
        label, _, _, _, total, breaks = self.arrays
        kept = [n for n in range(mu) if not breaks[n]]
        if kept:
            best = max(kept, key=lambda n: total[n])
            self.counts[BEST] = total[best]
            path = label[best].astype(np.int64)
            self.incumbents.offer(path, int(total[best]), self.task.deadline.elapsed, self.bound)

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


class Stretches:
    """Calls of a kernel for a few milliseconds each, up to a number of steps, 0 for any, or to the deadline."""

    def __init__(self, population: Population, most: int) -> None:
        self.population, self.most, self.speed = population, most or 2**62, 100.0
        self.done = self.work = self._valued = 0
        self.began = 0.0

    def begin(self) -> bool:
        """Begin a stretch, unless all steps are done or the deadline has passed."""
        deadline = self.population.task.deadline
        if self.done >= self.most or deadline.passed:
            return False
        self.work = max(1, int(self.speed * STRETCH))
        self._valued = int(self.population.counts[VALUED])
        self.began = deadline.elapsed
        return True

    def end(self, steps: int, *, full: bool) -> None:
        """Record what a stretch has done; `full` where the kernel had no room for more."""
        seconds = self.population.task.deadline.elapsed - self.began
        self.done, self.speed = self.done + steps, max(1.0, steps / max(1e-6, seconds))
        self.population.record(self.began, self._valued)
        if full and not steps:
            with suppress(OutOfTime):  # which `begin` sees
                self.population.make_room()


def _never_empty(array: Integers) -> Integers:
    """The array, with an entry where it is empty, as kernels may read its first entry."""
    return array if len(array) else np.zeros((1, *array.shape[1:]), np.int64)
