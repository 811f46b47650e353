"""Branch and bound over the stages of the engine.

A split is an integer row on the path: the number of some tokens with one of some labels is at most k, or more (Stokman 2011,
section 4.1, has every rule as such a row). Rows of all tokens and the labels of a machine's symbols come first.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Integers
from formulations.problem.problem import Problem
from ilpinfer.exact import limits
from ilpinfer.exact.known import Known, SearchResult
from ilpinfer.exact.stages import solve
from ilpinfer.exact.tree import Bound, Row, divide, search


@dataclass
class Case:
    """A problem with a rule for each split above, their rows, its bound and proof."""

    problem: Problem
    known: Known
    used: frozenset[Row] = frozenset()


@dataclass
class Branching:
    """Branch and bound over the cases of a problem."""

    problem: Problem
    known: Known

    def run(self, end: SearchResult) -> SearchResult:
        """The best labelling by at most `MOST_CASES` cases, after a search that left it open."""
        root = Case(self.problem, self.known)
        return search(self.known, root, self.bound, self.split, limits.BRANCH_CASES, end.why)

    def bound(self, case: Case) -> Bound:
        """The bound by the stages of the engine; that of the whole is known."""
        known, own = self.known, case.known
        if own is known:
            return Bound(known.bound, None, known.tree)
        own.path, own.value = known.path, known.value
        answer = None if own.bound < own.value else solve(own)
        if own.path is not None:
            known.evaluate(own.path)
        path = answer.paths[0] if answer is not None and answer.complete and answer.paths else None
        return Bound(own.bound, path, own.tree)

    def split(self, case: Case) -> tuple[Row, int, tuple[Case, Case]] | None:
        """Two cases by a row for the machines."""
        row = _row(case, self.known)
        if row is None:
            return None
        below, above = (self._case(each, case, row) for each in divide(case.problem, row, 0))
        return row, 0, (below, above)

    def _case(self, problem: Problem, above: Case, row: Row) -> Case:
        known = Known.of(problem, self.known.deadline)
        known.multipliers = dict(above.known.multipliers)
        return Case(problem, known, above.used | {row})


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
