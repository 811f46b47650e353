"""Post-correction of Viterbi's labelling by rules on single tokens (Liao et al. 2009, section 2)."""

from collections.abc import Iterator

import numpy as np

from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.grid import is_forbidden
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import VITERBI_BOUND
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import VITERBI, viterbi


def post_correction(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """Viterbi's labelling, with labels that hard rules on single tokens forbid overwritten.

    From left to right, each such token gets the allowed label with which the current labelling scores best. Other labels stay.
    """
    task.deadline.excuse(VITERBI.warm())
    bound, path = viterbi(problem.lattice)
    if is_forbidden(bound):
        yield Result(None, float("-inf"), f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    allowed = allowed_labels(problem)
    wrong = [t for t in range(len(path)) if not allowed[t, path[t]] and allowed[t].any()]
    for t in wrong:
        choices = [
            (problem.lattice.score(_with(path, t, k)), -k) for k in np.flatnonzero(allowed[t]).tolist()
        ]
        path = _with(path, t, -max(choices)[1])
    yield Result(path, bound, f"{name}: {len(wrong)} tokens overwritten", VITERBI_BOUND)


def allowed_labels(problem: Problem) -> Booleans:
    """(T, K) the labels that the hard rules on single tokens allow."""
    allowed = np.ones(problem.shape, bool)
    for rule in problem.rules:
        if rule.hard and rule.folds:
            for table in rule.as_scores():
                if table.values.shape[1] == 1:
                    allowed &= ~is_forbidden(table.values[table.index, 0])
    return allowed


def _with(path: LabelIds, t: int, label: int) -> Integers:
    changed = path.copy()
    changed[t] = label
    return changed
