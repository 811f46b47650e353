# mypy: allow-untyped-defs
"""The best few labellings of many sequences: relaxations of more and more machines, until no labelling breaks another
machine.
"""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.atomics import add
from ilpinfer.kernels.charges import charge_labelling
from ilpinfer.kernels.decoding import (
    FEWEST_JOINT,
    MOST_AT_ONCE,
    MOST_JOINT,
    classify,
    count_sums,
    multiply_active,
)
from ilpinfer.kernels.graph import build_graph, no_graph
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.joint import no_machines
from ilpinfer.kernels.label_setting import DEAD, FIRST_STEP, STOPPED, places_of
from ilpinfer.kernels.multipliers import tighten
from ilpinfer.kernels.ranking import least_of, list_paths, rank_values
from ilpinfer.kernels.recursion import complete
from ilpinfer.kernels.share import DONE, ENTERED, NEXT
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
        more, cost = charge_labelling(handle, classes, trial, mask, room, count)
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
def _relax(
    handle, emission, rows, tokens, recursion, limits, paths, values, result, marks, room, least, early
):
    """Relaxations of more and more machines, until the best few labellings break no other machine.

    With `early`, it ends after few steps where active sums may have multipliers. least : lower bound on the last labelling of
    the list; a better bound is returned, too. Other parameters as of `decode_few`.
    """
    completion, tail = recursion
    T, K, top, width = len(rows), emission.shape[1], len(values), completion.shape[1]
    edge_at, classes, mask = tokens[3, :T], tokens[MACHINES, :T], marks[0]
    for m in range(len(mask)):
        mask[m] = 0
    bound = complete(handle, emission, rows, tokens[NODES], edge_at, completion, tail)
    if bound < DEAD:
        result[CODE] = NO_PATH
        return least
    result[CODE] = TOO_MUCH_WORK
    few, work = result[WORK] + limits[0], limits[1]
    shape = 1, T, width
    ends = completion[:T].reshape(shape), tail[:T].reshape(shape), bound
    joint, most, g, best = no_machines(T, K), FEWEST_JOINT, no_graph(T), np.empty(top, np.int64)
    count, step = 0, FIRST_STEP
    floor = max(bound - step, least)
    while True:
        active = room[0, :count]
        places, _ = places_of(handle.machines.layout, active, K, len(joint.final))
        left = min(few, work) - result[WORK]
        code, cut, steps, g = build_graph(
            handle, edge_at, classes, joint, active, ends, floor, left, places, g
        )
        result[WORK] += steps
        if code == STOPPED:
            if few >= work or (early and count_sums(handle.machines, active)):
                return least
            joint, ends, count = multiply_active(
                handle, emission, rows, tokens, marks, room, count, most, work - result[WORK]
            )
            few, most = (work if most == MOST_JOINT else result[WORK] + work // 4), MOST_JOINT
            bound = min(bound, ends[2])
            floor = max(min(floor, bound - FIRST_STEP), least)
            continue
        number = rank_values(g, T, best)
        last = best[0] if number == top else DEAD
        if cut > DEAD and last < floor:
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
        floor = DEAD if number < top else max(bound - step, least)


@subroutine
def _list(handle, emission, rows, tokens, recursion, limits, paths, values, result, marks, room):
    """The best labellings of one sequence; sums get multipliers where few steps do not suffice."""
    completion, tail = recursion
    T, most, least, early = len(rows), limits[1], DEAD, True
    edge_at, best, path = tokens[3, :T], np.zeros(6, np.int64), np.empty(T, np.int64)
    while True:
        least = _relax(
            handle,
            emission,
            rows,
            tokens,
            recursion,
            limits,
            paths,
            values,
            result,
            marks,
            room,
            least,
            early,
        )
        if not early or result[CODE] != TOO_MUCH_WORK or result[WORK] >= most:
            return
        total = complete(handle, emission, rows, tokens[NODES], edge_at, completion, tail)
        best[VALUE], best[BOUND] = least if least > DEAD else FORBIDDEN, HARD
        ends = completion, tail, total
        handle, emission, rows = tighten(
            handle, emission, rows, tokens, ends, path, best, marks, room, most - result[WORK], False
        )
        early = False


@kernel
def decode_few(handle, emission, begins, tokens, rows, pool, limits, paths, values, results, marks, share):
    """The best few labellings of sequences, as `decode_batch` decodes them.

    Parameters
    ----------
    handle, emission, begins, tokens, rows, pool, share : as of `decode_batch`
    limits : steps for each token and labels of a list; steps that any sequence may take; see `Lists`
    paths : (total · top,) filled: those of sequence n are (top, T) from begins[n] · top on
    values : (N, top) filled, grid units
    results : (N, 3) filled, see `NUMBER`
    marks : (N, 2, M) zeros, filled as in `decode_batch`
    """
    add(share, ENTERED, 1)
    (_, K, Kp), longest, spent, top = handle.scores.edge.shape, 0, 0, values.shape[1]
    for n in range(len(begins) - 1):
        longest = max(longest, begins[n + 1] - begins[n])
    work, space = np.empty((5, longest), np.int64), np.empty((2, longest, Kp), np.int64)
    room = np.full((3, marks.shape[2]), -1)
    while spent < MOST_AT_ONCE:
        n = add(share, NEXT, 1)
        if n >= len(begins) - 1:
            return False
        b, e = begins[n], begins[n + 1]
        T, result = e - b, results[n]
        result[WORK], result[CODE] = 0, UNKNOWN_CLASS
        if classify(handle.windows, tokens[b:e], work) < 0:
            work[3, 0] = 0
            for t in range(1, T):
                work[3, t] = handle.scores.which[pool[b + t] if len(pool) else 0, work[EDGES, t]]
            most = max(limits[0] * T, limits[1])
            own = paths[b * top : e * top].reshape((top, T))
            steps = most // FIRST_SHARE, most
            result[CODE] = TOO_MUCH_WORK
            if T * top <= MOST_LISTED:
                recursion = space[0], space[1]
                _list(
                    handle,
                    emission,
                    rows[b:e],
                    work,
                    recursion,
                    steps,
                    own,
                    values[n],
                    result,
                    marks[n],
                    room,
                )
        spent += T * K * K + result[WORK]
        add(share, DONE, 1)
    return True
