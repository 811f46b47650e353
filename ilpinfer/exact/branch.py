"""Branch and bound over the stages of the engine.

A split is an integer row on the path: the number of some tokens with one of some labels is at most k, or more (Stokman 2011,
section 4.1, has every rule as such a row). Rows of all tokens and the labels of a machine's symbols come first.
"""

from collections import Counter
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.exact.known import Known, SearchResult
from ilpinfer.exact.mixtures import Relaxed
from ilpinfer.exact.rows import Row
from ilpinfer.exact.splits import split_rules, tree_of
from ilpinfer.exact.stages import solve
from ilpinfer.exact.sum_relaxation import SumRelaxation

MOST_CASES, DEEPEST = 4000, 100
"""Limits on depth and cases before a solver takes over; `verify` accepts trees that are twice as deep."""
MOST_STEPS = 200_000
"""Steps of a diagram in a case."""


@dataclass
class Case:
    """A node of branch and bound.

    Parameters
    ----------
    problem : Problem
        Problem with a rule for each split above.
    known : Known
        Its bound and proof.
    depth, used : int or frozenset of Row, optional
        Number of splits above, and their rows.
    row, most, cases : Row, int or tuple of Case, optional
        Row of the split of the case, and the two cases: at most so many of the row's ones, and more.
    relaxed : Relaxed, optional
        The linear relaxation of its sums.
    """

    problem: Problem
    known: Known
    depth: int = 0
    used: frozenset[Row] = frozenset()
    row: Row | None = None
    most: int = 0
    cases: tuple["Case", ...] = ()
    relaxed: Relaxed | None = None

    @property
    def leaf(self) -> Leaf | Split | None:
        """The proof of the bound on it."""
        return self.known.tree

    def branch(self, row: Row, most: int = 0) -> None:
        """Into two cases."""
        self.row, self.most = row, most
        rules = split_rules(row, most, self.depth, self.problem.shape)
        self.cases = tuple(self._with(rule, row) for rule in rules)

    def _with(self, rule: GroundRule, row: Row) -> "Case":
        problem = replace(self.problem, rules=(*self.problem.rules, rule))
        known = Known.of(problem, self.known.deadline)
        known.multipliers = dict(self.known.multipliers)
        return Case(problem, known, self.depth + 1, self.used | {row})


@dataclass
class Branching:
    """Branch and bound over cases.

    Parameters
    ----------
    problem, known : Problem or Known
        The whole.
    sum_relaxation : SumRelaxation, optional
        The linear relaxation of sums, where there are any.
    most : int, optional
        Cases; `MOST_CASES` where not given.
    """

    problem: Problem
    known: Known
    sum_relaxation: SumRelaxation | None = None
    most: int | None = None
    closed_bound: float = FORBIDDEN
    best: LabelIds | None = None

    def run(self, end: SearchResult) -> SearchResult:
        """Branch, on the case with the highest bound first, until no case can be better than the incumbent."""
        known, most = self.known, MOST_CASES if self.most is None else self.most
        cases = [Case(self.problem, known)]
        waiting = [(-known.bound, 0, cases[0])]
        while waiting and -waiting[0][0] >= known.value:
            case = waiting[0][2]
            if len(cases) > most or case.depth == DEEPEST or known.deadline.passed:
                break
            split = self.split(case)
            if split is None:
                break
            heappop(waiting)
            case.branch(*split)
            for child in case.cases:
                cases.append(child)
                if not self.fathom(child):
                    heappush(waiting, (-child.known.bound, len(cases), child))
            bound = max(self.closed_bound, -waiting[0][0] if waiting else FORBIDDEN, known.value)
            if bound < known.bound:
                known.prove(bound, tree_of(cases))
        if len(cases) == 1:
            return end
        closed = not waiting or -waiting[0][0] < known.value
        paths = [path for path in (self.best,) if closed and path is not None]
        return SearchResult(paths, f"{end.why}, {len(cases)} cases told apart", closed, tree_of(cases))

    def split(self, case: Case) -> tuple[Row, int] | None:
        """The row to branch on: a fractional row of the sums, else one for the machines."""
        if self.sum_relaxation is not None:
            relaxed = case.relaxed or self.sum_relaxation.bound(case.problem, case.known)
            result = self.sum_relaxation.row(relaxed)
            if result is not None:
                return result
        row = _row(case, self.known)
        return None if row is None else (row, 0)

    def fathom(self, case: Case) -> bool:
        """Whether the case needs no branching: its best labelling is known, or its bound is below the incumbent."""
        known, own = self.known, case.known
        own.path, own.value = known.path, known.value
        if self.sum_relaxation is not None:
            case.relaxed = self.sum_relaxation.bound(case.problem, own)
        beaten = own.bound < own.value
        answer = None if beaten else solve(own, most=MOST_STEPS)
        if own.path is not None:
            known.evaluate(own.path)
        for path in answer.paths if answer else ():
            self.best = first(self.best, path, known)
        done = answer is None or answer.complete
        if done:
            self.closed_bound = max(self.closed_bound, own.bound)
        return done


def first(best: LabelIds | None, path: LabelIds, known: Known) -> LabelIds:
    """The better labelling, of equal ones the first by label ids."""
    if best is None:
        return path
    return min(best, path, key=lambda p: (-known.evaluate(p).value, p.tolist()))


def _row(case: Case, whole: Known) -> Row | None:
    """All tokens with the labels of most machines, preferably labels in one of two labellings only; or a single token."""
    T, _ = case.problem.shape
    relaxed, known = case.known.relaxed, whole.path
    everywhere = tuple(range(T))
    weights: Counter[Row] = Counter()
    K = case.problem.shape[1]
    for machine in map(case.known.ground.plain.__getitem__, case.known.active):
        if machine.total is None and machine.symbols.shape[1:] == (1, K):
            for labels in _label_sets(machine.symbols[:, 0]):
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


def _label_sets(tables: Integers) -> set[tuple[int, ...]]:
    """The sets of labels with a symbol of their own in a machine."""
    result = set()
    for table in tables:
        symbols, counts = np.unique(table, return_counts=True)
        result |= {tuple(np.flatnonzero(table == s).tolist()) for s in np.delete(symbols, counts.argmax())}
    return result
