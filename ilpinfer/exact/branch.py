"""Branch and bound over the rounds of the engine: cases that leave nothing out, each relaxed by itself.

A split is an integer row on the path: how many of some tokens have one of some labels, at most so many or more
(Stokman 2011, section 4.1, has every rule as such a row). Where a machine waits for a label, whether it is there at
all decides most.
"""

from collections import Counter
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from formulations.compiled.lattice import StepTable
from formulations.compiled.problem import GroundRule, Problem
from formulations.compiled.sums import bounded
from ilpinfer.certificate import Leaf, Split
from ilpinfer.exact.parts import Priced
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rounds import Ended, rounds
from ilpinfer.found import Path

MOST_CASES = 4000
"""Beyond which a solver has its turn."""
MOST_STEPS = 200_000
"""Of a diagram in a case."""

Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Tokens and labels of a split."""


@dataclass
class Case:
    """A part of all labellings.

    Parameters
    ----------
    problem : with a rule for each split above
    progress : its bound and proof
    used : rows of the splits above
    row, cases : where it was taken apart itself, and into what: none of the row's ones, and one at least
    """

    problem: Problem
    progress: Progress
    used: frozenset[Row] = frozenset()
    row: Row | None = None
    cases: tuple["Case", ...] = ()

    @property
    def tree(self) -> Leaf | Split:
        """The proof of the bound on it."""
        if self.row is not None:
            below, above = (case.tree for case in self.cases)
            return Split(*self.row, 0, below, above)
        return self.progress.tree or Leaf()

    @property
    def bound(self) -> float:
        """On its labellings, grid units."""
        return max(case.bound for case in self.cases) if self.cases else self.progress.bound

    def take_apart(self, row: Row) -> None:
        """Into two cases."""
        tokens, labels = row
        T, K = self.problem.shape
        values, index = np.zeros((2, 1, K), np.int64), np.zeros(T, np.int64)
        values[1, 0, list(labels)], index[list(tokens)] = 1, 1
        steps, name = StepTable(values, index), f"split {len(self.used)}"
        rules = (GroundRule(name, None, False, (bounded(steps, *side),)) for side in ((None, 0), (1, None)))
        self.row, self.cases = row, tuple(self._with(rule, row) for rule in rules)

    def _with(self, rule: GroundRule, row: Row) -> "Case":
        problem = replace(self.problem, rules=(*self.problem.rules, rule))
        before = self.progress
        progress = Progress.of(problem, before.deadline)
        progress.active, progress.prices = list(before.active), dict(before.prices)
        return Case(problem, progress, self.used | {row})


def branch(problem: Problem, progress: Progress, ended: Ended) -> Ended:
    """Tell cases apart, the one with the highest bound first, until none can be better than the best labelling."""
    root = Case(problem, progress)
    waiting = [(-progress.bound, 0, root)]
    best: Path | None = None
    count = 1
    while waiting and -waiting[0][0] >= progress.value:
        if count > MOST_CASES or progress.deadline.passed:
            break
        case = waiting[0][2]
        row = _row(case, progress)
        if row is None:
            break
        heappop(waiting)
        case.take_apart(row)
        for child in case.cases:
            count += 1
            child.progress.path, child.progress.value = progress.path, progress.value
            answer = rounds(child.progress, most=MOST_STEPS)
            if child.progress.path is not None:
                progress.judge(child.progress.path)
            for path in answer.paths:
                best = _first(best, path, progress)
            if not answer.settled:
                heappush(waiting, (-child.progress.bound, count, child))
        progress.prove(max(root.bound, progress.value), root.tree)
    if count == 1:
        return ended
    closed = not waiting or -waiting[0][0] < progress.value
    paths = [path for path in (best,) if path is not None]
    return Ended(paths if closed else [], f"{ended.why}, {count} cases told apart", closed, root.tree)


def _first(best: Path | None, path: Path, progress: Progress) -> Path:
    """The better labelling, of equal ones the first by label ids."""
    if best is None:
        return path
    return min(best, path, key=lambda p: (-progress.judge(p).value, p.tolist()))


def _row(case: Case, whole: Progress) -> Row | None:
    """The labels that most machines wait for, those first that are in one of two labellings only; or a single token."""
    T, _ = case.problem.shape
    relaxed, known = case.progress.relaxed, whole.path
    everywhere = tuple(range(T))
    weights: Counter[Row] = Counter()
    for part in case.progress.active:
        if part.total is None and part.machine.steps.values.shape[1] == 1:
            for labels in _kinds(part):
                there = [set(labels) & set(path.tolist()) for path in (relaxed, known) if path is not None]
                weights[everywhere, labels] += 2 if any(there) and not all(there) else 1
    open_rows = [(weight, row) for row, weight in weights.items() if row not in case.used]
    if open_rows:
        return max(open_rows, key=lambda pair: (pair[0], pair[1]))[1]
    if relaxed is None:
        return None
    differ = [t for t in range(T) if known is None or relaxed[t] != known[t]] or list(everywhere)
    single = (((t,), (int(relaxed[t]),)) for t in differ[len(differ) // 2 :] + differ[: len(differ) // 2])
    return next((row for row in single if row not in case.used), None)


def _kinds(part: Priced) -> set[tuple[int, ...]]:
    """The sets of labels that a machine tells from the rest."""
    found = set()
    for table in part.machine.steps.values[:, 0]:
        symbols, counts = np.unique(table, return_counts=True)
        found |= {tuple(np.flatnonzero(table == s).tolist()) for s in np.delete(symbols, counts.argmax())}
    return found
