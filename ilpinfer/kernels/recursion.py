# mypy: allow-untyped-defs
"""Viterbi over packed tables, from the last token to the first, so that the first of equal labellings by label ids is
found.
"""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine


@subroutine
def step_back(edge, e, tail, completion, t):
    """Fill row t of the completions, four labels at a time to save memory access."""
    _, K, width = edge.shape
    for i in range(0, K - 3, 4):
        best0 = best1 = best2 = best3 = FORBIDDEN
        for j in range(width):
            ahead = tail[t + 1, j]
            best0 = max(best0, edge[e, i, j] + ahead)
            best1 = max(best1, edge[e, i + 1, j] + ahead)
            best2 = max(best2, edge[e, i + 2, j] + ahead)
            best3 = max(best3, edge[e, i + 3, j] + ahead)
        completion[t, i], completion[t, i + 1] = best0, best1
        completion[t, i + 2], completion[t, i + 3] = best2, best3
    for i in range(K >> 2 << 2, K):
        best = FORBIDDEN
        for j in range(width):
            best = max(best, edge[e, i, j] + tail[t + 1, j])
        completion[t, i] = best


@subroutine
def complete(handle, emission, rows, classes, edge_at, completion, tail):
    """The best value of a labelling, `FORBIDDEN` where there is none.

    Fills completion (T, Kp), the best value of the labels after label k at token t, and tail (T, Kp), the same with the
    token's own score. Parameters as `label_setting.set_labels`, and rows (T,) of `emission`, classes (T,) of nodes.
    """
    node, edge, T, K = handle.scores.node, handle.scores.edge, len(rows), emission.shape[1]
    for t in range(T - 1, -1, -1):
        for j in range(K, edge.shape[2]):
            completion[t, j] = tail[t, j] = FORBIDDEN
        if t < T - 1:
            step_back(edge, edge_at[t + 1], tail, completion, t)
        else:
            completion[t, :K] = 0
        row, c = rows[t], classes[t]
        for j in range(K):
            tail[t, j] = max(emission[row, j] + node[c, j] + completion[t, j], FORBIDDEN)
    best = FORBIDDEN
    for j in range(K):
        best = max(best, tail[0, j])
    return best


@subroutine
def trace(edge, edge_at, completion, tail, total, path):
    """Fill path (T,) with the first labelling of value `total`, which is not forbidden."""
    j = 0
    while tail[0, j] != total:
        j += 1
    path[0] = j
    for t in range(1, len(path)):
        e, i, j = edge_at[t], j, 0
        while edge[e, i, j] + tail[t, j] != completion[t - 1, i]:
            j += 1
        path[t] = j


@kernel
def bare(handle, emission, rows, classes, edge_at, path):
    """Viterbi without machines: the best value; path (T,) is filled unless the value is forbidden."""
    edge = handle.scores.edge
    size = len(rows), edge.shape[2]
    completion, tail = np.empty(size, np.int64), np.empty(size, np.int64)
    total = complete(handle, emission, rows, classes, edge_at, completion, tail)
    if total > FORBIDDEN // 2:
        trace(edge, edge_at, completion, tail, total, path)
    return total
