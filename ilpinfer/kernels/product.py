# mypy: allow-untyped-defs
"""The product of a lattice with its rules' machines, built token by token."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Booleans, Floats, Integers, Small
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.keys import enter, slot_of
from ilpinfer.kernels.machines import close, count_final, read

DEAD, UNREAD = -1, -2
"""Targets of arcs that break a hard rule, and of arcs that no step reads."""
ARCS_PER_STATE = 8
"""Arcs for each joint state in the budget."""
_FORBIDDEN = FORBIDDEN // 2


class Readings(NamedTuple):
    """Numbers for the symbols of all machines on steps, N kinds of tokens: steps with equal symbols have one number."""

    number: Small  # (N, K+1, K) of each step, START first
    symbols: Small  # (R, M) the machines' symbols for each number
    begin: Integers  # (N+1,) the first number of each kind
    kind: Integers  # (T,) of each token


class Groups(NamedTuple):
    """Groups of labels before a step with the same readings; N kinds of steps."""

    alike: Small  # (N, K)
    possible: Small  # (N, K) labels with different possible edges are apart, too
    pair: Integers  # (T-1,) the kind of each step
    step: Integers  # (T-1,) the index of its edge scores


class Product(NamedTuple):
    """V reachable vectors of machine states, and their A arcs."""

    first: Integers  # (T+1,) vectors of token t are first[t] … first[t+1] - 1
    states: Small  # (V, J) machine states; 0 for rules that count once and are paid
    labels: Booleans  # (V, K) whether a vector is reached with a label
    arc_at: Integers  # (V+1,) arcs of vector v on reading n begin there, entry 0 being that of START
    leads: Small  # (A,) the vector that an arc leads to, or `DEAD` or `UNREAD`
    cost: Floats  # (A,) nats
    end: Floats  # (V,) nats charged after the last token, 0 for vectors of other tokens
    passed: int  # token at which the budget was exceeded, or T


@subroutine
def _enlarge(array, rows):
    larger = np.empty((rows, array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@subroutine
def _forget(rules, vector):
    """Set the states of machines whose rule is paid to 0; these machines have no effect any more."""
    for m in range(len(rules.machines.mark)):
        mark = rules.machines.mark[m]
        if mark >= 0 and vector[len(rules.machines.mark) + mark]:
            vector[m] = 0


@subroutine
def _read(rules, symbols, vector):
    """Let machines read their symbols; the cost in nats, inf if a hard rule breaks."""
    machines, cost = rules.machines, np.int64(0)
    for m in range(len(symbols)):
        violations, penalty = read(machines, m, symbols[m], vector), machines.penalty[m]
        if violations and penalty == HARD:
            return np.inf
        cost += penalty * violations
    _forget(rules, vector)
    return cost / UNITS_PER_NAT


@kernel
def expand(rules, size, readings, groups, possible, pool, budget):
    """The product, token by token; joint states have `size` numbers.

    `possible` (T, K) is true where a path leads from a label to the end, rules apart; `budget` limits the joint states.
    """
    begin, kind = readings.begin, readings.kind
    T, K = possible.shape
    first = np.zeros(T + 1, np.int64)
    states, labels = np.zeros((64, size), np.int32), np.zeros((64, K), np.bool_)
    arc_at = np.zeros(65, np.int64)
    leads, arc_cost = np.empty(256, np.int32), np.empty(256)
    vectors = arcs = 0
    passed = T
    for t in range(T):
        offset = first[t] = vectors
        slots = np.full(16, -1, np.int32)
        width = begin[kind[t] + 1] - begin[kind[t]]
        for u in range(first[t - 1] if t else -1, offset):
            arc_at[u + 1] = arcs
            while arcs + width > len(leads):
                leads, arc_cost = np.concatenate((leads, leads)), np.concatenate((arc_cost, arc_cost))
            while vectors + width >= len(states):
                states, labels = _enlarge(states, 2 * len(states)), _enlarge(labels, 2 * len(labels))
                arc_at = np.concatenate((arc_at, arc_at))
            while 2 * (vectors - offset + width) > len(slots):
                slots = np.empty(2 * len(slots), np.int32)
                enter(slots, states, offset, vectors - offset)
            leads_now, cost_now = leads[arcs : arcs + width], arc_cost[arcs : arcs + width]
            made = states, labels, leads_now, cost_now, slots
            vectors = _next_vector(rules, readings, groups, possible, pool, t, u, offset, vectors, made)
            arcs += width
            if vectors * K > budget or arcs > ARCS_PER_STATE * budget:
                passed = t
                break
        if passed < T:
            break
    first[T] = vectors
    end = np.zeros(vectors)
    if passed == T:
        arc_at[first[T - 1] + 1 : vectors + 1] = arcs
        for v in range(first[T - 1], vectors):
            final, hard = close(rules, states[v].copy())
            end[v] = np.inf if hard else final / UNITS_PER_NAT
    return (
        first,
        states[:vectors],
        labels[:vectors],
        arc_at[: vectors + 1],
        leads[:arcs],
        arc_cost[:arcs],
        end,
        passed,
    )


@subroutine
def _next_vector(rules, readings, groups, possible, pool, t, u, offset, vectors, made):
    """Read token t after vector u, -1 for START, and add new vectors; returns the number of vectors."""
    number, symbols, begin, kind = readings
    _, group, pair, step = groups
    states, labels, leads, costs, slots = made
    K = possible.shape[1]
    needed, none = np.ones(K, np.bool_), np.zeros(K, np.int64)
    leads[:] = UNREAD
    for i in range(-1 if u < 0 else 0, 0 if u < 0 else K):
        if i >= 0:
            if not labels[u, i] or not needed[group[pair[t - 1], i]]:
                continue
            needed[group[pair[t - 1], i]] = False
        numbers = number[kind[t], i + 1]
        edges = pool[step[t - 1], i] if i >= 0 else none
        for j in range(K):
            if not possible[t, j] or edges[j] < _FORBIDDEN:
                continue
            n = numbers[j]
            if leads[n] == UNREAD:
                for k in range(states.shape[1]):
                    states[vectors, k] = states[u, k] if u >= 0 else 0
                costs[n] = _read(rules, symbols[begin[kind[t]] + n], states[vectors])
                leads[n] = DEAD
                if costs[n] < np.inf:
                    slot = slot_of(slots, states, vectors, offset, 0)
                    if slots[slot] < offset:
                        slots[slot] = vectors
                        labels[vectors] = False
                        vectors += 1
                    leads[n] = slots[slot]
            if leads[n] >= 0:
                labels[leads[n], j] = True
    return vectors


@kernel
def expected_counts(rules, rule, readings, product, mass, last, expected):
    """Add the expected violations of each rule to expected (R,), from the probabilities of arcs, mass (A,), and of last
    vectors, last (V,).

    rule : of each machine (M,)
    """
    _, symbols, begin, kind = readings
    first, states, arc_at = product.first, product.states, product.arc_at
    T, M = len(first) - 1, len(rule)
    counts, vector = np.empty(len(expected), np.int64), np.empty(states.shape[1], np.int32)
    for t in range(T):
        width = begin[kind[t] + 1] - begin[kind[t]]
        for u in range(first[t - 1] if t else -1, first[t] if t else 0):
            for n in range(width):
                share = mass[arc_at[u + 1] + n]
                if share > 0.0:
                    counts[:] = 0
                    for k in range(len(vector)):
                        vector[k] = states[u, k] if t else 0
                    for m in range(M):
                        counts[rule[m]] += read(rules.machines, m, symbols[begin[kind[t]] + n, m], vector)
                    expected += share * counts
    for v in range(first[T - 1], first[T]):
        counts[:] = 0
        for k in range(len(vector)):
            vector[k] = states[v, k]
        for m in range(M):
            counts[rule[m]] += count_final(rules.machines, m, vector)
        expected += last[v] * counts
