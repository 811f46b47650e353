"""Viterbi over the product of a lattice with a few machines, from the last token to the first."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel

_DEAD = FORBIDDEN // 2


@kernel
def survivors(node, pool, step, base, states, begins, completion, floor, kept, kept_begins):  # type: ignore[no-untyped-def]
    """Fill kept and kept_begins with the states of each token that a labelling of at least `floor` can pass through.

    `states` holds those of token t from begins[t] to begins[t + 1]; `completion` (T, S) bounds what follows one. The
    best that leads to a state and the best that follows it add up to its max-marginal.
    """
    T, S = node.shape
    B = pool.shape[2]
    ahead, now = np.empty(S, np.int64), np.empty(S, np.int64)
    count = 0
    for t in range(T):
        for at in range(begins[t], begins[t + 1]):
            j = states[at]
            best = 0 if t == 0 else FORBIDDEN
            if t:
                for source in range(kept_begins[t - 1], kept_begins[t]):
                    b = j - base[kept[source]]
                    if 0 <= b < B:
                        best = max(best, now[kept[source]] + pool[step[t - 1], kept[source], b])
            ahead[j] = max(best + node[t, j], FORBIDDEN)
            if ahead[j] > _DEAD and ahead[j] + completion[t, j] >= floor:
                kept[count] = j
                count += 1
        kept_begins[t + 1] = count
        now, ahead = ahead, now


@kernel
def complete(node, pool, step, base, states, begins, product, completion, last, first):  # type: ignore[no-untyped-def]
    """Fill completion (T, S, Q) for tokens last, last - 1 … first: the best of what follows a state and machine states.

    `product` holds symbol (C, S+1, B) of each step, the usual one of those that lead to a state (C, S), which of the C tables a token uses (T,), the next machine states
    (J, Q) and the cost (J, Q) of a symbol, and the cost (Q,) at the end. Only the states named for a token are filled.
    """
    symbol, usual, table, following, cost, final = product
    T, S, Q = completion.shape
    B = pool.shape[2]
    best, tail = np.empty(Q, np.int64), np.empty((S, Q), np.int64)
    for t in range(last, first - 1, -1):
        if t == T - 1:
            for at in range(begins[t], begins[t + 1]):
                for q in range(Q):
                    completion[t, states[at], q] = max(-final[q], FORBIDDEN)
            continue
        edges, symbols, ahead, scores = pool[step[t]], symbol[table[t + 1]], completion[t + 1], node[t + 1]
        expected = usual[table[t + 1]]
        for at in range(begins[t + 1], begins[t + 2]):
            j = states[at]
            s = expected[j]
            for q in range(Q):
                tail[j, q] = max(scores[j] - cost[s, q] + ahead[j, following[s, q]], FORBIDDEN)
        for source in range(begins[t], begins[t + 1]):
            i = states[source]
            best[:] = FORBIDDEN
            for at in range(begins[t + 1], begins[t + 2]):
                j = states[at]
                b = j - base[i]
                if b < 0 or b >= B:
                    continue
                score, s = edges[i, b], symbols[i + 1, b]
                if score < _DEAD or scores[j] < _DEAD:
                    continue
                if s == expected[j]:
                    for q in range(Q):
                        best[q] = max(best[q], score + tail[j, q])
                else:
                    score += scores[j]
                    for q in range(Q):
                        best[q] = max(best[q], score - cost[s, q] + ahead[j, following[s, q]])
            completion[t, i] = best


@kernel
def trace(node, pool, step, base, states, begins, product, completion, path):  # type: ignore[no-untyped-def]
    """Fill path (T,) with the best states, the first ones by ids; the score is returned, `FORBIDDEN` for none."""
    symbol, _, table, following, cost, _ = product
    T, B = len(node), pool.shape[2]
    total, q = FORBIDDEN, 0
    path[0] = 0
    for at in range(begins[0], begins[1]):
        j = states[at]
        s = symbol[table[0], 0, j]
        score = node[0, j] - cost[s, 0] + completion[0, j, following[s, 0]]
        if score > total:
            total, q = score, following[s, 0]
            path[0] = j
    if total < _DEAD:
        return FORBIDDEN
    for t in range(1, T):
        i, before = path[t - 1], q
        best = 4 * FORBIDDEN
        for at in range(begins[t], begins[t + 1]):
            j = states[at]
            b = j - base[i]
            if b < 0 or b >= B:
                continue
            s = symbol[table[t], i + 1, b]
            score = max(pool[step[t - 1], i, b] + node[t, j], FORBIDDEN) - cost[s, before]
            score += completion[t, j, following[s, before]]
            if score > best:
                best, q = score, following[s, before]
                path[t] = j
    return total


@kernel
def potentials(symbols, table, worth, following, final, potential):  # type: ignore[no-untyped-def]
    """Fill potential (T, Q): the most that a machine's own future can be worth, whatever the scores.

    symbols (P, C) that the steps of a table can have (-1 for none more), table (T,), worth (Q, X) of reading a
    symbol, following (Q, X), final (Q,) worth at the end.
    """
    T, Q = potential.shape
    potential[T - 1] = final
    for t in range(T - 2, -1, -1):
        possible = symbols[table[t + 1]]
        for q in range(Q):
            best = 2 * FORBIDDEN
            for s in possible:
                if s < 0:
                    break
                best = max(best, worth[q, s] + potential[t + 1, following[q, s]])
            potential[t, q] = max(best, FORBIDDEN)
