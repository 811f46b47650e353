"""The best labellings of many sequences: Viterbi, and where its path breaks machines, relaxations of more and more of them."""

import numpy as np

from formulations.grid import FORBIDDEN, UNITS_PER_NAT
from ilpinfer.kernels.jit import kernel
from ilpinfer.kernels.label_setting import DEAD, follow, no_prefixes, spell
from ilpinfer.kernels.recursion import complete, trace
from ilpinfer.kernels.tables import EDGES, MACHINES, NODES

PROVED, TOO_MUCH_WORK, NO_PATH, NO_LABELLING, UNKNOWN_CLASS = range(5)
"""How a sequence ended: the best labelling; the best one so far, or none; no labelling has a finite score; the hard ones
of the machines taken up leave none; a token has a class that was not met before, see `classify`."""
CODE, VALUE, BOUND, RELAXED, WORK = range(5)
"""Columns of results: how it ended; the labelling's value, FORBIDDEN where there is none; an upper bound on the best value;
the best value without machines; steps of label setting."""
DIRECT = 2**17
"""Slots of the largest direct index of label setting; beyond, keys are hashed."""
FIRST_STEP = UNITS_PER_NAT * 3 // 2
"""How far below a bound the floor of label setting begins, grid units."""
MOST_KEYS = 2**62


@kernel
def classify(windows, tokens, classes):  # type: ignore[no-untyped-def]
    """Fill classes (3, T) of distinct tokens (T,); returns the first token of an unknown class, or -1."""
    T = len(tokens)
    for purpose in range(3):
        start, befores = windows.start[purpose], windows.shape[purpose, 0]
        owns, nexts = windows.shape[purpose, 1], windows.shape[purpose, 2]
        before = 0
        for t in range(T):
            own = windows.numbers[tokens[t], purpose, 1]
            after = windows.numbers[tokens[t + 1], purpose, 2] if t < T - 1 else 0
            known = before < befores and own < owns and after < nexts
            classes[purpose, t] = (
                windows.classes[start + (before * owns + own) * nexts + after] if known else -1
            )
            before = windows.numbers[tokens[t], purpose, 0]
    for t in range(T):
        if min(classes[NODES, t], classes[EDGES, t], classes[MACHINES, t]) < 0:
            return t
    return -1


@kernel
def _charge(cost, m, mask, taken, count, total):  # type: ignore[no-untyped-def]
    """Add what machine m costs, and the machine to those that are taken up; returns their number, and the total cost."""
    if cost == 0:
        return count, total
    if not mask[m]:
        mask[m] = 2
        taken[count] = m
        count += 1
    return count, min(total + cost, -FORBIDDEN)


@kernel
def judge(machines, K, classes, path, mask, taken, count, states):  # type: ignore[no-untyped-def]
    """Charge a labelling for the machines that are not taken up, and take up those that it breaks.

    Parameters
    ----------
    classes : (T,) of machines
    mask : (M,) 1 for machines taken up, which `taken` lists, `count` of them
    states : (2, M) -1 in row 0; row 1 is room

    Returns
    -------
    how many are taken up now, and the cost
    """
    before, touched, now, total = 0, 0, count, 0
    state, visited = states[0], states[1]
    for t in range(len(path)):
        c, j = classes[t], path[t]
        step = (c * (K + 1) + before) * K + j
        for e in range(machines.begin[step], machines.begin[step + 1]):
            m = machines.event[e]
            if mask[m] == 1:
                continue
            if state[m] < 0:
                state[m] = 0
                visited[touched] = m
                touched += 1
            symbol = machines.symbols[machines.table[c, m] + before * machines.stride[m] + j]
            arc = machines.arc[m] + state[m] * machines.width[m] + symbol
            state[m] = machines.next_state[arc]
            now, total = _charge(machines.cost[arc], m, mask, taken, now, total)
        before = j + 1
    for m in machines.owing:
        if state[m] < 0 and mask[m] != 1:
            now, total = _charge(machines.final[machines.state_at[m]], m, mask, taken, now, total)
    for m in visited[:touched]:
        now, total = _charge(machines.final[machines.state_at[m] + state[m]], m, mask, taken, now, total)
        state[m] = -1
    for m in taken[count:now]:
        mask[m] = 1
    return now, total


