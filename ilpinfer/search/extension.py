"""Prefixes under rules that are Python functions, extended by one label at a time: kernels read machines, and functions count."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.automata.components import FunctionCount
from formulations.dtypes import Integers, LabelIds, Small
from formulations.grid import is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.ground import ground
from ilpinfer.kernels.joint_states import vector_size
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import integers, small


class Beam(NamedTuple):
    """Prefixes, W of them at most, as kernels extend them."""

    score: Integers  # (W,)
    states: Small  # (W, J+1) the joint state of the machines, then the state of the lattice
    nodes: Small  # (T, W) the states of the prefixes of each token
    parents: Small  # (T, W)
    size: Integers  # (1,) number of prefixes
    left_out: Integers  # (1,) an upper bound on the labellings of all prefixes that were dropped


class Prefix(NamedTuple):
    """Labels, joint state of the machines and then state of the lattice, score by both, and what each function counts so far."""

    path: LabelIds
    states: Small
    score: int
    cost: int  # of the functions, grid units
    counts: tuple[int, ...]

    @property
    def worth(self) -> int:
        return self.score - self.cost

    @property
    def state(self) -> int:
        return int(self.states[-1])


@dataclass
class Extension:
    """Extends prefixes of a folded problem, given the best scores after each state (T, S)."""

    folded: Problem
    completion: Integers
    deadline: Deadline
    forced: bool = False  # whether forced rules may emit late

    def __post_init__(self) -> None:
        one = ground(self.folded, forced=self.forced)
        self.chain, self.rules = one.chain, one.rules
        self._functions = [(rule, rule.functions) for rule in self.folded.functions]
        self._room = 0
        self.root = Prefix(
            np.zeros(0, np.int64), small(vector_size(one.rules) + 1), 0, 0, (0,) * self._count()
        )

    def _count(self) -> int:
        return sum(len(functions) for _, functions in self._functions)

    def children(self, t: int, prefixes: list[Prefix]) -> list[Prefix]:
        """All prefixes of t + 1 labels that begin with one of t labels and break no hard rule, in the order of label ids.

        OutOfTime where the deadline passes.
        """
        width, T = len(prefixes) * self.chain.pool.shape[2], len(self.chain.node)
        if width > self._room:
            self._room, self._tables = width, (small(T, width), small(T, width))
        room = self._room
        states, score = small(room, len(self.root.states)), integers(room)
        for h, prefix in enumerate(prefixes):
            states[h], score[h] = prefix.states, prefix.score
        beam = Beam(score, states, *self._tables, np.array([len(prefixes)]), np.zeros(1, np.int64))
        kernels.beam_advance(self.chain, self.completion, self.rules, beam, room, t, t + 1)
        parents = beam.parents[t, : beam.size[0]].tolist()
        reached = states[: beam.size[0]].copy()
        if t == T - 1:
            kernels.beam_finish(self.rules, beam)
        values = score[: beam.size[0]].tolist()
        made = (
            self._charged(prefixes[h], row, value)
            for h, row, value in zip(parents, reached, values, strict=True)
        )
        return [child for child in made if child is not None]

    def _charged(self, parent: Prefix, states: Small, score: int) -> Prefix | None:
        """A prefix with the costs of the functions; None where it breaks a hard rule."""
        if is_forbidden(score):
            return None
        if self.deadline.passed:
            raise OutOfTime
        path = np.append(parent.path, self.folded.lattice.labels_of(states[-1:].astype(np.int64)))
        cost, counts = 0, list[int]()
        for rule, functions in self._functions:
            first = len(counts)
            counts += [each.bound_after(parent.counts[first + n], path) for n, each in enumerate(functions)]
            broken = min(sum(counts[first:]), 1) if rule.binary else sum(counts[first:])
            if broken and rule.hard:
                return None
            cost += rule.finite_penalty * broken
        return Prefix(path, states, score, cost, tuple(counts))


def unseen(problem: Problem) -> list[str]:
    """The rules that prefixes do not show: those without a small machine, and functions without one of prefixes."""
    return [
        rule.name
        for rule in problem.rules
        if any(not isinstance(each, FunctionCount) or each.prefix is None for each in rule.machineless)
    ]


def blind(problem: Problem) -> bool:
    """Whether a rule that is no Python function has no machine, so that whole labellings have to be valued."""
    return any(not isinstance(each, FunctionCount) for rule in problem.rules for each in rule.machineless)
