# mypy: allow-untyped-defs
"""The backward recursion over states, from the last token to the first, so that the first of equal labellings by label ids is found."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine

DEAD = FORBIDDEN // 2
"""Values below it contain a forbidden step."""


@subroutine
def width_of(scores):
    """Entries of a row of completions: any state, and padding."""
    return scores.base[len(scores.base) - 1] + scores.edge.shape[2]


@subroutine
def step_back(scores, e, tail, after, completion, at, states):
    """Fill row `at` of the completions for these states from row `after` of the tails, four at a time to save memory access."""
    edge, base, count = scores.edge, scores.base, len(states)
    _, S, width = edge.shape
    same = scores.labels == S
    for n in range(0, count - 3, 4):
        i0, i1, i2, i3 = states[n], states[n + 1], states[n + 2], states[n + 3]
        best0 = best1 = best2 = best3 = FORBIDDEN
        if same:
            for b in range(width):
                ahead = tail[after, b]
                best0 = max(best0, edge[e, i0, b] + ahead)
                best1 = max(best1, edge[e, i1, b] + ahead)
                best2 = max(best2, edge[e, i2, b] + ahead)
                best3 = max(best3, edge[e, i3, b] + ahead)
        else:
            to0, to1, to2, to3 = base[i0], base[i1], base[i2], base[i3]
            for b in range(width):
                best0 = max(best0, edge[e, i0, b] + tail[after, to0 + b])
                best1 = max(best1, edge[e, i1, b] + tail[after, to1 + b])
                best2 = max(best2, edge[e, i2, b] + tail[after, to2 + b])
                best3 = max(best3, edge[e, i3, b] + tail[after, to3 + b])
        completion[at, i0], completion[at, i1] = best0, best1
        completion[at, i2], completion[at, i3] = best2, best3
    for n in range(count >> 2 << 2, count):
        i, best = states[n], FORBIDDEN
        for b in range(width):
            best = max(best, edge[e, i, b] + tail[after, base[i] + b])
        completion[at, i] = best


@subroutine
def complete(scores, emission, rows, classes, edge_at, completion, tail):
    """The best value of a labelling, `FORBIDDEN` where there is none.

    Fills completion (T, W), the best value of the states after a state at token t, and tail (T, W), the same with the
    token's own score; W is `width_of`. Parameters as `label_setting.set_labels`, and rows (T,) of `emission`, classes (T,) of nodes.
    """
    node, T, S = scores.node, len(rows), emission.shape[1]
    states = np.arange(S)
    for t in range(T - 1, -1, -1):
        for j in range(S, completion.shape[1]):
            completion[t, j] = tail[t, j] = FORBIDDEN
        if t < T - 1:
            step_back(scores, edge_at[t + 1], tail, t + 1, completion, t, states)
        else:
            completion[t, :S] = 0
        row, c = rows[t], classes[t]
        for j in range(S):
            tail[t, j] = max(emission[row, j] + node[c, j] + completion[t, j], FORBIDDEN)
    return best_of(tail[0], scores.labels)


@subroutine
def best_of(tail, count):
    best = FORBIDDEN
    for j in range(count):
        best = max(best, tail[j])
    return best


@subroutine
def trace(scores, edge_at, completion, tail, total, path):
    """Fill path (T,) with the states of the first labelling of value `total`, which is not forbidden."""
    edge, base, j = scores.edge, scores.base, 0
    while tail[0, j] != total:
        j += 1
    path[0] = j
    for t in range(1, len(path)):
        e, i, b = edge_at[t], j, 0
        while edge[e, i, b] + tail[t, base[i] + b] != completion[t - 1, i]:
            b += 1
        j = base[i] + b
        path[t] = j


@kernel
def bare(scores, emission, rows, classes, edge_at, completion, tail, path):
    """Viterbi without machines: the best value; fills completion and tail (T, W), and path (T,) unless the value is forbidden."""
    total = complete(scores, emission, rows, classes, edge_at, completion, tail)
    if total > DEAD:
        trace(scores, edge_at, completion, tail, total, path)
    return total


@kernel
def prune(scores, emission, edge_at, completion, floor):
    """Forbid the states (T, S) through which no labelling reaches the floor by its scores, in place; returns how many are left.

    The best score up to a state and the best score after it add up to its max-marginal.
    """
    T, S = emission.shape
    reach, ahead, count = np.full(S, FORBIDDEN), np.full(S, FORBIDDEN), 0
    for t in range(T):
        for j in range(S):
            ahead[j] = 0 if t == 0 and j < scores.labels else FORBIDDEN
        if t:
            for i in range(S):
                if reach[i] > DEAD:
                    for b in range(scores.labels):
                        j = scores.base[i] + b
                        ahead[j] = max(ahead[j], reach[i] + scores.edge[edge_at[t], i, b])
        for j in range(S):
            reach[j] = max(ahead[j] + emission[t, j], FORBIDDEN) if ahead[j] > DEAD else FORBIDDEN
            if reach[j] <= DEAD or reach[j] + completion[t, j] < floor:
                reach[j] = emission[t, j] = FORBIDDEN
            else:
                count += 1
    return count
