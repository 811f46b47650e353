# mypy: allow-untyped-defs
"""Message passing between a lattice and lists of tokens whose labels should be of one kind.

Each list is a chain of its own. The score of a token in a list is the sum of two parts: one in the lattice, one in the list.
A sweep visits the tokens in order. It moves score between the two parts until both have the same max-marginals of the kinds,
apart from a constant. The sum of both optima never rises (tree-reweighted message passing: Kolmogorov 2006).
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.jit import kernel, subroutine


class Scores(NamedTuple):
    """A lattice of T tokens and S states, K of which follow a state, with the values of a sweep."""

    node: Integers  # (T, S) scores, including those moved here from the lists
    pool: Integers  # this one and the next two as in `Lattice`
    step: Integers
    base: Integers
    reach: Integers  # (T, S) best score up to a state, its own included
    ahead: Integers  # (T, S) best score after it


class Lists(NamedTuple):
    """N entries of all lists in the order of their tokens, with F kinds each."""

    kind: Integers  # (S,) the kind of a state
    begin: Integers  # (T + 1,) the entries of token t are begin[t] to begin[t + 1] - 1
    before: Integers  # (N,) the entry before in the same list, -1 for none
    after: Integers  # (N,) the entry after
    penalty: Integers  # (N,) where the kind differs from that of the entry before, grid units or `HARD`
    own: Integers  # (N, F) scores, less those moved to the lattice
    past: Integers  # (N, F) best score up to a kind, its own included
    future: Integers  # (N, F) best score after it


@subroutine
def _across(values, penalty, result):
    """Fill result (F,) with the best score before an entry, for each of its kinds."""
    best = values.max() - penalty
    for f in range(len(values)):
        result[f] = values[f] if penalty == HARD else max(values[f], best)


@subroutine
def _balance(t, n, scores, lists):
    """Divide the scores of a token's kinds evenly between the lattice and one of its lists."""
    S, F = len(lists.kind), lists.own.shape[1]
    through = np.full(F, FORBIDDEN, np.int64)
    for s in range(S):
        value = scores.reach[t, s] + scores.ahead[t, s]
        through[lists.kind[s]] = max(through[lists.kind[s]], value)
    chain = lists.past[n] + lists.future[n]
    best, highest = through.max(), chain.max()
    moved = np.zeros(F, np.int64)
    for f in range(F):
        if through[f] < FORBIDDEN // 2 or chain[f] < FORBIDDEN // 2:
            moved[f] = FORBIDDEN
            lists.own[n, f] = lists.past[n, f] = FORBIDDEN
        else:
            moved[f] = ((chain[f] - highest) - (through[f] - best)) >> 1
            lists.own[n, f] -= moved[f]
            lists.past[n, f] -= moved[f]
    for s in range(S):
        scores.node[t, s] = max(scores.node[t, s] + moved[lists.kind[s]], FORBIDDEN)
        scores.reach[t, s] = max(scores.reach[t, s] + moved[lists.kind[s]], FORBIDDEN)


@kernel
def forward(scores, lists, moving):
    """Fill reach and past; where `moving`, divide the scores of each token anew."""
    T, S = scores.node.shape
    K = scores.pool.shape[2]
    for t in range(T):
        scores.reach[t] = scores.node[t]
        if t:
            best = np.full(S, FORBIDDEN, np.int64)
            edges, before = scores.pool[scores.step[t - 1]], scores.reach[t - 1]
            for i in range(S):
                if before[i] > FORBIDDEN // 2:
                    first = scores.base[i]
                    for j in range(K):
                        best[first + j] = max(best[first + j], before[i] + edges[i, j])
            for s in range(S):
                scores.reach[t, s] = max(scores.node[t, s] + best[s], FORBIDDEN)
        for n in range(lists.begin[t], lists.begin[t + 1]):
            lists.past[n] = 0
            if lists.before[n] >= 0:
                _across(lists.past[lists.before[n]], lists.penalty[n], lists.past[n])
            for f in range(lists.own.shape[1]):
                lists.past[n, f] = max(lists.past[n, f] + lists.own[n, f], FORBIDDEN)
            if moving:
                _balance(t, n, scores, lists)


