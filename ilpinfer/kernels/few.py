# mypy: allow-untyped-defs
"""The best few labellings of many sequences: relaxations of more and more machines, until no labelling breaks another
machine.
"""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.charges import charge_labelling, room_for
from ilpinfer.kernels.decoding import (
    FEWEST_JOINT,
    MOST_AT_ONCE,
    MOST_JOINT,
    check_value,
    classify,
    count_marks,
    count_sums,
    multiply_active,
    output_views,
)
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.joint import no_machines
from ilpinfer.kernels.label_setting import FIRST_STEP, STOPPED
from ilpinfer.kernels.multipliers import tighten
from ilpinfer.kernels.prefixes import no_prefixes
from ilpinfer.kernels.ranking import build_graph, least_of, list_paths, rank_values
from ilpinfer.kernels.recursion import DEAD, complete, width_of
from ilpinfer.kernels.tables import (
    BOUND,
    CODE,
    EDGES,
    MACHINES,
    NO_LABELLING,
    NO_PATH,
    NODES,
    PROVED,
    TOO_MUCH_WORK,
    UNKNOWN_CLASS,
    VALUE,
    WRONG_VALUE,
)

NUMBER, WORK = 1, 2
"""Columns of results, after `CODE`: number of labellings, and number of steps."""
FIRST_SHARE = 64
"""The attempt before machines are multiplied has 1 / FIRST_SHARE of the steps."""
MOST_LISTED = 2**24
"""Labels of all labellings of a list together."""


@subroutine
def _charge(handle, classes, paths, values, number, mask, room, count):
    """Activate machines that the labellings break; the number of active machines, and a lower bound on the last
    labelling.
    """
    trial, worth = np.empty(len(classes), np.int64), np.empty(number, np.int64)
    broken, now = np.zeros(len(mask), np.bool_), count
    for k in range(number):
        for t in range(len(classes)):
            trial[t] = paths[k, t]
        more, cost = charge_labelling(handle.scores, handle.machines, classes, trial, mask, room, count)
        worth[k] = FORBIDDEN if cost >= HARD else values[k] - cost
        for a in range(count, more):
            broken[room[0, a]] = True
            mask[room[0, a]] = 0
    for m in range(len(mask)):
        if broken[m]:
            room[0, now], mask[m] = m, 1
            now += 1
    return now, least_of(worth, number, len(values))


