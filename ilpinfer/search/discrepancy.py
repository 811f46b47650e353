"""Limited discrepancy search with branch and bound (Stokman 2011, section 4.2.2; Harvey and Ginsberg 1995)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from formulations import constraints as C
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, LIMIT, UNITS_PER_NAT, is_forbidden
from formulations.problem.problem import Problem
from formulations.programs.loss_bounds import best_score
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.deadline import STRETCH, Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.guide import joint_symbols
from ilpinfer.exact.rule_machines import RuleMachine, pack_rule_machines, rule_machines
from ilpinfer.exact.viterbi import VITERBI, completions
from ilpinfer.kernels import discrepancy as kernels
from ilpinfer.kernels.hashing import enter
from ilpinfer.kernels.machines import joint_of
from ilpinfer.kernels.packed import chain_of, integers, small
from ilpinfer.kernels.warming import Stage, example_problem
from ilpinfer.search.completeness import complete_search
from ilpinfer.search.incumbents import Incumbents
from ilpinfer.search.parameters import Parameters, by_variant, one_of, within

_LABELLINGS = 64
"""Room for labellings in a call."""
_LARGEST_MEMO = 2_000_000


RUN_TIME = 0.8
"""Seconds that a search has where no limit is given (Stokman 2011, Table 6)."""


@dataclass(frozen=True)
class Discrepancy(Parameters):
    """Parameters of limited discrepancy search; the numbers are those of Stokman 2011, Table 6.

    Parameters
    ----------
    variant : str, optional
        "admissible": prefixes are dropped that are α·T·m^i nats in round i below the best score without the
        rules, with bounds on completions, so that nothing better is lost; "published": those whose score lies
        below a floor, α·T·m^i nats, and a labelling that is found raises it (section 4.2.2); "textbook": at
        most i choices that are not the best one, and no floor (Harvey and Ginsberg 1995).
    token_multiplier : float, optional
        Α, nats a token.
    iteration_multiplier : float, optional
        M.
    branching, branching_increase : int, optional
        B, how many choices a prefix has in the first round, and δb, how many more in each.
    zero : str, optional
        "score": the floor is compared with the score itself, as published; "best": against its distance from the
        best choice at each token, as the prose has it.
    keep_going : bool, optional
        Whether rounds continue until the deadline rather than until the first one with a labelling; true unless
        published.
    """

    variant: str = one_of("admissible", "published", "textbook")
    token_multiplier: float = within(-1.3, -math.inf, 0)
    iteration_multiplier: float = within(1.5, 1, 1e6)
    branching: int = within(3, 1, 1e6)
    branching_increase: int = within(1, 0, 1e6)
    zero: str = one_of("score", "best")
    keep_going: bool = by_variant({"admissible": True, "published": False, "textbook": True})


def run_time(deadline: Deadline) -> Deadline:
    """The deadline of a search that does not end by itself."""
    return Deadline(RUN_TIME) if deadline.limit == math.inf else deadline


def limited_discrepancy(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of rounds of depth-first search under wider and wider limits."""
    for stage in (VITERBI, DISCREPANCY):
        task.deadline.excuse(stage.warm())
    parameters = task.parameters or Discrepancy()
    assert isinstance(parameters, Discrepancy)
    task = replace(task, deadline=run_time(task.deadline))
    folded = problem.fold()
    try:
        search = Search(folded, task, parameters)
    except OutOfTime:
        yield Result(None, best_score(folded.lattice), f"{name}: no time left", VITERBI_BOUND)
        return
    if is_forbidden(search.best):
        yield Result(None, FORBIDDEN, f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    complete = search.run()
    result = search.incumbents
    method = f"{name}: {parameters.variant}, {search.rounds} rounds, {search.nodes} nodes"
    if complete:
        words = "depth-first search to the end"
        yield result.best(
            result.value, method, complete_search(problem, words, feasible=result.path is not None)
        )
    else:
        yield result.best(search.best, method)


@dataclass
class Search:
    """The rounds of a limited discrepancy search.

    Parameters
    ----------
    folded : Problem
        Local rules in its lattice.
    best
        Grid units; no labelling scores more.
    rounds, nodes : int, default 0
        Done so far.
    most : int, default 2 ** 62
        Nodes of a round, after which it ends.

    Raises
    ------
    OutOfTime
        Where the deadline passes before the first round.
    """

    folded: Problem
    task: Task
    parameters: Discrepancy
    rounds: int = 0
    nodes: int = 0
    most: int = 2**62
    incumbents: Incumbents = field(init=False)

    def __post_init__(self) -> None:
        lattice = self.folded.lattice
        ahead = completions(lattice)
        self.best = int(np.max(lattice.node[0] + ahead[0]))
        self.completion = ahead if self.parameters.variant == "admissible" else np.zeros_like(ahead)
        self.incumbents = Incumbents(self.folded, self.task)
        early, late = _machines(
            self.folded, self.task.deadline, all_early=self.parameters.variant != "published"
        )
        self.joint = joint_of(pack_rule_machines(early, lattice), joint_symbols(lattice, early))
        packed = pack_rule_machines(late, lattice)
        self.late = kernels.LateMachines(packed, small(packed.joint), small(packed.joint))
        self.shift = (
            self._shift() if self.parameters.zero == "best" else np.zeros(len(lattice.node), np.int64)
        )
        self.speed = 1e5

    def _shift(self) -> Integers:
        """(T,) the sum so far of the best score of any step to each token."""
        lattice = self.folded.lattice
        edges = lattice.edge_scores().max(axis=(1, 2))
        return np.cumsum(np.append(lattice.node[0].max(), edges))

    def run(self) -> bool:
        """Run rounds until one finds a labelling, or to the deadline; whether the best labelling is proved to be optimal."""
        parameters = self.parameters
        while not self.task.deadline.passed:
            limits, discrepancies, monotone, free = self._limits()
            cut = self.round(limits, discrepancies, monotone)
            self.rounds += 1
            if cut is None:
                return False
            known = self.incumbents.path is not None
            if not cut and (free or (known and self.incumbents.value >= self._round_floor())):
                return not self.incumbents.blind
            if free or (known and not parameters.keep_going):
                return False
        return False

    def _round_floor(self) -> int:
        """The floor of an admissible round; that of others proves nothing."""
        if self.parameters.variant != "admissible":
            return LIMIT * 4
        return self.best + self._distance()

    def _distance(self) -> int:
        """α·T·m^i in grid units, at most what scores can add up to."""
        p, T = self.parameters, len(self.folded.lattice.node)
        try:
            nats = p.token_multiplier * T * p.iteration_multiplier**self.rounds
        except OverflowError:
            nats = -math.inf
        return int(max(nats * UNITS_PER_NAT, -4 * LIMIT))

    def _limits(self) -> tuple[Integers, int, int, bool]:
        """Floors and branching factor of the next round; discrepancies; the floor that rises; and whether there is no limit."""
        p, K = self.parameters, self.folded.lattice.pool.shape[2]
        if p.variant == "textbook":
            free = self.rounds >= len(self.folded.lattice.node)
            return np.array([2 * FORBIDDEN, FORBIDDEN, K]), self.rounds, 0, free
        width, distance = min(K, p.branching + self.rounds * p.branching_increase), self._distance()
        widest = width == K and distance <= -4 * LIMIT
        known = self.incumbents.value if self.incumbents.path is not None else None
        if p.variant == "admissible":
            reach = self.best + distance if known is None else max(self.best + distance, known + 1)
            return np.array([2 * FORBIDDEN, reach, width]), -1, 2, widest
        floor = distance if known is None else max(distance, known - int(self.shift[-1]))
        return np.array([floor, FORBIDDEN, width]), -1, 1, False

    def round(
        self, limits: Integers, discrepancies: int, monotone: int, *, first: bool = False
    ) -> bool | None:
        """Run a round; whether it cut anything, None where the time is over or the first labelling suffices."""
        lattice, incumbents = self.folded.lattice, self.incumbents
        T, width = len(lattice.node), int(limits[2])
        stack = kernels.Stack(
            small(T, width),
            small(T, width),
            integers(T, width),
            integers(T, width),
            integers(T),
            np.full(T, -1),
            integers(T),
        )
        records = kernels.Records(integers(_LABELLINGS), integers(_LABELLINGS), integers(_LABELLINGS, T))
        counts = np.array([0, 0, 0, 0, incumbents.value, 0])
        chain, ahead = chain_of(lattice), kernels.Ahead(self.completion, self.shift)
        rule = discrepancies, monotone
        code = kernels.WORKED
        while code != kernels.DONE:
            if self.task.deadline.passed or counts[kernels.NODES] >= self.most:
                self.nodes += int(counts[kernels.NODES])
                return None
            began, before = self.task.deadline.elapsed, int(counts[kernels.NODES])
            worked = int(counts[kernels.WORK])
            work = min(max(1, int(STRETCH * self.speed)), self.most - before)
            code = kernels.dive(
                chain, ahead, self.joint, self.late, stack, limits, counts, records, rule, work
            )
            ended, after = self.task.deadline.elapsed, int(counts[kernels.NODES])
            done = int(counts[kernels.WORK]) - worked
            if done > 100:
                self.speed = done / max(1e-6, ended - began)
            for n in range(counts[kernels.COMPLETE]):
                share = (int(records.when[n]) - before) / max(1, after - before)
                incumbents.offer(
                    lattice.labels_of(records.paths[n]),
                    int(records.values[n]),
                    began + share * (ended - began),
                    self.best,
                )
            counts[kernels.COMPLETE] = 0
            if first and incumbents.path is not None:
                return None
            if incumbents.blind:
                counts[kernels.BEST] = incumbents.value
            if code == kernels.FULL and self.joint.memo.number[0] == len(self.joint.memo.vectors):
                self._make_room(stack, counts)
        self.nodes += int(counts[kernels.NODES])
        return bool(counts[kernels.CUT])

    def _make_room(self, stack: kernels.Stack, counts: Integers) -> None:
        """Make room for joint states; beyond a limit, remove those that are not on the stack."""
        packed, symbols, memo = self.joint
        if memo.after.size <= _LARGEST_MEMO:
            self.joint = self.joint.grown()
            return
        places = [(t, slice(0, int(stack.size[t]))) for t in range(int(counts[kernels.DEPTH]))]
        used = np.unique(np.concatenate([[0], *(stack.joint[at] for at in places)]))
        n = len(used)
        self.joint = joint_of(packed, symbols, max(64, 2 * n))
        vectors, slots, met = self.joint.memo.vectors, self.joint.memo.slots, self.joint.memo.number
        vectors[:n], met[:] = memo.vectors[used], n
        enter(slots, vectors, 0, n)
        for at in places:
            stack.joint[at] = np.searchsorted(used, stack.joint[at])


def _machines(
    folded: Problem, deadline: Deadline, *, all_early: bool
) -> tuple[list[RuleMachine], list[RuleMachine]]:
    """Machines that are evaluated on prefixes, and machines that are evaluated on whole labellings only.

    A rule is evaluated on prefixes where it may be (the set P, section 4.1): where no longer prefix can break it less,
    or, for a hard one, none can mend it. Those that count once over several machines stay together.
    """
    early, late = list[RuleMachine](), list[RuleMachine]()
    for r, rule in enumerate(folded.rules):
        if deadline.passed:
            raise OutOfTime
        testable = all(
            m.automaton.partial == "exact" or (rule.hard and bool(m.automaton.partial)) for m in rule.machines
        )
        machines = [machine for group in rule_machines(rule, r) for machine in group]
        (early if all_early or testable else late).extend(machines)
    return early, late


def _example() -> None:
    problem = example_problem(C.at_most_runs("0", 1, penalty=1))
    Search(problem, Task(Deadline()), Discrepancy()).run()


DISCREPANCY = Stage("discrepancy", "limited discrepancy search", _example)