@kernel
def backward(scores, lists, moving):
    """Fill ahead and future; where `moving`, divide the scores of each token anew."""
    T, S = scores.node.shape
    K = scores.pool.shape[2]
    tail, values = np.empty(S, np.int64), np.empty(lists.own.shape[1], np.int64)
    for t in range(T - 1, -1, -1):
        scores.ahead[t] = 0
        if t < T - 1:
            edges = scores.pool[scores.step[t]]
            for s in range(S):
                tail[s] = max(scores.node[t + 1, s] + scores.ahead[t + 1, s], FORBIDDEN)
            for i in range(S):
                first, best = scores.base[i], FORBIDDEN
                for j in range(K):
                    best = max(best, edges[i, j] + tail[first + j])
                scores.ahead[t, i] = best
        for n in range(lists.begin[t], lists.begin[t + 1]):
            later = lists.after[n]
            lists.future[n] = 0
            if later >= 0:
                for f in range(len(values)):
                    values[f] = max(lists.own[later, f] + lists.future[later, f], FORBIDDEN)
                _across(values, lists.penalty[later], lists.future[n])
            if moving:
                _balance(t, n, scores, lists)


@kernel
def bound(scores, lists):
    """The sum of the optima, after a backward sweep."""
    total = (scores.node[0] + scores.ahead[0]).max()
    for n in range(len(lists.own)):
        if lists.before[n] < 0:
            total += (lists.own[n] + lists.future[n]).max()
            if total < FORBIDDEN // 2:
                return FORBIDDEN
    return max(total, FORBIDDEN)


@kernel
def best_kinds(lists, kinds):
    """Fill kinds (N,) with the best kinds of each list, after a backward sweep; a tie keeps the kind of the entry
    before.
    """
    for n in range(len(kinds)):
        value = lists.own[n] + lists.future[n]
        if lists.before[n] >= 0:
            last = kinds[lists.before[n]]
            for f in range(len(value)):
                if f != last:
                    value[f] = FORBIDDEN if lists.penalty[n] == HARD else value[f] - lists.penalty[n]
            kinds[n] = last if value[last] == value.max() else value.argmax()
        else:
            kinds[n] = value.argmax()


@kernel
def narrow(scores, lists, total, floor):
    """Forbid the states through which no labelling reaches `floor`; returns their number.

    Both sweeps must have run before, without moving scores.

    total : the bound
    """
    T, S = scores.node.shape
    count, best = 0, (scores.node[0] + scores.ahead[0]).max()
    for t in range(T):
        for s in range(S):
            if scores.node[t, s] > FORBIDDEN // 2:
                value = max(scores.reach[t, s] + scores.ahead[t, s], FORBIDDEN) + total - best
                for n in range(lists.begin[t], lists.begin[t + 1]):
                    chain = lists.past[n] + lists.future[n]
                    value = max(value + chain[lists.kind[s]], FORBIDDEN) - chain.max()
                if value < floor:
                    scores.node[t, s] = FORBIDDEN
                    count += 1
    return count


@kernel
def best_path(scores, path):
    """Fill path (T,) with the states of the lattice's best labelling, the first one by label ids, after a backward sweep."""
    T, i = len(path), 0
    for t in range(T):
        base = scores.base[i] if t else 0
        best, chosen = 4 * FORBIDDEN, 0
        for b in range(scores.pool.shape[2]):
            j = base + b
            score = max(scores.node[t, j] + scores.ahead[t, j], FORBIDDEN)
            score += scores.pool[scores.step[t - 1], i, b] if t else 0
            if score > best:
                best, chosen = score, j
        i = path[t] = chosen
