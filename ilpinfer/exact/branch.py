"""Branch and bound: cases that cover all labellings, each bounded by kernels and beams.

It applies if all earlier stages leave open a problem without lists of equal tokens. Problems with sums and without a labelling
go to a solver directly, since there is no incumbent to prune by.

A split is an integer row on the path: the number of given tokens with given labels is at most k, or more (Stokman 2011,
section 4.1, has every rule as such a row). Rows of all tokens and the labels of a machine's symbols come first.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from formulations.dtypes import Integers, LabelIds
from ilpinfer.exact import limits
from ilpinfer.exact.beams import BEAMS
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.kernel_stage import KERNEL_CALL
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State
from ilpinfer.exact.tree import CaseBound, Row, divide, search


@dataclass
class Case:
    """A case: its state, whose problem has a rule for each split above, and their rows."""

    state: State
    used: frozenset[Row] = frozenset()


def branch(state: State) -> State:
    """The state after at most `BRANCH_CASES` cases."""
    return search(state, Case(state), _bound, _split, limits.BRANCH_CASES, state.words)


def _bound(whole: State, case: Case) -> tuple[State, CaseBound]:
    """The bound of a case by kernels and beams; the first case is the whole problem, with a known bound."""
    if not case.used:
        return whole, CaseBound(whole.bound, None, whole.proof)
    state = replace(case.state, path=whole.path, value=whole.value)
    for stage in (KERNEL_CALL, BEAMS):
        if state.bound >= state.value and not state.closed and stage.applies(state):
            state = stage.improve(state)
    case.state = state
    if state.path is not None:
        whole = whole.with_labelling(state.path)
    return whole, CaseBound(state.bound, state.answer[0] if state.answer else None, state.proof)


def _split(whole: State, case: Case) -> tuple[Row, int, tuple[Case, Case]] | None:
    """Two cases by a row for the machines."""
    row = _row(case, whole.path)
    if row is None:
        return None
    problems = divide(case.state.problem.problem, row, 0)
    begun = (State.of(GroundProblem.of(each, whole.problem.deadline)) for each in problems)
    multipliers, used = case.state.multipliers, case.used | {row}
    below, above = (Case(replace(state, multipliers=multipliers), used) for state in begun)
    return row, 0, (below, above)


def _row(case: Case, best: LabelIds | None) -> Row | None:
    """All tokens with the label set of most machines, preferably labels in only one of two labellings; or a single token."""
    problem, relaxed = case.state.problem, case.state.relaxed
    T, K = problem.problem.shape
    everywhere = tuple(range(T))
    weights: Counter[Row] = Counter()
    for machine in map(problem.instance.sources.__getitem__, case.state.active):
        if machine.total is None and machine.symbols.shape[1:] == (1, K):
            for labels in _label_sets(machine.symbols[:, 0]):
                there = [set(labels) & set(path.tolist()) for path in (relaxed, best) if path is not None]
                weights[everywhere, labels] += 2 if any(there) and not all(there) else 1
    open_rows = [(weight, row) for row, weight in weights.items() if row not in case.used]
    if open_rows:
        return max(open_rows, key=lambda pair: (pair[0], pair[1]))[1]
    if relaxed is None:
        return None
    differ = [t for t in range(T) if best is None or relaxed[t] != best[t]] or list(everywhere)
    single = (((t,), (int(relaxed[t]),)) for t in differ[len(differ) // 2 :] + differ[: len(differ) // 2])
    return next((row for row in single if row not in case.used), None)


def _label_sets(tables: Integers) -> set[tuple[int, ...]]:
    """The label sets with a separate symbol in a machine."""
    result = set()
    for table in tables:
        symbols, counts = np.unique(table, return_counts=True)
        result |= {tuple(np.flatnonzero(table == s).tolist()) for s in np.delete(symbols, counts.argmax())}
    return result


def _applies(state: State) -> bool:
    hopeless = state.problem.has_sums and state.path is None
    return state.by_machines and not state.problem.lists and not hopeless


BRANCH_AND_BOUND = Stage("branch and bound", _applies, branch)
