"""Limited discrepancy search with branch and bound (Stokman 2011, section 4.2.2; Harvey and Ginsberg 1995)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from formulations import time_limits
from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, LIMIT, UNITS_PER_NAT, is_forbidden
from formulations.messages import counted
from formulations.problem.problem import GroundRule, Problem
from formulations.programs.loss_bounds import best_score
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.deadline import STRETCH, Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.ground import joint_symbols, pack_problem
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.exact.viterbi import completions
from ilpinfer.kernels.joint_states import Joint, joint_of, vector_size
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.packing import chain_of
from ilpinfer.kernels.tables import Chain, Rules, integers, small
from ilpinfer.search.extension import Extension, blind
from ilpinfer.search.incumbents import Incumbents, complete_search
from ilpinfer.search.parameters import Parameters, by_variant, one_of, parameters_of, within

_LABELLINGS = 64  # for which there is room in a call
_LARGEST_MEMO = 2_000_000
RUN_TIME = 0.8  # seconds that a search has where no limit is given (Stokman 2011, Table 6)


DONE, WORKED, FULL = range(3)
"""Why `dive` has stopped: the search is complete, the work is done, or there is no room for joint states or labellings."""
NOTHING, VALUES, REACHES = range(3)
"""The floor that a labelling raises: that of values, or that of values with the best score after them."""
DEPTH, NODES, COMPLETE, CUT, BEST, WORK = range(6)
"""Places among the counts: token whose choices are tried, nodes expanded, labellings recorded, whether the branching
factor or the discrepancies cut anything, the best value, and work done in nodes."""


class Improvements(NamedTuple):
    """Values (N,), nodes expanded before (N,) and states (N, T) of labellings, each better than the one before."""

    values: Integers
    when: Integers
    paths: Integers


class Dive(NamedTuple):
    """A round, as far as it has gone."""

    chain: Chain
    completion: Integers  # (T, S) best score after a state
    shift: Integers  # (T,) what is subtracted from values to compare them with their floor
    joint: Joint
    late: Rules  # machines that are evaluated on whole labellings only
    kept: Small  # work space for two of their joint states
    vector: Small
    choices: Integers  # (T, W, 4) for each token, best first: state, joint state, value, and what they are ordered by
    tokens: Integers  # (T, 3) numbers of choices, the next choice, and discrepancies of the prefix
    limits: Integers  # (3,) floors of values and of those with the best score after them, and number of choices kept
    counts: Integers  # (6,) see `DEPTH`
    records: Improvements
    discrepancies: int  # their largest number, -1 for no limit
    raised: int  # see `NOTHING`


@dataclass(frozen=True)
class Discrepancy(Parameters):
    """Parameters of limited discrepancy search; the defaults are from Stokman 2011, Table 6.

    "admissible" drops prefixes that are α·T·m^i nats in round i below the best score without the rules, with bounds on
    completions, so that nothing better is lost; "published" drops those whose score lies below a floor, α·T·m^i nats, and
    a labelling that is found raises it (section 4.2.2); "textbook" makes at most i choices that are not the best one, and
    has no floor (Harvey and Ginsberg 1995).
    """

    variant: str = one_of("admissible", "published", "textbook")
    token_multiplier: float = within(-1.3, -math.inf, 0)  # α, nats a token
    iteration_multiplier: float = within(1.5, 1, 1e6)  # m
    branching: int = within(3, 1, 1e6)  # b, how many choices a prefix has in the first round
    branching_increase: int = within(1, 0, 1e6)  # δb, and how many more in each
    zero: str = one_of("score", "best")  # what has a floor: the score, or its distance from the best choices
    # Whether it goes on after a labelling.
    keep_going: bool = by_variant({"admissible": True, "published": False, "textbook": True})


def run_time(deadline: Deadline) -> Deadline:
    """The deadline of a search that does not end by itself."""
    return Deadline(RUN_TIME) if deadline.limit == math.inf else deadline


def limited_discrepancy(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labelling of rounds of depth-first search under growing limits."""
    parameters = parameters_of(task, Discrepancy)
    task = replace(task, deadline=run_time(task.deadline))
    folded = problem.fold()
    try:
        search = DiscrepancySearch(folded, task, parameters)
    except OutOfTime:
        yield Result(None, best_score(folded.lattice), f"{name}: no time left", VITERBI_BOUND)
        return
    if is_forbidden(search.best):
        yield Result(None, FORBIDDEN, f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    complete, result = search.run(), search.incumbents
    method = (
        f"{name}: {parameters.variant}, {counted(search.rounds, 'round')}, {counted(search.nodes, 'node')}"
    )
    if complete:
        proof = complete_search(problem, "depth-first search to the end", feasible=result.path is not None)
        yield result.best(result.value, method, proof)
    else:
        yield result.best(search.best, method)


@dataclass
class DiscrepancySearch:
    """The rounds of a limited discrepancy search; OutOfTime where the deadline passes before the first one."""

    folded: Problem
    task: Task
    parameters: Discrepancy
    rounds: int = 0
    nodes: int = 0
    most: int = 2**62  # nodes of a round
    incumbents: Incumbents = field(init=False)

    def __post_init__(self) -> None:
        lattice = self.folded.lattice
        ahead = completions(lattice)
        self.best = int(np.max(lattice.node[0] + ahead[0]))
        self.completion = ahead if self.parameters.variant == "admissible" else np.zeros_like(ahead)
        self.incumbents = Incumbents(self.folded, self.task)
        early, late = _apart(self.folded, all_early=self.parameters.variant != "published")
        self.early, self.later = early, late
        (one, tokens), (other, later) = pack_problem(early), pack_problem(late)
        rules = Rules(one.machines, tokens.classes)
        self.chain, self.joint = chain_of(lattice), joint_of(rules, joint_symbols(one, tokens.classes))
        rules = Rules(other.machines, later.classes)
        self.late = rules, small(vector_size(rules)), small(vector_size(rules))
        self.shift = self._shift() if self.parameters.zero == "best" else integers(len(lattice.node))
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
            limits, discrepancies, raised, free = self._limits()
            cut = self.round(limits, discrepancies, raised)
            self.rounds += 1
            if cut is None:
                return False
            known = self.incumbents.path is not None
            if not cut and (free or (known and self.incumbents.value >= self._round_floor())):
                return not blind(self.folded)
            if free or (known and not parameters.keep_going):
                return False
        return False

    def _round_floor(self) -> int:
        """The floor of an admissible round; the floors of other rounds prove nothing."""
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
            return np.array([2 * FORBIDDEN, FORBIDDEN, K]), self.rounds, NOTHING, free
        width, distance = min(K, p.branching + self.rounds * p.branching_increase), self._distance()
        widest = width == K and distance <= -4 * LIMIT
        known = self.incumbents.value if self.incumbents.path is not None else None
        if p.variant == "admissible":
            reach = self.best + distance if known is None else max(self.best + distance, known + 1)
            return np.array([2 * FORBIDDEN, reach, width]), -1, REACHES, widest
        floor = distance if known is None else max(distance, known - int(self.shift[-1]))
        return np.array([floor, FORBIDDEN, width]), -1, VALUES, False

    def round(self, limits: Integers, discrepancies: int, raised: int, *, first: bool = False) -> bool | None:
        """Run a round; whether it cut anything, None where the time is over or the first labelling suffices."""
        if self.folded.functions:
            return self._with_functions(limits.tolist(), discrepancies, raised, first=first)
        lattice, incumbents = self.folded.lattice, self.incumbents
        T, width = len(lattice.node), int(limits[2])
        stack = integers(T, width, 4), np.tile([0, -1, 0], (T, 1))
        records = Improvements(integers(_LABELLINGS), integers(_LABELLINGS), integers(_LABELLINGS, T))
        counts = np.array([0, 0, 0, 0, incumbents.value, 0])
        given = self.chain, self.completion, self.shift, self.joint, *self.late, *stack
        dive = Dive(*given, limits, counts, records, discrepancies, raised)
        code = WORKED
        while code != DONE:
            if self.task.deadline.passed or counts[NODES] >= self.most:
                self.nodes += int(counts[NODES])
                return None
            began, before = self.task.deadline.elapsed, int(counts[NODES])
            worked = int(counts[WORK])
            work = min(max(1, int(STRETCH * self.speed)), self.most - before)
            code = kernels.dive(dive, work)
            ended, after = self.task.deadline.elapsed, int(counts[NODES])
            done = int(counts[WORK]) - worked
            if done > 100:
                self.speed = done / max(1e-6, ended - began)
            for n in range(counts[COMPLETE]):
                share = (int(records.when[n]) - before) / max(1, after - before)
                path, seconds = lattice.labels_of(records.paths[n]), began + share * (ended - began)
                incumbents.offer(path, int(records.values[n]), seconds, self.best)
            counts[COMPLETE] = 0
            if first and incumbents.path is not None:
                return None
            if incumbents.blind:
                counts[BEST] = incumbents.value
            if code == FULL and self.joint.memo.number[0] == len(self.joint.memo.vectors):
                self._make_room(dive)
                dive = dive._replace(joint=self.joint)
        self.nodes += int(counts[NODES])
        return bool(counts[CUT])

    def _with_functions(
        self, limits: list[int], discrepancies: int, raised: int, *, first: bool
    ) -> bool | None:
        """As `round`, under rules that are Python functions, which see each prefix, and `late` rules whole labellings."""
        floor, reach, width = limits
        relaxation = Relaxation(*pack_problem(self.early), {})
        relaxation.expect(self.completion)
        extension = Extension(self.early, relaxation, self.task.deadline)
        T, cut, before = len(self.shift), False, self.nodes
        waiting = [
            (extension.root, 0)
        ]  # prefixes with the choices in them that were not the best, the next one last
        while waiting:
            prefix, spent = waiting.pop()
            t = len(prefix.path)
            if t and prefix.reach - prefix.cost < reach:
                continue
            if t == T:
                value = self.folded.value(prefix.path).score if self.later.rules else prefix.worth
                if value <= self.incumbents.value:
                    continue
                self.incumbents.offer(prefix.path, value, self.task.deadline.elapsed, self.best)
                if first and self.incumbents.path is not None:
                    return None
                floor = max(floor, value - int(self.shift[-1])) if raised == VALUES else floor
                reach = max(reach, value + 1) if raised == REACHES else reach
                continue
            if self.nodes - before >= self.most:
                return None
            self.nodes += 1
            try:
                found = list(extension.children(prefix))
            except OutOfTime:
                return None
            choices = []
            for child in found:
                could = child.reach - child.cost
                if child.worth - int(self.shift[t]) >= floor and could >= reach:
                    choices.append((could if reach > FORBIDDEN // 2 else child.worth, child))
            choices.sort(key=lambda choice: -choice[0])
            kept = [(child, spent + (n > 0)) for n, (_, child) in enumerate(choices[:width])]
            allowed = [each for each in kept if discrepancies < 0 or each[1] <= discrepancies]
            cut |= len(choices) > len(allowed)
            waiting += reversed(allowed)
        return cut

    def _make_room(self, dive: Dive) -> None:
        """Make room for joint states; beyond a limit, remove those that are not on the stack."""
        rules, symbols, memo = self.joint
        if memo.after.size <= _LARGEST_MEMO:
            self.joint = self.joint.grown()
            return
        joints = [dive.choices[t, : dive.tokens[t, 0], 1] for t in range(int(dive.counts[DEPTH]))]
        used = np.unique(np.concatenate([[0], *joints]))
        n = len(used)
        self.joint = joint_of(rules, symbols, max(64, 2 * n))
        vectors, slots, met = self.joint.memo.vectors, self.joint.memo.slots, self.joint.memo.number
        vectors[:n], met[:] = memo.vectors[used], n
        kernels.enter_rows(slots, vectors, 0, n)
        for each in joints:
            each[:] = np.searchsorted(used, each)


def _apart(folded: Problem, *, all_early: bool) -> tuple[Problem, Problem]:
    """The problem with the rules that may be evaluated on prefixes (the set P, section 4.1), and that with the others."""
    early, late = list[GroundRule](), list[GroundRule]()
    for rule in folded.rules:
        time_limits.check()
        kinds = {m.automaton.partial for m in rule.machines}
        testable = "" not in kinds if rule.hard else kinds <= {"exact"}
        (early if all_early or testable else late).append(rule)
    return replace(folded, rules=tuple(early)), replace(folded, rules=tuple(late))
