"""Best-first search with backtracking at hard rules: a heuristic, and a start for others."""

from collections.abc import Iterator

import numpy as np

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.messages import counted
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import completions
from ilpinfer.kernels.evolution import VALUED
from ilpinfer.search.discrepancy import RUN_TIME, Discrepancy, Search
from ilpinfer.search.population import Individuals, population_search

_MOST_NODES = 200_000
"""Nodes of the best-first labelling without a time limit, so that it is the same on every machine."""
_FEW_NODES = 2_000
"""The same under rules that are Python functions, which take far longer."""


def best_first_labelling(folded: Problem, deadline: Deadline, share: float | None = None) -> LabelIds | None:
    """The labelling of `best_first`, ids (T,); None where its share of the remaining time does not suffice."""
    left = deadline.remaining
    limit = None if left is None else min(left, RUN_TIME) / 5 if share is None else share * left
    try:
        search = Search(folded, Task(Deadline(limit)), Discrepancy("published", branching=1_000_000))
    except OutOfTime:
        return None
    if is_forbidden(search.best):
        return None
    most = _FEW_NODES if folded.functions else _MOST_NODES
    search.most = most if limit is None else 2**62
    search.completion = completions(folded.lattice)
    search.round(np.array([2 * FORBIDDEN, FORBIDDEN, folded.lattice.pool.shape[2]]), -1, 1, first=True)
    return search.incumbents.path


def better_first_labelling(folded: Problem, path: LabelIds, task: Task) -> LabelIds:
    """The better one of a labelling and the best-first one; label ids (T,)."""
    first = best_first_labelling(folded, task.deadline)
    if first is None:
        return path

    def worth(labelling: LabelIds) -> tuple[bool, int]:
        value = folded.value(labelling)
        return value.feasible, value.model + value.features - value.penalty

    return max(path, first, key=worth)


def best_first(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The first labelling of depth-first search that takes the best choice for each token and turns back at hard rules."""

    def first(folded: Problem, path: LabelIds, task: Task) -> LabelIds:
        labelling = best_first_labelling(folded, task.deadline)
        return path if labelling is None else labelling

    how = Individuals(), first, lambda population: counted(population.counts[VALUED], "labelling")
    yield from population_search(problem, task, name, *how)
