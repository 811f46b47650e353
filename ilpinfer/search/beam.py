"""Beam search: the best few prefixes at every token, violations seen so far included."""

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.problem import Problem
from formulations.grid import FORBIDDEN, is_forbidden
from ilpinfer.deadline import Deadline
from ilpinfer.exact.viterbi import completions
from ilpinfer.search import beam_kernels as kernels
from ilpinfer.search.packed import pack

Path = NDArray[np.int64]

_WORK_PER_CALL = 5_000_000


def beam(problem: Problem, width: int, deadline: Deadline) -> tuple[list[Path], int]:
    """Final hypotheses, best first, and a bound in grid units on the score of every labelling.

    Prefixes are ranked by score minus the penalties of the violations that they have shown so far, as in Chang
    et al. 2007, section 7; a prefix that breaks a hard rule is dropped. Two prefixes with the same label and
    the same rule states have the same future, and the worse one is dropped: a width that holds them all makes
    the search exact. The bound is the best that anything left out could have reached with no more violations.

    Past the deadline there is no labelling, and the bound is that of Viterbi.
    """
    folded = problem.fold()
    lattice, packed = folded.lattice, pack(folded)
    completion = completions(lattice)
    best = int(np.max(lattice.node[0] + completion[0]))
    if is_forbidden(best):
        return [], FORBIDDEN
    T, K = problem.shape
    M, R = len(packed.rule), len(folded.rules)
    state = (
        np.zeros(width, np.int64),
        np.zeros((width, M), np.int32),
        np.zeros((width, R), bool),
        np.zeros((T, width), np.int32),
        np.zeros((T, width), np.int32),
        np.ones(1, np.int64),
        np.full(1, FORBIDDEN),
    )
    stretch = max(1, _WORK_PER_CALL // (width * K * (M + 1)))
    for first in range(0, T, stretch):
        if deadline.passed:
            return [], best
        kernels.advance(
            lattice.node,
            lattice.pool,
            lattice.step,
            completion,
            packed,
            state,
            first,
            min(first + stretch, T),
        )
    kernels.finish(packed, state)
    score, _, _, labels, parents, size, left_out = state
    order = [h for h in np.argsort(-score[: size[0]], kind="stable") if not is_forbidden(score[h])]
    bound = max([int(left_out[0]), *(int(score[h]) for h in order[:1])])
    return [_backtrack(labels, parents, h) for h in order], min(best, bound)


def _backtrack(labels: NDArray[np.int32], parents: NDArray[np.int32], h: int) -> Path:
    path = np.empty(len(labels), np.int64)
    for t in range(len(labels) - 1, -1, -1):
        path[t] = labels[t, h]
        h = parents[t, h]
    return path
