"""The best labellings of many sequences: Viterbi, and where its path breaks machines, relaxations of more and more of them."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.label_setting import DEAD, NONE, follow, no_prefixes, spell
from ilpinfer.kernels.recursion import complete, trace
from ilpinfer.kernels.tables import EDGES, MACHINES, NODES

PROVED, TOO_MUCH_WORK, NO_PATH, NO_LABELLING, UNKNOWN_CLASS = range(5)
"""How a sequence ended: the best labelling; the best one so far, or none; no labelling has a finite score; the hard ones
of the machines taken up leave none; a token has a class that was not met before, see `classify`, and nothing else is filled."""
CODE, VALUE, BOUND, RELAXED, WORK = range(5)
"""Columns of results: how it ended; the labelling's value, FORBIDDEN where there is none; an upper bound on the best value;
the best value without machines; steps of label setting."""
DIRECT = 2**17
"""Slots of the largest direct index of label setting; beyond, keys are hashed."""


@subroutine
def classify(windows, tokens, classes):  # type: ignore[no-untyped-def]
    """Fill classes (3, T) of distinct tokens (T,); returns the first token of an unknown class, or -1."""
    numbers, known, T, unknown = windows.numbers, windows.classes, len(tokens), len(tokens)
    for purpose in range(3):
        start, befores = windows.start[purpose], windows.shape[purpose, 0]
        owns, nexts = windows.shape[purpose, 1], windows.shape[purpose, 2]
        before, token = 0, tokens[0]
        for t in range(T):
            following = tokens[t + 1] if t < T - 1 else -1
            after = numbers[following, purpose, 2] if following >= 0 else 0
            own, c = numbers[token, purpose, 1], np.int32(-1)
            if before < befores and own < owns and after < nexts:
                c = known[start + (before * owns + own) * nexts + after]
            classes[purpose, t] = c
            if c < 0:
                unknown = min(unknown, t)
            before, token = numbers[token, purpose, 0], following
    return unknown if unknown < T else -1


@subroutine
def _charge(cost, m, mask, taken, count, total):  # type: ignore[no-untyped-def]
    """Add what machine m costs, and the machine to those that are taken up; returns their number, and the total cost."""
    if cost == 0:
        return count, total
    if not mask[m]:
        mask[m] = 2
        taken[count] = m
        count += 1
    return count, min(total + cost, -FORBIDDEN)


@subroutine
def judge(handle, classes, path, mask, room, count):  # type: ignore[no-untyped-def]
    """Charge a labelling for the machines that are not taken up, and take up those that it breaks.

    Parameters
    ----------
    classes : (T,) of machines
    mask : (M,) 1 for machines taken up
    room : (3, M) the machines taken up, `count` of them; -1; anything

    Returns
    -------
    how many are taken up now, and the cost, at most -FORBIDDEN
    """
    machines, K = handle.machines, handle.scores.edge.shape[1]
    begin, event, symbols, final = machines.begin, machines.event, machines.symbols, machines.final
    taken, state, visited = room[0], room[1], room[2]
    before, touched, now, total = 0, 0, count, np.int64(0)
    for t in range(len(path)):
        c, j = classes[t], path[t]
        step = (c * (K + 1) + before) * K + j
        for e in range(begin[step], begin[step + 1]):
            m = np.int64(event[e])
            if mask[m] == 1:
                continue
            if state[m] < 0:
                state[m] = 0
                visited[touched] = m
                touched += 1
            symbol = symbols[machines.table[c, m] + before * machines.stride[m] + j]
            arc = machines.arc[m] + state[m] * machines.width[m] + symbol
            state[m] = machines.next_state[arc]
            now, total = _charge(machines.cost[arc], m, mask, taken, now, total)
        before = j + 1
    for owing in range(len(machines.owing)):
        m = np.int64(machines.owing[owing])
        if state[m] < 0 and mask[m] != 1:
            now, total = _charge(final[machines.state_at[m]], m, mask, taken, now, total)
    for v in range(touched):
        m = visited[v]
        now, total = _charge(final[machines.state_at[m] + state[m]], m, mask, taken, now, total)
        state[m] = -1
    for v in range(count, now):
        mask[taken[v]] = 1
    return now, total


@subroutine
def _refine(handle, edge_at, classes, recursion, limits, path, trial, result, mask, room, count):  # type: ignore[no-untyped-def]
    """Relaxations of more and more machines, `count` at first, until the best labelling breaks no other."""
    p = no_prefixes()
    while True:
        left, taken = (limits[0] - result[WORK], limits[1]), room[0, :count]
        end, bound, steps, p = follow(
            handle, edge_at, classes, taken, recursion, result[BOUND], result[VALUE], left, p
        )
        result[BOUND] = bound
        result[WORK] += steps
        if end < 0:
            result[CODE] = NO_LABELLING if end == NONE else TOO_MUCH_WORK
            return
        spell(p, end, trial)
        before = count
        count, cost = judge(handle, classes, trial, mask, room, count)
        if count == before or bound - cost > max(result[VALUE], DEAD):
            result[VALUE] = bound - cost
            for t in range(len(path)):
                path[t] = trial[t]
        if count == before:
            return


@subroutine
def decode(handle, emission, rows, tokens, recursion, limits, path, result, mask, room):  # type: ignore[no-untyped-def]
    """Decode one sequence, as `decode_batch` does.

    Parameters
    ----------
    rows, path : (T,)
    tokens : (5, T) at least: classes for each purpose, entries of `scores.edge`, and anything
    recursion : completion and tail (T, Kp), filled
    room : as for `judge`
    """
    completion, tail = recursion
    edge_at, T = tokens[3], len(rows)
    total = complete(handle, emission, rows, tokens[NODES], edge_at, completion, tail)
    result[WORK] = 0
    for m in range(len(mask)):
        mask[m] = 0
    if total < DEAD:
        result[CODE] = NO_PATH
        result[VALUE] = result[BOUND] = result[RELAXED] = FORBIDDEN
        for t in range(T):
            path[t] = -1
        return
    result[CODE] = PROVED
    result[VALUE] = result[BOUND] = result[RELAXED] = total
    trace(handle.scores.edge, edge_at, completion, tail, total, path)
    count, cost = judge(handle, tokens[MACHINES], path, mask, room, np.int64(0))
    if count:
        result[VALUE] = total - cost if total - cost > DEAD else FORBIDDEN
        classes, trial, ends = tokens[MACHINES, :T], tokens[4, :T], (completion, tail, total)
        _refine(handle, edge_at, classes, ends, limits, path, trial, result, mask, room, count)
        if result[VALUE] < DEAD:
            for t in range(T):
                path[t] = -1


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
    scores = handle.scores
    longest = 0
    for n in range(len(begins) - 1):
        longest = max(longest, begins[n + 1] - begins[n])
    work = np.empty((5, longest), np.int64)
    space = np.empty((2, longest, scores.edge.shape[2]), np.int64)
    room = np.full((3, masks.shape[1]), -1)
    for n in range(len(begins) - 1):
        b, e = begins[n], begins[n + 1]
        if given.shape[1]:
            for t in range(b, e):
                for purpose in range(3):
                    work[purpose, t - b] = given[purpose, t]
        elif classify(handle.windows, tokens[b:e], work) >= 0:
            results[n, CODE] = UNKNOWN_CLASS
            continue
        work[3, 0] = 0
        for t in range(b + 1, e):
            work[3, t - b] = scores.which[pool[t] if len(pool) else 0, work[EDGES, t - b]]
        recursion = completions[b:e] if len(completions) else space[0], space[1]
        limit = limits[0] * (e - b), limits[1]
        decode(handle, emission, rows[b:e], work, recursion, limit, paths[b:e], results[n], masks[n], room)
