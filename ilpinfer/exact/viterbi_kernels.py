"""Viterbi on the score grid, backwards, so that equal scores come out ordered by label ids."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels import kernel


@kernel
def best_completions(node, pool, step, completion):  # type: ignore[no-untyped-def]
    """Fill completion (T, K): the best score of what follows label k at token t, its own score excluded."""
    T, K = node.shape
    tail = np.empty(K, np.int64)
    completion[T - 1, :] = 0
    for t in range(T - 2, -1, -1):
        for j in range(K):
            tail[j] = max(node[t + 1, j] + completion[t + 1, j], FORBIDDEN)
        edges = pool[step[t]]
        for i in range(K):
            best = FORBIDDEN
            for j in range(K):
                best = max(best, edges[i, j] + tail[j])
            completion[t, i] = best


@kernel
def best_path(node, pool, step, completion, path):  # type: ignore[no-untyped-def]
    """Fill path (T,) with the best labelling, the first one by label ids; its score is returned."""
    T, K = node.shape
    total = FORBIDDEN
    path[0] = 0
    for k in range(K):
        score = node[0, k] + completion[0, k]
        if score > total:
            total = score
            path[0] = k
    for t in range(1, T):
        edges = pool[step[t - 1], path[t - 1]]
        best = 4 * FORBIDDEN
        for k in range(K):
            score = edges[k] + max(node[t, k] + completion[t, k], FORBIDDEN)
            if score > best:
                best = score
                path[t] = k
    return total


@kernel
def best_completion_lists(node, pool, step, top):  # type: ignore[no-untyped-def]
    """The `top` best completions of every label: scores, next labels, and ranks among that label's own.

    Arrays (T, K, top); equal scores are ordered by label ids, and places that do not exist are forbidden.
    """
    T, K = node.shape
    score = np.full((T, K, top), FORBIDDEN, np.int64)
    label = np.zeros((T, K, top), np.int32)
    rank = np.zeros((T, K, top), np.int32)
    score[T - 1, :, 0] = 0
    taken = np.empty(K, np.int32)
    for t in range(T - 2, -1, -1):
        edges = pool[step[t]]
        for i in range(K):
            taken[:] = 0
            for r in range(top):
                best, chosen = FORBIDDEN // 2, -1
                for j in range(K):
                    if taken[j] < top:
                        value = edges[i, j] + max(node[t + 1, j] + score[t + 1, j, taken[j]], FORBIDDEN)
                        if value > best:
                            best, chosen = value, j
                if chosen < 0:
                    break
                score[t, i, r], label[t, i, r], rank[t, i, r] = best, chosen, taken[chosen]
                taken[chosen] += 1
    return score, label, rank
