# mypy: allow-untyped-defs
"""Viterbi on the score grid, from the last token to the first, so that equal labellings are ordered by label ids."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel


@kernel
def complete(chain, completion):
    """Fill completion (T, S): the best score after a state at token t, its own score excluded.

    States of a second-order lattice that end in the same label have the same successors, as have all states of first
    order.
    """
    node, pool, step, base = chain
    (T, S), K = node.shape, pool.shape[2]
    kinds = K if base[0] else 1
    tail = np.empty(K, np.int64)
    for s in range(S):
        completion[T - 1, s] = 0
    for t in range(T - 2, -1, -1):
        edges = pool[step[t]]
        for i in range(kinds):
            here, ahead = node[t + 1, base[i] : base[i] + K], completion[t + 1, base[i] : base[i] + K]
            for j in range(K):
                tail[j] = max(here[j] + ahead[j], FORBIDDEN)
            for n in range(S // kinds):
                s, best = n * kinds + i, FORBIDDEN
                for j in range(K):
                    best = max(best, edges[s, j] + tail[j])
                completion[t, s] = best


@kernel
def best_path(chain, completion, path):
    """Fill path (T,) with the states of the best labelling, the first one by label ids; returns its score."""
    node, pool, step, base = chain
    (T, S), K = node.shape, pool.shape[2]
    total = FORBIDDEN
    path[0] = 0
    for s in range(S):
        score = node[0, s] + completion[0, s]
        if score > total:
            total = score
            path[0] = s
    for t in range(1, T):
        edges = pool[step[t - 1], path[t - 1]]
        first = base[path[t - 1]]
        here, ahead = node[t, first : first + K], completion[t, first : first + K]
        best, chosen = 4 * FORBIDDEN, 0
        for j in range(K):
            score = edges[j] + max(here[j] + ahead[j], FORBIDDEN)
            if score > best:
                best, chosen = score, j
        path[t] = first + chosen
    return total


@kernel
def best_lists(chain, top):
    """The `top` best completions of every state: scores, next states, and ranks among that state's own.

    Arrays (T, S, top); equal scores are ordered by label ids, and places that do not exist are forbidden.
    """
    node, pool, step, base = chain
    T, S = node.shape
    K = pool.shape[2]
    score = np.full((T, S, top), FORBIDDEN, np.int64)
    after = np.zeros((T, S, top), np.int32)
    rank = np.zeros((T, S, top), np.int32)
    score[T - 1, :, 0] = 0
    used = np.empty(K, np.int32)
    tail = np.empty((S, top), np.int64)
    for t in range(T - 2, -1, -1):
        for s in range(S):
            for r in range(top):
                tail[s, r] = max(node[t + 1, s] + score[t + 1, s, r], FORBIDDEN)
        edges, ahead = pool[step[t]], tail[:K]
        for s in range(S):
            if base[s]:
                ahead = tail[base[s] : base[s] + K]
            used[:] = 0
            for r in range(top):
                best, chosen = FORBIDDEN // 2, -1
                for j in range(K):
                    if used[j] < top:
                        value = edges[s, j] + ahead[j, used[j]]
                        if value > best:
                            best, chosen = value, j
                if chosen < 0:
                    break
                score[t, s, r], after[t, s, r], rank[t, s, r] = best, base[s] + chosen, used[chosen]
                used[chosen] += 1
    return score, after, rank
