"""Building the product of a lattice with its rules' machines, token by token."""

import numpy as np

from formulations.grid import FORBIDDEN, UNITS_PER_NAT
from ilpinfer.kernels import kernel
from ilpinfer.search.packed import HARD

BROKEN = -1
"""State of every machine of a soft rule that counts at most once, and has."""
DEAD, UNREAD = -1, -2
"""Where an arc leads that breaks a hard rule, and one that was not needed."""
ARCS_PER_STATE = 16
"""How many arcs the budget allows for each joint state."""
_FORBIDDEN = FORBIDDEN // 2


@kernel
def _place(table, rows, first, row):  # type: ignore[no-untyped-def]
    """Where in a hash table a row is, or belongs; entries number the rows from `first`."""
    hashed = np.uint64(14695981039346656037)
    for value in row:
        hashed = (hashed ^ np.uint64(value + 2)) * np.uint64(1099511628211)
    slot = np.int64((hashed ^ (hashed >> np.uint64(29))) & np.uint64(len(table) - 1))
    while table[slot] >= 0:
        if np.all(rows[first + table[slot]] == row):
            return slot
        slot = (slot + 1) & (len(table) - 1)
    return slot


@kernel
def _rehashed(table, rows, first, count):  # type: ignore[no-untyped-def]
    """A hash table of twice the size."""
    larger = np.full(2 * len(table), -1, np.int64)
    for n in range(count):
        larger[_place(larger, rows, first, rows[first + n])] = n
    return larger


