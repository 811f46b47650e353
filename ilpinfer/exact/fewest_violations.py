"""The least total number of violations of hard rules, and the best labelling with that number."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, LIMIT, Grid, is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact import limits
from ilpinfer.exact.auto import auto


@dataclass(frozen=True)
class FewestViolations:
    """Violations of each hard rule by a labelling; whether no labelling has fewer, and no better labelling has as many."""

    violations: dict[str, int]
    path: LabelIds | None = None
    fewest: bool = False
    best: bool = False


class _Rounded(NamedTuple):
    """A problem with only soft rules; a violation of a formerly hard rule costs more than scores can gain.

    Scores and penalties are divided by 2^shift; the best labelling is among those at most `within` below the best rounded value.
    """

    problem: Problem
    shift: int
    within: int


def relaxation_of(problem: Problem, deadline: Deadline) -> FewestViolations:
    """The best labelling with the fewest violations of hard rules that is found before the deadline."""
    rounded, hard = _rounded(problem), [rule for rule in problem.rules if rule.hard]
    top, within = (limits.MOST_LISTED, rounded.within) if rounded.shift else (1, None)
    results: list[Result] = []
    with suppress(OutOfTime):
        if not deadline.passed:
            results = list(auto(rounded.problem, Task(deadline, top=top, within=within), "auto"))
    found = [(each.path, each.bound) for each in results if each.path is not None]
    if not found:
        return FewestViolations({})
    first, bound = found[0]
    fewest = rounded.problem.value(first).score >= bound
    listed = [path for path, _ in found] if fewest else [first]
    soft = replace(problem, rules=tuple(rule for rule in problem.rules if not rule.hard))
    path = min(listed, key=lambda path: (-soft.value(path).score, path.tolist()))
    counts = {rule.name: rule.violations(path) for rule in hard}
    counts = {name: count for name, count in counts.items() if count}
    all_listed = not rounded.shift or results[-1].proves_infeasibility
    return FewestViolations(counts, path, fewest or sum(counts.values()) == 1, fewest and all_listed)


def _rounded(problem: Problem) -> _Rounded:
    """The problem with the smallest shift at which a hard violation can cost more than scores and soft rules."""
    most = sum(rule.with_penalty(1).most for rule in problem.rules if rule.hard)
    shift = 0
    while True:
        lattice = _shifted(problem.lattice, shift)
        soft = [replace(rule, penalty=rule.penalty >> shift) for rule in problem.rules if not rule.hard]
        within = 2 * len(lattice.node) + sum(rule.most for rule in soft) if shift else 0
        weight = 1 + within + _spread(lattice) + sum(rule.penalty * rule.most for rule in soft)
        if weight * most < LIMIT:
            break
        shift += 1
    hard = [rule.with_penalty(weight) for rule in problem.rules if rule.hard]
    rules = *hard, *(rule for rule in soft if rule.penalty)
    return _Rounded(Problem(lattice, lattice, rules, problem.labels), shift, within)


def _shifted(lattice: Lattice, shift: int) -> Lattice:
    """The lattice with scores divided by 2^shift, rounded down."""
    node, pool = (np.where(is_forbidden(x), FORBIDDEN, x >> shift) for x in (lattice.node, lattice.pool))
    return Lattice(node, pool, lattice.step)


def _spread(lattice: Lattice) -> int:
    """Upper bound on the score difference of two labellings, grid units."""
    steps = np.bincount(lattice.step, minlength=len(lattice.pool))
    pool = lattice.pool.reshape(len(lattice.pool), lattice.pool[0].size if len(lattice.pool) else 0)
    edges = zip(_ranges(pool), steps.tolist(), strict=True)
    return sum(_ranges(lattice.node)) + sum(spread * int(times) for spread, times in edges)


def _ranges(table: Grid) -> list[int]:
    """The greatest minus the least entry of each row, without forbidden entries."""
    forbidden = is_forbidden(table)
    greatest = np.where(forbidden, FORBIDDEN, table).max(axis=1, initial=FORBIDDEN)
    least = np.where(forbidden, -FORBIDDEN, table).min(axis=1, initial=-FORBIDDEN)
    return [max(0, end - begin) for begin, end in zip(least.tolist(), greatest.tolist(), strict=True)]
