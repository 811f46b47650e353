"""Prefixes under rules that are Python functions, extended by one label at a time: kernels read machines, and functions count."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.automata.components import FunctionCount
from formulations.dtypes import Integers, LabelIds
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import DEAD


class Prefix(NamedTuple):
    """Labels, their key in a search, bound and score by machines, and what each function counts so far."""

    path: LabelIds
    key: Integers
    reach: int
    score: int
    cost: int  # of the functions, grid units
    counts: tuple[int, ...]

    @property
    def worth(self) -> int:
        return self.score - self.cost


@dataclass
class Extension:
    """Extends prefixes of a folded problem, given a relaxation without multipliers and its machines."""

    folded: Problem
    relaxation: Relaxation
    deadline: Deadline

    def __post_init__(self) -> None:
        one, bounds = self.relaxation, self.relaxation.multiply([], 1)
        every = range(len(one.instance.sources))
        self._search = one.search(every, bounds, DEAD, copies=kernels.WIDEST, greedy=True)
        self._functions = [(rule, rule.functions) for rule in self.folded.functions]
        none, counts = np.zeros(0, np.int64), (0,) * sum(len(functions) for _, functions in self._functions)
        self.root = Prefix(none, np.zeros(self._search.words, np.int64), one.total, 0, 0, counts)

    def children(self, prefix: Prefix) -> Iterator[Prefix]:
        """All prefixes with one more label that break no hard rule, in the order of label ids.

        OutOfTime where the deadline passes.
        """
        t = len(prefix.path)
        reaches, keys, states = self._search.children(t, prefix.key, prefix.reach)
        for reach, key, state in zip(reaches.tolist(), keys, states, strict=True):
            if self.deadline.passed:
                raise OutOfTime
            path = np.append(prefix.path, self.folded.lattice.labels_of(state))
            charged = self._charges(prefix, path)
            if charged is not None:
                score = reach - int(self.relaxation.completion[t, state[0]])
                yield Prefix(path, key, reach, score, *charged)

    def _charges(self, parent: Prefix, path: LabelIds) -> tuple[int, tuple[int, ...]] | None:
        """Cost and counts of the functions on a prefix; None where it breaks a hard rule."""
        cost, counts = 0, list[int]()
        for rule, functions in self._functions:
            first = len(counts)
            counts += [each.bound_after(parent.counts[first + n], path) for n, each in enumerate(functions)]
            broken = min(sum(counts[first:]), 1) if rule.binary else sum(counts[first:])
            if broken and rule.hard:
                return None
            cost += rule.finite_penalty * broken
        return cost, tuple(counts)


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