@subroutine
def _relax(handle, emission, rows, tokens, recursion, limits, found, least, early):
    """Relaxations of more and more machines, until the best few labellings break no other machine.

    With `early`, it ends after few steps where active sums may have multipliers. limits : steps of the first attempt, steps in all, and a
    value below which no labelling is wanted. least : lower bound on the last labelling of the list; a better bound is returned, too.
    found : paths, values, result, marks, and room for machines; other parameters as of `decode_few`.
    """
    paths, values, result, marks, room = found
    completion, tail = recursion
    T, S, top = len(rows), emission.shape[1], len(values)
    edge_at, classes, mask = tokens[3, :T], tokens[MACHINES, :T], marks[0]
    for m in range(len(mask)):
        mask[m] = 0
    bound = complete(handle.scores, emission, rows, tokens[NODES], edge_at, completion, tail)
    if bound < DEAD:
        result[CODE] = NO_PATH
        return least
    result[CODE] = TOO_MUCH_WORK
    few, work, lowest = result[WORK] + limits[0], limits[1], limits[2]
    ends = bare = completion, tail, bound
    joint, most, g, best = no_machines(T, S), FEWEST_JOINT, no_prefixes(T), np.empty(top, np.int64)
    count, step = 0, FIRST_STEP
    floor = max(bound - step, least)
    while True:
        active = room[0, :count]
        left = min(few, work) - result[WORK]
        code, cut, steps, g = build_graph(handle, edge_at, classes, joint, active, ends, floor, left, g)
        result[WORK] += steps
        if code == STOPPED:
            if few >= work or (early and count_sums(handle.machines, active)):
                return least
            joint, ends, count = multiply_active(
                *(handle, emission, rows, tokens, bare, marks, room, count, most),
                *(work - result[WORK], least),
            )
            few, most = (work if most == MOST_JOINT else result[WORK] + work // 4), MOST_JOINT
            bound = min(bound, ends[2])
            floor = max(min(floor, bound - FIRST_STEP), least)
            continue
        number = rank_values(g, T, best)
        last = best[0] if number == top else DEAD
        if cut > DEAD and last < floor and floor > lowest:
            step = 2 * step
            floor = max(bound - step, last, least)
            continue
        if number == 0:
            result[CODE] = NO_LABELLING
            return least
        list_paths(g, T, best, number, paths, values)
        before = count
        count, worth = _charge(handle, classes, paths, values, number, mask, room, count)
        if count == before:
            result[CODE], result[NUMBER] = PROVED, number
            return least
        least, bound, step = max(least, worth), bound if number < top else last, FIRST_STEP
        floor = lowest if number < top else max(bound - step, least)


@subroutine
def _list(handle, emission, rows, tokens, recursion, limits, found):
    """The best labellings of one sequence; sums get multipliers where few steps do not suffice."""
    completion, tail = recursion
    _, _, result, marks, room = found
    T, most, least, early = len(rows), limits[1], limits[2], True
    edge_at, best, path = tokens[3, :T], np.zeros(6, np.int64), np.empty(T, np.int64)
    while True:
        least = _relax(handle, emission, rows, tokens, recursion, limits, found, least, early)
        if not early or result[CODE] != TOO_MUCH_WORK or result[WORK] >= most:
            return
        total = complete(handle.scores, emission, rows, tokens[NODES], edge_at, completion, tail)
        best[VALUE], best[BOUND] = least if least > DEAD else FORBIDDEN, HARD
        ends = completion, tail, total
        handle, emission, rows = tighten(
            handle, emission, rows, tokens, ends, path, best, marks, room, most - result[WORK], False
        )
        early = False


@kernel
def decode_few(handle, emission, begins, tokens, rows, pool, limits, top, buffer, first, last):
    """The best few labellings of sequences, as `decode_batch` decodes them.

    Parameters
    ----------
    handle, emission, begins, tokens, rows, pool, first, last : as of `decode_batch`
    limits : steps for each token and labels of a list; steps that any sequence may take; the third is not read
    top : labellings of each sequence
    buffer : zeros, filled; see `output_views`. The columns of results are `CODE`, `NUMBER`, `WORK`,
        `MULTIPLIERS` and `ACTIVE`
    """
    K, longest, spent, n = handle.scores.labels, 0, 0, first
    M, R = len(handle.machines.layout), len(handle.counts.rules)
    paths, values, results, parts, marks, violations = output_views(buffer, begins, top, M, R)
    for n in range(first, last):
        longest = max(longest, begins[n + 1] - begins[n])
    work, space = np.empty((5, longest), np.int64), np.empty((2, longest, width_of(handle.scores)), np.int64)
    room, n = room_for(handle.machines), first
    while n < last and spent < MOST_AT_ONCE:
        b, e = begins[n], begins[n + 1]
        T, result, steps_of = e - b, results[n], pool[b:e] if len(pool) else pool
        result[CODE] = UNKNOWN_CLASS
        if classify(handle.windows, tokens[b:e], work) < 0:
            work[3, 0] = 0
            for t in range(1, T):
                work[3, t] = handle.scores.which[pool[b + t] if len(pool) else 0, work[EDGES, t]]
            most = max(limits[0] * T, limits[1])
            own = paths[b * top : e * top].reshape((top, T))
            steps = most // FIRST_SHARE, most, DEAD
            result[CODE] = TOO_MUCH_WORK
            if T * top <= MOST_LISTED:
                found = own, values[n], result, marks[n], room
                _list(handle, emission, rows[b:e], work, (space[0], space[1]), steps, found)
            count_marks(marks[n], result)
            sequence = rows[b:e], steps_of, work
            for k in range(result[NUMBER] if result[CODE] == PROVED else 0):
                said = parts[n, k], violations[n, k]
                if not check_value(handle, emission, *sequence, own[k], values[n, k], result, room, *said):
                    result[CODE] = WRONG_VALUE
        spent += T * K * K + result[WORK]
        n += 1
    return n


@kernel
def decode_few_ground(handle, emission, classes, limits, paths, values, result, marks):
    """The best few labellings of one sequence.

    Parameters
    ----------
    emission, classes, marks : as of `decode_ground`
    limits : of `_relax`
    paths, values, result : (top, T) states, (top,), and (7,), as of `decode_few`
    """
    T = len(emission)
    tokens, order = np.zeros((5, T), np.int64), np.arange(T)
    tokens[3], tokens[MACHINES] = classes[0], classes[1]
    space, room = np.empty((2, T, width_of(handle.scores)), np.int64), room_for(handle.machines)
    result[CODE], result[NUMBER], result[WORK] = TOO_MUCH_WORK, 0, 0
    found = paths, values, result, marks, room
    _list(handle, emission, order, tokens, (space[0], space[1]), limits, found)
