"""Individuals and their values, for evolution, annealing, tabu search and repair."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from formulations import constraints as C
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.guide import joint_symbols
from ilpinfer.exact.rule_machines import RuleMachine, pack_rule_machines, rule_machines
from ilpinfer.exact.viterbi import VITERBI, viterbi
from ilpinfer.kernels import evolution as kernels
from ilpinfer.kernels.machines import Joint, Memo, memo_of
from ilpinfer.kernels.packed import chain_of, integers, small
from ilpinfer.kernels.runs import Runs
from ilpinfer.kernels.warming import Stage, example_problem
from ilpinfer.search.discrepancy import DISCREPANCY, run_time
from ilpinfer.search.incumbents import Incumbents

_LARGEST_MEMO = 4_000_000
_SETTINGS = kernels.Settings(0.25, 1.5, 0.9, False, False)


@dataclass(frozen=True)
class Individuals:
    """Numbers of individuals, and the settings of their mutations.

    Parameters
    ----------
    size, offspring : int, default 1
        Number of individuals, and of places for offspring.
    mutations : int, default 0
        Mutations of the first individual, for each of the others.
    iterations : int, default 0
        Iterations at most; 0 for as many as time allows.
    seed : int, default 0
        Seed of the random numbers.
    settings : Settings, default _SETTINGS
        Settings of mutations and selection.
    """

    size: int = 1
    offspring: int = 1
    mutations: int = 0
    iterations: int = 0
    seed: int = 0
    settings: kernels.Settings = _SETTINGS


def population_search(
    problem: Problem,
    task: Task,
    name: str,
    stages: Iterable[Stage],
    individuals: Individuals,
    begin: Callable[[Problem, LabelIds, Task], LabelIds | None],
    run: "Callable[[Population], str]",
) -> Iterator[Result]:
    """The best labelling of a search over individuals.

    Parameters
    ----------
    stages : iterable of Stage
        Stages of the kernels that it needs beside those that all need.
    individuals : Individuals
        Numbers and settings of individuals; without a number of iterations, the time is limited.
    begin : callable
        The first of them, from the folded problem and Viterbi's labelling; None where it is not there in
        time.
    run : callable
        The search; returns a text on its steps.
    """
    for stage in (VITERBI, DISCREPANCY, POPULATION, *stages):
        task.deadline.excuse(stage.warm())
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
    """The individuals of a search, with the arrays of its kernels.

    Parameters
    ----------
    folded : Problem
        Local rules in its lattice.
    start : ndarray of int
        Label ids (T,) of the first individual.
    bound : int
        Grid units; no labelling is worth more.

    Raises
    ------
    OutOfTime
        Where the deadline passes before the machines of the rules are at hand.
    """

    folded: Problem
    task: Task
    individuals: Individuals
    start: Integers
    bound: int
    incumbents: Incumbents = field(init=False)

    def __post_init__(self) -> None:
        lattice, p = self.folded.lattice, self.individuals
        T, mu, lam = len(lattice.node), p.size, p.offspring
        machines = self._machines_of_rules()
        self.incumbents = Incumbents(self.folded, self.task)
        chain = chain_of(lattice)
        self.scores = chain._replace(pool=_never_empty(chain.pool), step=_never_empty(chain.step))
        self.packed, self.symbols = pack_rule_machines(machines, lattice), joint_symbols(lattice, machines)
        self.memo = self._memo(1024 + 8 * T)
        N = mu + lam
        self.arrays = kernels.IndividualArrays(
            small(N, T), small(N, T), integers(N, T), integers(N, T), integers(N), integers(N)
        )
        self.places = kernels.Places(np.arange(mu), np.arange(mu, N))
        self.seed = np.array([p.seed], np.uint64)
        self.runs = Runs(self.folded.labels.joins, self.folded.labels.run_forms)
        room = 64 + lam
        self.records = kernels.Records(integers(room), integers(room), small(room, T))
        self.counts = np.array([0, 0, 0, FORBIDDEN])

    def _machines_of_rules(self) -> list[RuleMachine]:
        result: list[RuleMachine] = []
        for r, rule in enumerate(self.folded.rules):
            if self.task.deadline.passed:
                raise OutOfTime
            result += [machine for group in rule_machines(rule, r) for machine in group]
        return result

    def _memo(self, n: int) -> Memo:
        """Room for n joint states, with their hard violations."""
        return memo_of(self.packed, self.symbols, n, counting=True)

    @property
    def machines(self) -> Joint:
        """The machines of the rules, for kernels."""
        return Joint(self.packed, self.symbols, self.memo)

    def begin(self) -> None:
        """Create the first individuals; past the deadline, only one."""
        p = self.individuals
        mu = 1 if self.task.deadline.passed else p.size
        self.arrays[0][0] = self.start
        more = p.mutations, self.seed, self.runs, p.settings, self.counts
        while not kernels.begin(self.scores, self.machines, self.arrays, mu, *more):
            self.make_room()
        label, _, _, _, total, breaks = self.arrays
        kept = [n for n in range(mu) if not breaks[n]]
        if kept:
            best = max(kept, key=lambda n: total[n])
            self.counts[kernels.BEST] = total[best]
            path = label[best].astype(np.int64)
            self.incumbents.offer(path, int(total[best]), self.task.deadline.elapsed, self.bound)

    def record(self, began: float, before: int) -> None:
        """Record the labellings of a stretch that began at a second, after so many valuations."""
        ended, valued = self.task.deadline.elapsed, max(1, int(self.counts[kernels.VALUED]) - before)
        values, when, paths = self.records
        for n in range(self.counts[kernels.FOUND]):
            seconds = began + (when[n] - before) / valued * (ended - began)
            self.incumbents.offer(paths[n].astype(np.int64), int(values[n]), seconds, self.bound)
        self.counts[kernels.FOUND] = 0

    def make_room(self) -> None:
        """Make room for joint states, and evaluate all individuals again."""
        n = len(self.memo.vectors)
        larger = 4 * n if 4 * self.memo.after.size <= _LARGEST_MEMO else n
        while not self._fits(larger):
            larger *= 2

    def _fits(self, n: int) -> bool:
        """Evaluate all individuals with room for n joint states; whether enough room is left for offspring."""
        self.memo = self._memo(n)
        T, lam = self.arrays[0].shape[1], len(self.places[1])
        for who in self.places[0].tolist():
            self.arrays[1][who] = -1
            if not kernels.value(self.scores, self.machines, self.arrays, who, 0, T, self.counts):
                return False
        return bool(int(self.memo.number[0]) + (lam + kernels.SPARE) * T <= n)


def _never_empty(array: Integers) -> Integers:
    """The array, with an entry where it is empty, as kernels may read its first entry."""
    return array if len(array) else np.zeros((1, *array.shape[1:]), np.int64)


def example(individuals: Individuals) -> Population:
    """A population on the example problem."""
    problem = example_problem(C.at_most_runs("0", 1, penalty=1))
    return Population(problem, Task(Deadline()), individuals, np.zeros(3, np.int64), 0)


def _example() -> None:
    population = example(Individuals())
    population.begin()
    population.make_room()


POPULATION = Stage("population", "labellings that a search changes", _example)