@kernel
def _longer(array, rows):  # type: ignore[no-untyped-def]
    larger = np.empty((rows, array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def number_readings(packed, kinds, K):  # type: ignore[no-untyped-def]
    """Steps that all machines read alike get one number.

    `kinds` (M, N) says which table each machine uses at a token of each kind. Returned are the number of each step,
    (N, K+1, K), the machines' symbols (R, M) of all numbers, and where those of each kind begin, (N+1,).
    """
    M, N = kinds.shape
    number = np.empty((N, K + 1, K), np.int32)
    begin = np.zeros(N + 1, np.int64)
    symbols = np.empty((64, M), np.int16)
    row = np.empty(M, np.int16)
    for kind in range(N):
        first, count = begin[kind], 0
        table = np.full(16, -1, np.int64)
        for i in range(K + 1):
            for j in range(K):
                for m in range(M):
                    row[m] = packed.symbols[kinds[m, kind] + i * packed.stride[m] + j]
                slot = _place(table, symbols, first, row)
                n = table[slot]
                if n < 0:
                    n = table[slot] = count
                    if first + count == len(symbols):
                        symbols = _longer(symbols, 2 * len(symbols))
                    symbols[first + count] = row
                    count += 1
                    if 2 * count > len(table):
                        table = _rehashed(table, symbols, first, count)
                number[kind, i, j] = n
        begin[kind + 1] = first + count
    return number, symbols[: begin[N]], begin


@kernel
def group_rows(number, pool, pairs):  # type: ignore[no-untyped-def]
    """Labels before a step that lead to the same readings get one group, (N, K); so do those with the same possible edges, too.

    `pairs` (2, N) holds edge scores and kind of a step.
    """
    N, K = pairs.shape[1], number.shape[2]
    alike, possible = np.empty((N, K), np.int32), np.empty((N, K), np.int32)
    for n in range(N):
        read = number[pairs[1, n], 1:]
        _group(read, alike[n])
        closed = np.empty((K, 2 * K), np.int32)
        closed[:, :K] = read
        closed[:, K:] = pool[pairs[0, n]] < _FORBIDDEN
        _group(closed, possible[n])
    return alike, possible


@kernel
def _group(rows, group):  # type: ignore[no-untyped-def]
    """Fill group (K,): equal rows get one number."""
    member = np.empty(len(rows), np.int64)
    count = 0
    for i in range(len(rows)):
        g = 0
        while g < count and not _equal(rows[member[g]], rows[i]):
            g += 1
        if g == count:
            member[count] = i
            count += 1
        group[i] = g


@kernel
def _equal(a, b):  # type: ignore[no-untyped-def]
    for j in range(len(a)):
        if a[j] != b[j]:
            return False
    return True


@kernel
def _read(packed, before, symbols, after, counts):  # type: ignore[no-untyped-def]
    """Let every machine read its symbol: `after` and what each rule counts. The price in nats, inf if a hard rule breaks."""
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
        arc_at (V+1,) arcs of vector v on reading n begin there, entry 0 being START, which comes before vector 0
        leads (A,) the vector that an arc leads to, or `DEAD` or `UNREAD`; price (A,) nats
        end (V,) nats charged after the last token, 0 for vectors of other tokens
        token at which the budget was passed, or T
    """
    number, symbols, begin, kind = readings
    _, group, pair, step = steps
    T, K = possible.shape
    M = symbols.shape[1]
    first = np.zeros(T + 1, np.int64)
    states = np.zeros((64, M), np.int32)
    alive = np.zeros((64, K), np.bool_)
    arc_at = np.zeros(65, np.int64)
    leads, price = np.empty(256, np.int32), np.empty(256)
    counts = np.empty(len(packed.penalty), np.int64)
    after = np.empty(M, np.int32)
    needed, none = np.empty(K, np.bool_), np.zeros(K, np.int64)
    vectors = arcs = 0
    passed = T
    for t in range(T):
        found = first[t] = vectors
        table = np.full(16, -1, np.int64)
        width = begin[kind[t] + 1] - begin[kind[t]]
        sources = found - first[t - 1] if t else 1
        while arcs + sources * width > len(leads):
            leads, price = np.concatenate((leads, leads)), np.concatenate((price, price))
        for s in range(sources):
            u = first[t - 1] + s if t else -1
            arc_at[u + 1] = arcs
            leads[arcs : arcs + width] = UNREAD
            before = np.zeros(M, np.int32) if u < 0 else states[u].copy()
            needed[:] = True
            for i in range(K if t else 1):
                if t and (not alive[u, i] or not needed[group[pair[t - 1], i]]):
                    continue
                if t:
                    needed[group[pair[t - 1], i]] = False
                read = number[kind[t], i + 1 if t else 0]
                edges = pool[step[t - 1], i] if t else none
                for j in range(K):
                    if not possible[t, j] or edges[j] < _FORBIDDEN:
                        continue
                    n = read[j]
                    if leads[arcs + n] == UNREAD:
                        price[arcs + n] = _read(packed, before, symbols[begin[kind[t]] + n], after, counts)
                        leads[arcs + n] = DEAD
                        if price[arcs + n] < np.inf:
                            slot = _place(table, states, found, after)
                            if table[slot] < 0:
                                table[slot] = vectors - found
                                if vectors == len(states):
                                    states, alive = _longer(states, 2 * vectors), _longer(alive, 2 * vectors)
                                    arc_at = np.concatenate((arc_at, arc_at))
                                states[vectors] = after
                                alive[vectors] = False
                                vectors += 1
                                leads[arcs + n] = vectors - 1
                                if 2 * (vectors - found) > len(table):
                                    table = _rehashed(table, states, found, vectors - found)
                            else:
                                leads[arcs + n] = found + table[slot]
                    if leads[arcs + n] >= 0:
                        alive[leads[arcs + n], j] = True
            arcs += width
            if vectors * K > budget or arcs > ARCS_PER_STATE * budget:
                passed = t
                break
        if passed < T:
            break
    first[T] = vectors
    end = np.zeros(vectors)
    if passed == T:
        for v in range(first[T - 1], vectors):
            arc_at[v + 1] = arcs
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
def expected_counts(packed, readings, product, mass, ended, expected):  # type: ignore[no-untyped-def]
    """Add to expected (R,) what each rule counts on arcs with probability `mass` (A,) and at the end, `ended` (V,)."""
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