@kernel
def _relax(scores, edge_at, machines, classes, taken, recursion, result, limits, p):  # type: ignore[no-untyped-def]
    """The best labelling by the machines taken up, its number in `p` or -1; the result's bound and work go on."""
    work, direct = limits
    keys = scores.edge.shape[1]
    for m in taken:
        if keys > MOST_KEYS // machines.states[m]:
            result[CODE] = TOO_MUCH_WORK
            return -1, p
        keys *= machines.states[m]
    step = FIRST_STEP
    while True:
        floor = max(result[BOUND] - step, result[VALUE], DEAD)
        end, cut, done, p = follow(
            scores, edge_at, machines, classes, taken, recursion, floor, work - result[WORK], direct, p
        )
        result[WORK] += done
        if end == -2:
            result[CODE] = TOO_MUCH_WORK
            return -1, p
        if end >= 0:
            result[BOUND] = p.reach[end]
            return end, p
        result[BOUND] = cut
        if cut < DEAD:
            result[CODE], result[BOUND] = NO_LABELLING, FORBIDDEN
            return -1, p
        step = step * 5 // 2


@kernel
def decode(handle, emission, rows, classes, edge_at, recursion, limits, path, result, mask, room, p):  # type: ignore[no-untyped-def]
    """Decode one sequence; as `decode_batch`, with classes (3, T) and edge_at (T,), and room to work in."""
    scores, machines = handle.scores, handle.machines
    completion, tail = recursion
    taken, states, trial = room
    T, K = len(rows), scores.edge.shape[1]
    total = complete(scores, emission, rows, classes[NODES], edge_at, completion, tail)
    result[RELAXED], result[BOUND], result[VALUE], result[WORK] = total, total, FORBIDDEN, 0
    path[:] = -1
    mask[:] = 0
    if total < DEAD:
        result[CODE], result[RELAXED], result[BOUND] = NO_PATH, FORBIDDEN, FORBIDDEN
        return p
    symbols = classes[MACHINES, :T]
    trace(scores, edge_at, completion, tail, total, trial[:T])
    result[CODE], count = PROVED, 0
    while True:
        before = count
        count, cost = judge(machines, K, symbols, trial[:T], mask, taken, count, states)
        value = result[BOUND] - cost
        if value > max(result[VALUE], DEAD) or count == before:
            result[VALUE] = value
            path[:] = trial[:T]
        if count == before:
            return p
        ends = completion, tail, total
        end, p = _relax(scores, edge_at, machines, symbols, taken[:count], ends, result, limits, p)
        if end < 0:
            return p
        spell(p, end, trial[:T])


@kernel
def decode_batch(  # type: ignore[no-untyped-def]
    handle, emission, begins, tokens, rows, pool, given, limits, paths, results, masks, completions
):
    """Decode N sequences, one after the other, each at least one token long.

    Parameters
    ----------
    handle : `Handle`
    emission : (V, K) score of each label at a row, grid units
    begins : (N + 1,) where sequences begin in what follows, `total` tokens in all
    tokens : (total,) rows of the windows' numbers; (0,) where the classes are given
    rows : (total,) rows of `emission`
    pool : (total,) the model's pool entry of the step into each token, unused at first tokens; (0,) where all are 0
    given : (3, total) classes; (3, 0) where tokens are classified
    limits : the most steps of label setting for a token of a sequence, and slots of the largest direct index
    paths : (total,) filled with the best labellings, -1 where there is none
    results : (N, 5) filled, see `CODE`
    masks : (N, M) filled with 1 for machines that were taken up
    completions : (total, Kp) filled with the best values of what follows each label; (0, Kp) where those are not wanted
    """
    windows, scores, machines = handle.windows, handle.scores, handle.machines
    longest = (begins[1:] - begins[:-1]).max()
    M, size = len(machines.states), (longest, scores.edge.shape[2])
    classes, edge_at = np.empty((3, longest), np.int64), np.empty(longest, np.int64)
    completion, tail = np.empty(size, np.int64), np.empty(size, np.int64)
    room = np.empty(M, np.int64), np.full((2, M), -1), np.empty(longest, np.int64)
    p = no_prefixes(1024)
    for n in range(len(begins) - 1):
        here = slice(begins[n], begins[n + 1])
        T = begins[n + 1] - begins[n]
        if given.shape[1]:
            classes[:, :T] = given[:, here]
        elif classify(windows, tokens[here], classes) >= 0:
            results[n, CODE] = UNKNOWN_CLASS
            continue
        for t in range(T):
            entry = pool[begins[n] + t] if len(pool) and t else 0
            edge_at[t] = scores.which[entry, classes[EDGES, t]]
        ahead = completions[here] if len(completions) else completion[:T]
        work = limits[0] * T, limits[1]
        recursion = ahead, tail[:T]
        p = decode(
            handle,
            emission,
            rows[here],
            classes,
            edge_at,
            recursion,
            work,
            paths[here],
            results[n],
            masks[n],
            room,
            p,
        )
