# mypy: allow-untyped-defs
"""Viterbi over the product of a lattice with a few machines, from the last token to the first."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine

_DEAD = FORBIDDEN // 2


class Domains(NamedTuple):
    """The states that each token can have: those of token t are states[begins[t] : begins[t + 1]], ascending.

    A state has at most `labels` successors.
    """

    states: Small
    begins: Integers
    labels: int

    @property
    def steps(self) -> int:
        """Upper bound on the steps between neighbouring tokens."""
        count = np.diff(self.begins)
        return int((count[:-1] * np.minimum(count[1:], self.labels)).sum()) + 1


class Product(NamedTuple):
    """Machines that a chain is multiplied with: Q joint states, J joint symbols, C tables of symbols.

    Symbol (C, S+1, B) of each step, the first row from START; the usual symbol of the steps into a state (C, S); the
    table of
    each token (T,); the next states (J, Q) and the cost (J, Q) of a symbol; and the cost (Q,) at the end.
    """

    symbol: Small
    usual: Small
    table: Integers
    following: Small
    cost: Integers
    final: Integers


class Futures(NamedTuple):
    """The most that the futures of machines can give back of the charges for their sums, grid units.

    Tables (T, states) one after the other, the begin of each machine's table (M,), -1 for none, and its number of
    states (M,).
    """

    table: Integers
    begin: Integers
    states: Integers


@subroutine
def no_futures(futures):
    """Whether no machine can give anything back."""
    last = -1
    for begin in futures.begin:
        last = max(last, begin)
    return last < 0


@subroutine
def future_gain(futures, vectors, t, joint):
    """The best futures of all machines after token t, from a joint state."""
    extra = 0
    for m in range(len(futures.begin)):
        if futures.begin[m] >= 0 and extra > _DEAD:
            extra += futures.table[futures.begin[m] + t * futures.states[m] + vectors[joint, m]]
    return max(extra, FORBIDDEN)


@kernel
def prune(chain, domains, completion, floor, output):
    """Fill `output` with the states of each token that a labelling of at least `floor` can pass through.

    `completion` (T, S) bounds the score after a state. The best score up to a state and the best score after it add up to its
    max-marginal.
    """
    node, pool, step, base = chain
    states, begins, kept_states, kept_begins = domains.states, domains.begins, output.states, output.begins
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
                    i = kept_states[source]
                    b = j - base[i]
                    if 0 <= b < B:
                        best = max(best, now[i] + pool[step[t - 1], i, b])
            ahead[j] = max(best + node[t, j], FORBIDDEN)
            if ahead[j] > _DEAD and ahead[j] + completion[t, j] >= floor:
                kept_states[count] = j
                count += 1
        kept_begins[t + 1] = count
        now, ahead = ahead, now


@kernel
def complete(chain, domains, product, completion, last, first, path):
    """Fill completion (T, S, Q) for tokens last, last - 1 … first: the best score after a state and machine states.

    Only the states in a token's domain are filled. After the first token, path (T,) is filled with the best states, the first ones by
    ids. Returns the score, `FORBIDDEN` where there is no path.
    """
    node, pool, step, base = chain
    states, begins = domains.states, domains.begins
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
            for q in range(Q):
                best[q] = FORBIDDEN
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
            for q in range(Q):
                completion[t, i, q] = best[q]
    return FORBIDDEN if first else _trace(chain, product, completion, path)


@subroutine
def _trace(chain, product, completion, path):
    """The best states, and the score."""
    node, pool, step, base = chain
    symbol, _, table, following, cost, _ = product
    T, B = len(node), pool.shape[2]
    total, q = FORBIDDEN, 0
    path[0] = 0
    for j in range(B):
        s = symbol[table[0], 0, j]
        score = node[0, j] - cost[s, 0] + completion[0, j, following[s, 0]]
        if score > total:
            total, q = score, following[s, 0]
            path[0] = j
    for t in range(1, T):
        i, before = path[t - 1], q
        best = 4 * FORBIDDEN
        for b in range(B):
            j = base[i] + b
            s = symbol[table[t], i + 1, b]
            score = max(pool[step[t - 1], i, b] + node[t, j], FORBIDDEN) - cost[s, before]
            score += completion[t, j, following[s, before]]
            if score > best:
                best, q = score, following[s, before]
                path[t] = j
    return total if total >= _DEAD else FORBIDDEN


@kernel
def potentials(symbols, table, worth, following, final, potential):
    """Fill potential (T, Q): the largest value of a machine's own future, for any scores.

    symbols (P, C) of the steps of a table, filled up with -1; table (T,); worth (Q, X), the value of reading a symbol;
    following (Q, X), the next states; final (Q,), the value at the end.
    """
    T, Q = potential.shape
    for q in range(Q):
        potential[T - 1, q] = final[q]
    for t in range(T - 2, -1, -1):
        possible = symbols[table[t + 1]]
        for q in range(Q):
            best = 2 * FORBIDDEN
            for s in possible:
                if s < 0:
                    break
                best = max(best, worth[q, s] + potential[t + 1, following[q, s]])
            potential[t, q] = max(best, FORBIDDEN)
