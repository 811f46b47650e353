"""Viterbi as a heuristic: rules ignored, those on single tokens and steps in the scores, or labels overwritten afterwards (Liao et al. 2009)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.grid import LIMIT, is_forbidden
from formulations.messages import counted
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import FOLDED_BOUND, VITERBI_BOUND, Certificate
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.viterbi import best_paths, viterbi


def plain_viterbi(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings without rules; their scores bound the scores of all labellings that follow."""
    yield from _best_of_lattice(problem, problem, task, name, VITERBI_BOUND)


def constrained_viterbi(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings with local rules in the scores, others ignored (Fersini et al. 2014, eq. 10; Liao et al. 2009, section 3.2)."""
    yield from _best_of_lattice(problem, problem.fold(), task, name, FOLDED_BOUND)


def _best_of_lattice(
    problem: Problem, relaxed: Problem, task: Task, name: str, reason: Certificate
) -> Iterator[Result]:
    """The best labellings by the scores of the lattice of `relaxed`."""
    result = best_paths(relaxed.lattice, task.top)
    for (_, path), (bound, proof) in zip(result, _bounds(problem, result, reason), strict=True):
        broken = len(relaxed.breaks(path))
        yield Result(path, bound, f"{name}: {counted(broken, 'rule')} broken" if broken else name, proof)
    if len(result) < task.top:
        yield Result(None, float("-inf"), f"{name}: no labelling is possible", reason)


def _bounds(
    problem: Problem, result: list[tuple[int, LabelIds]], proof: Certificate
) -> list[tuple[int, Certificate]]:
    """A bound for each labelling, with a proof that excludes those before it where none of them is worse under the rules."""
    excluded: list[tuple[int, ...]] = []
    bounds, lowest = [], LIMIT
    for score, path in result:
        value = problem.value(path).score
        if value <= lowest:
            bounds.append((score, replace(proof, excluded=tuple(excluded))))
        else:
            bounds.append((result[0][0], proof))
        lowest = min(lowest, value)
        excluded.append(tuple(path.tolist()))
    return bounds


def post_correction(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """Viterbi's labelling, in which tokens whose label a hard rule forbids get, from left to right, the allowed one that scores best."""
    bound, path = viterbi(problem.lattice)
    if is_forbidden(bound):
        yield Result(None, float("-inf"), f"{name}: no labelling is possible", VITERBI_BOUND)
        return
    allowed = allowed_labels(problem)
    wrong = [t for t in range(len(path)) if not allowed[t, path[t]] and allowed[t].any()]
    for t in wrong:
        choices = (_with(path, t, k) for k in np.flatnonzero(allowed[t]).tolist())
        path = max(choices, key=problem.lattice.score)
    yield Result(path, bound, f"{name}: {counted(len(wrong), 'token')} overwritten", VITERBI_BOUND)


def allowed_labels(problem: Problem) -> Booleans:
    """(T, K) the labels that the scores of tokens and the hard rules on single tokens allow."""
    T, K = problem.shape
    allowed: Booleans = ~is_forbidden(problem.lattice.node).reshape(T, -1, K).all(axis=1)
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
