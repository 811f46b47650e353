"""Viterbi over packed tables, backwards, so that equal values come out ordered by label ids."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel


@kernel
def complete(scores, emission, rows, classes, edge_at, completion, tail):  # type: ignore[no-untyped-def]
    """The best value of a labelling; forbidden where there is none.

    Fills completion (T, Kp), the best value of what follows label k at token t, and tail (T, Kp), the same with the
    token's own score. Parameters as `label_setting.follow`, and rows (T,) of `emission`, classes (T,) of nodes.
    """
    T, K = len(rows), emission.shape[1]
    blocks = completion.shape[1] >> 3
    for t in range(T - 1, -1, -1):
        if t == T - 1:
            completion[t, :K] = 0
        else:
            ahead, edges = tail[t + 1], scores.edge[edge_at[t + 1]]
            for i in range(K):
                best = FORBIDDEN
                for j in range(blocks << 3):
                    best = max(best, edges[i, j] + ahead[j])
                completion[t, i] = best
        own, extra = emission[rows[t]], scores.node[classes[t]]
        for j in range(K):
            tail[t, j] = max(own[j] + extra[j] + completion[t, j], FORBIDDEN)
        completion[t, K:] = FORBIDDEN
        tail[t, K:] = FORBIDDEN
    return tail[0].max()


@kernel
def trace(scores, edge_at, completion, tail, total, path):  # type: ignore[no-untyped-def]
    """Fill path (T,) with the first labelling of value `total`, which is not forbidden."""
    j = 0
    while tail[0, j] != total:
        j += 1
    path[0] = j
    for t in range(1, len(path)):
        edges, ahead, best = scores.edge[edge_at[t], j], tail[t], completion[t - 1, j]
        j = 0
        while edges[j] + ahead[j] != best:
            j += 1
        path[t] = j


@kernel
def bare(handle, emission, rows, classes, edge_at, path):  # type: ignore[no-untyped-def]
    """Viterbi alone: the best value without machines; path (T,) is filled where it is not forbidden."""
    scores = handle.scores
    size = len(rows), scores.edge.shape[2]
    completion, tail = np.empty(size, np.int64), np.empty(size, np.int64)
    total = complete(scores, emission, rows, classes, edge_at, completion, tail)
    if total > FORBIDDEN // 2:
        trace(scores, edge_at, completion, tail, total, path)
    return total
