"""Building the product of a lattice with its rules' machines, token by token."""

import numpy as np

from formulations.grid import FORBIDDEN, UNITS_PER_NAT
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.packed import HARD
from ilpinfer.kernels.readings import longer, place, rehashed

BROKEN = -1
"""State of every machine of a soft rule that counts at most once, and has."""
DEAD, UNREAD = -1, -2
"""Where an arc leads that breaks a hard rule, and one that was not needed."""
ARCS_PER_STATE = 8
"""How many arcs the budget allows for each joint state."""
_FORBIDDEN = FORBIDDEN // 2


@kernel
def _read(packed, before, symbols, after, counts):  # type: ignore[no-untyped-def]
    """Fill `after` and what each rule counts; the price in nats, inf if a hard rule breaks."""
    counts[:] = 0
    for m in range(len(before)):
        after[m] = before[m]
        if before[m] != BROKEN:
            arc = packed.arc[m] + before[m] * packed.width[m] + symbols[m]
            after[m] = packed.next_state[arc]
            counts[packed.rule[m]] += packed.emits[arc]
    price = _price(packed, counts)
    for m in range(len(before)):
        rule = packed.rule[m]
        if packed.binary[rule] and counts[rule]:
            after[m] = BROKEN
    return price


@kernel
def _end(packed, states, counts):  # type: ignore[no-untyped-def]
    """What each rule counts after the last token; the price as above."""
    counts[:] = 0
    for m in range(len(states)):
        if states[m] != BROKEN:
            counts[packed.rule[m]] += packed.final[packed.state_at[m] + states[m]]
    return _price(packed, counts)


@kernel
def _price(packed, counts):  # type: ignore[no-untyped-def]
    units = 0
    for rule in range(len(counts)):
        if counts[rule]:
            if packed.penalty[rule] == HARD:
                return np.inf
            if packed.binary[rule]:
                counts[rule] = 1
            units += packed.penalty[rule] * counts[rule]
    return units / UNITS_PER_NAT


@kernel
def expand(packed, readings, steps, possible, pool, budget):  # type: ignore[no-untyped-def]
    """Every vector of machine states that is reached, and its arcs.

    Parameters
    ----------
    readings : `number`, `symbols` and `begin` of `number_readings`, and the kind of each token (T,)
    steps : both of `group_rows`, which of its pairs each step uses (T-1,), and which edge scores (T-1,)
    possible : (T, K) whether any path leads on from a label, rules apart
    budget : joint states allowed

    Returns
    -------
    tuple
        first (T+1,) vectors of token t are first[t] … first[t+1] - 1
        states (V, M), alive (V, K): with which labels a vector is reached
        arc_at (V+1,) arcs of vector v on reading n begin there, entry 0 being that of START
        leads (A,) the vector that an arc leads to, or `DEAD` or `UNREAD`; price (A,) nats
        end (V,) nats charged after the last token, 0 for vectors of other tokens
        token at which the budget was passed, or T
    """
    _, symbols, begin, kind = readings
    T, K = possible.shape
    M = symbols.shape[1]
    first = np.zeros(T + 1, np.int64)
    states, alive = np.zeros((64, M), np.int32), np.zeros((64, K), np.bool_)
    arc_at = np.zeros(65, np.int64)
    leads, price = np.empty(256, np.int32), np.empty(256)
    vectors = arcs = 0
    passed = T
    for t in range(T):
        found = first[t] = vectors
        table = np.full(16, -1, np.int64)
        width = begin[kind[t] + 1] - begin[kind[t]]
        for u in range(first[t - 1] if t else -1, found):
            arc_at[u + 1] = arcs
            while arcs + width > len(leads):
                leads, price = np.concatenate((leads, leads)), np.concatenate((price, price))
            while vectors + width > len(states):
                states, alive = longer(states, 2 * len(states)), longer(alive, 2 * len(alive))
                arc_at = np.concatenate((arc_at, arc_at))
            while 2 * (vectors - found + width) > len(table):
                table = rehashed(table, states, found, vectors - found)
            leads_now, price_now = leads[arcs : arcs + width], price[arcs : arcs + width]
            made = states, alive, leads_now, price_now, table
            vectors = _follow(packed, readings, steps, possible, pool, t, u, found, vectors, made)
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
        counts = np.empty(len(packed.penalty), np.int64)
        for v in range(first[T - 1], vectors):
            end[v] = _end(packed, states[v], counts)
    return (
        first,
        states[:vectors],
        alive[:vectors],
        arc_at[: vectors + 1],
        leads[:arcs],
        price[:arcs],
        end,
        passed,
    )


@kernel
def _follow(packed, readings, steps, possible, pool, t, u, found, vectors, made):  # type: ignore[no-untyped-def]
    """Read token t after vector u, -1 for START, and add new vectors; how many there are then."""
    number, symbols, begin, kind = readings
    _, group, pair, step = steps
    states, alive, leads, price, table = made
    K, M = possible.shape[1], symbols.shape[1]
    counts, after = np.empty(len(packed.penalty), np.int64), np.empty(M, np.int32)
    needed, none = np.ones(K, np.bool_), np.zeros(K, np.int64)
    before = np.zeros(M, np.int32) if u < 0 else states[u]
    leads[:] = UNREAD
    for i in range(-1 if u < 0 else 0, 0 if u < 0 else K):
        if i >= 0:
            if not alive[u, i] or not needed[group[pair[t - 1], i]]:
                continue
            needed[group[pair[t - 1], i]] = False
        read = number[kind[t], i + 1]
        edges = pool[step[t - 1], i] if i >= 0 else none
        for j in range(K):
            if not possible[t, j] or edges[j] < _FORBIDDEN:
                continue
            n = read[j]
            if leads[n] == UNREAD:
                price[n] = _read(packed, before, symbols[begin[kind[t]] + n], after, counts)
                leads[n] = DEAD
                if price[n] < np.inf:
                    slot = place(table, states, found, after)
                    if table[slot] < 0:
                        table[slot] = vectors - found
                        states[vectors] = after
                        alive[vectors] = False
                        vectors += 1
                    leads[n] = found + table[slot]
            if leads[n] >= 0:
                alive[leads[n], j] = True
    return vectors


@kernel
def expected_counts(packed, readings, product, mass, ended, expected):  # type: ignore[no-untyped-def]
    """Add to expected (R,) what rules count on arcs, with probability mass (A,), and at the end, ended (V,)."""
    _, symbols, begin, kind = readings
    first, states, _, arc_at, _, _, _, _ = product
    M = states.shape[1]
    T = len(first) - 1
    counts = np.empty(len(expected), np.int64)
    after, start = np.empty(M, np.int32), np.zeros(M, np.int32)
    for t in range(T):
        width = begin[kind[t] + 1] - begin[kind[t]]
        for u in range(first[t - 1] if t else -1, first[t] if t else 0):
            before = states[u] if t else start
            for n in range(width):
                share = mass[arc_at[u + 1] + n]
                if share > 0.0:
                    _read(packed, before, symbols[begin[kind[t]] + n], after, counts)
                    expected += share * counts
    for v in range(first[T - 1], first[T]):
        _end(packed, states[v], counts)
        expected += ended[v] * counts
