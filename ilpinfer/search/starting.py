"""Labellings that searches start from."""

import numpy as np
from numpy.typing import NDArray

from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.exact.viterbi import completions
from ilpinfer.search.discrepancy import RUN_TIME, Search
from ilpinfer.search.parameters import Discrepancy

_MOST_NODES = 200_000
"""Of the best-first labelling where no limit of time is set, so that it is the same on every machine."""


def best_first(folded: Problem, deadline: Deadline) -> NDArray[np.int64] | None:
    """The first labelling of depth-first search that takes the best choice and turns back at hard rules; label ids (T,).

    None where a share of the time that is left does not suffice, or, without a limit, so many nodes.
    """
    left = deadline.remaining
    share = None if left is None else min(left, RUN_TIME) / 5
    try:
        search = Search(folded, Task(Deadline(share)), Discrepancy(branching=1_000_000))
    except OutOfTime:
        return None
    if is_forbidden(search.best):
        return None
    search.most = _MOST_NODES if share is None else 2**62
    search.completion = completions(folded.lattice)
    search.round(np.array([2 * FORBIDDEN, FORBIDDEN, folded.lattice.pool.shape[2]]), -1, 1, first=True)
    return search.incumbents.path


def better_first(folded: Problem, path: NDArray[np.int64], task: Task) -> NDArray[np.int64]:
    """The better one of a labelling and the best-first one; label ids (T,)."""
    first = best_first(folded, task.deadline)
    if first is None:
        return path

    def worth(labelling: NDArray[np.int64]) -> tuple[bool, int]:
        value = folded.value(labelling)
        return value.feasible, value.model + value.features - value.penalty

    return max(path, first, key=worth)
