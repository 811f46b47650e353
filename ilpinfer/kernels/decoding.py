# mypy: allow-untyped-defs
"""The best labellings of many sequences: Viterbi, then, where its path breaks rules, relaxations that include more and
more of their machines.
"""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.charges import charge_labelling, room_for
from ilpinfer.kernels.evaluation import evaluate
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.joint import multiply_machines, no_machines
from ilpinfer.kernels.joint_recursion import complete_jointly, room_jointly
from ilpinfer.kernels.label_setting import NONE, set_labels
from ilpinfer.kernels.multipliers import tighten
from ilpinfer.kernels.ordering import descending
from ilpinfer.kernels.prefixes import no_prefixes, spell
from ilpinfer.kernels.recursion import DEAD, complete, trace, width_of
from ilpinfer.kernels.tables import (
    ACTIVE,
    BOUND,
    CODE,
    EDGES,
    LEAST,
    MACHINES,
    MOST,
    MULTIPLIERS,
    NO_LABELLING,
    NO_PATH,
    NODES,
    PROVED,
    RELAXED,
    STRIDE,
    TOO_MUCH_WORK,
    UNKNOWN_CLASS,
    VALUE,
    WORK,
    WRONG_VALUE,
)

INSIDE = 3
"""Marks machines that were multiplied."""
FEWEST_JOINT, MOST_JOINT = 64, 512
"""Largest numbers of joint states of multiplied machines: at first, and later."""
MOST_CELLS, VECTOR = 2**24, 16
"""Values of a recursion over joint states, and the number of its steps that take about as long as one of label setting.
"""
FIRST_SHARE, FIRST_STEPS, LARGEST_SHARE = 160, 40_000, 20
"""The attempt before multipliers and products has 1 / FIRST_SHARE of the steps of a sequence, but at least so many, as far as these are not
more than 1 / LARGEST_SHARE of all steps."""
MOST_AT_ONCE = 2**27
"""Steps of a call, after which no further sequence is begun: about a second, as nothing can interrupt a call."""
DIRECT = 2**17
"""Slots of the largest direct index of label setting; beyond, keys are hashed."""


@subroutine
def classify(windows, tokens, classes):
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
def _by_penalty(penalty, machines):
    """The machines (A,), those of the largest penalty first."""
    worth, result = np.empty(len(machines), np.int64), np.empty(len(machines), np.int64)
    for a in range(len(machines)):
        worth[a] = penalty[machines[a]]
    order = descending(worth, len(machines))
    for a in range(len(machines)):
        result[a] = machines[order[a]]
    return result


@subroutine
def multiply_active(handle, emission, rows, tokens, bare, marks, room, count, most, steps, least):
    """Multiply active machines, the `count` in `room` after those that were `INSIDE`, up to `most` joint states; at first those of the
    largest penalty, where these are worth more in all.

    The time is at most that of `steps` steps of label setting. Sums with multipliers stay outside, as proofs require, and machines that read
    the previous label unless one of them is of a hard rule: label setting over it alone may have to go far below the bound.
    `bare` has completion, tail and the best value without machines. Bounds of values below `least` may be too high. Returns the joint
    automaton, its recursion as `set_labels` reads it, and the number of machines in `room` that stay outside.
    """
    T, S, mask = len(rows), emission.shape[1], marks[0]
    every, outside = np.empty(len(mask), np.int64), count
    count = 0
    for m in range(len(mask)):
        if mask[m] == INSIDE:
            every[count] = m
            count += 1
    for a in range(outside):
        every[count] = room[0, a]
        count += 1
    every = every[:count]
    width = width_of(handle.scores)
    most = max(
        1, min(most, MOST_CELLS // (T * width), VECTOR * steps // (T * S * handle.scores.edge.shape[2]))
    )
    layout, penalty, hard = handle.machines.layout, handle.machines.penalty, False
    for a in range(count):
        hard = hard or (layout[every[a], STRIDE] > 0 and penalty[every[a]] == HARD)
    classes = tokens[MACHINES, :T]
    joint, others, inside, worth = no_machines(T, S), every, np.zeros(count, np.bool_), -1.0
    for _ in range(2 if most == FEWEST_JOINT else 1):
        other, within = multiply_machines(handle.machines, classes, S, others, marks[1], most, hard)
        total = 0.0
        for a in range(count):
            total += penalty[others[a]] if within[a] else 0
        if total > worth:
            joint, every, inside, worth = other, others, within, total
        others = _by_penalty(penalty, others)
    completion, tail = room_jointly(joint, T, width)
    total = complete_jointly(
        handle.scores, emission, rows, tokens[NODES], tokens[3], joint, bare, least, completion, tail
    )
    count = 0
    for a in range(len(every)):
        mask[every[a]] = INSIDE if inside[a] else 1
        if not inside[a]:
            room[0, count] = every[a]
            count += 1
    return joint, (completion, tail, total), count


@subroutine
def _refine(handle, emission, rows, tokens, recursion, limits, path, result, marks, room, count):
    """Relaxations of more and more machines, `count` at first, until the best labelling breaks no other machine.

    Where label setting needs too many steps, some of the machines are multiplied for better bounds, and it continues.
    """
    T, S = len(rows), emission.shape[1]
    edge_at, classes, trial = tokens[3, :T], tokens[MACHINES, :T], tokens[4, :T]
    p, joint, most = no_prefixes(T), no_machines(T, S), FEWEST_JOINT
    bare, (work, last, slots) = recursion, limits
    while True:
        left, active = (work - result[WORK], slots), room[0, :count]
        end, bound, steps, p = set_labels(
            handle, edge_at, classes, joint, active, recursion, result[BOUND], result[VALUE], left, p
        )
        result[BOUND] = bound
        result[WORK] += steps
        if end == NONE or (end < 0 and work >= last):
            result[CODE] = NO_LABELLING if end == NONE else TOO_MUCH_WORK
            return
        if end < 0:
            joint, recursion, count = multiply_active(
                *(handle, emission, rows, tokens, bare, marks, room, count, most),
                *(last - result[WORK], result[VALUE]),
            )
            result[BOUND] = min(result[BOUND], recursion[2])
            work, most = (last if most == MOST_JOINT else result[WORK] + last // 4), MOST_JOINT
            continue
        spell(p, end, trial)
        before = count
        count, cost = charge_labelling(handle.scores, handle.machines, classes, trial, marks[0], room, count)
        if count == before or bound - cost > max(result[VALUE], DEAD):
            result[VALUE] = bound - cost
            for t in range(len(path)):
                path[t] = trial[t]
        if count == before:
            result[CODE] = PROVED
            return


@subroutine
def count_sums(machines, active):
    """The number of machines that are sums and may have multipliers."""
    count = 0
    for m in active:
        count += machines.sums[m, LEAST] < machines.sums[m, MOST]
    return count


@subroutine
def _solve(handle, emission, rows, tokens, recursion, limits, path, result, marks, room, early):
    """Viterbi, and relaxations where its path breaks machines; a better labelling in `path` is kept.

    With `early`, and broken sums that may have multipliers, few steps are taken: the more sums, the fewer steps.
    """
    completion, tail = recursion
    edge_at, T, mask = tokens[3], len(rows), marks[0]
    classes, trial = tokens[MACHINES, :T], tokens[4, :T]
    total = complete(handle.scores, emission, rows, tokens[NODES], edge_at, completion, tail)
    for m in range(len(mask)):
        mask[m] = 0
    if total < DEAD:
        result[CODE], result[BOUND] = NO_PATH, FORBIDDEN
        return FORBIDDEN
    result[BOUND] = min(result[BOUND], total)
    trace(handle.scores, edge_at, completion, tail, total, trial)
    count, cost = charge_labelling(handle.scores, handle.machines, classes, trial, mask, room, np.int64(0))
    if count == 0 or total - cost > max(result[VALUE], DEAD):
        result[VALUE] = total - cost
        for t in range(T):
            path[t] = trial[t]
    result[CODE] = PROVED
    if count:
        first, last, slots = limits
        sums = count_sums(handle.machines, room[0, :count])
        if early and sums:
            first = last = first // sums
        ends = completion, tail, total
        _refine(handle, emission, rows, tokens, ends, (first, last, slots), path, result, marks, room, count)
    return total


@subroutine
def _decode(handle, emission, words, rows, pool, limits, tokens, recursion, path, result, marks, room):
    """Decode one sequence, as `decode_batch` does.

    Parameters
    ----------
    words, rows, pool, path, result, marks : of the sequence
    tokens : (5, T) at least, filled with classes for each purpose, entries of `scores.edge`, and work space
    recursion : (2, T, W) at least, filled; W is `recursion.width_of`
    room : of `charges.room_for`
    """
    if classify(handle.windows, words, tokens) >= 0:
        result[CODE] = UNKNOWN_CLASS
        return
    tokens[3, 0] = 0
    for t in range(1, len(words)):
        tokens[3, t] = handle.scores.which[pool[t] if len(pool) else 0, tokens[EDGES, t]]
    result[VALUE] = FORBIDDEN
    solve(handle, emission, rows, tokens, limits, recursion, path, result, marks, room)
    if result[VALUE] < DEAD:
        result[VALUE] = FORBIDDEN
        for t in range(len(path)):
            path[t] = -1


@subroutine
def solve(handle, emission, rows, tokens, limits, recursion, path, result, marks, room):
    """The best labelling of one sequence whose tokens have classes; `path` and its value in `result` are known already.

    Viterbi and few steps of label setting come first, then multipliers of the broken sums, then label setting and products.
    Parameters as of `_decode`.
    """
    T, slots = len(rows), limits[2]
    most = max(limits[0] * T, limits[1])
    few = min(max(limits[0] * T // FIRST_SHARE, FIRST_STEPS), most // LARGEST_SHARE)
    result[BOUND], result[WORK], result[MULTIPLIERS] = HARD, 0, 0
    for m in range(marks.shape[1]):
        marks[1, m] = 0
    early = True
    while True:
        work, passes = (few, most, slots), (recursion[0], recursion[1])
        total = _solve(handle, emission, rows, tokens, passes, work, path, result, marks, room, early)
        if early:
            result[RELAXED] = total
        if not early or result[CODE] != TOO_MUCH_WORK or result[WORK] >= most:
            break
        ends, left = (recursion[0], recursion[1], total), most - result[WORK]
        handle, emission, rows = tighten(
            handle, emission, rows, tokens, ends, path, result, marks, room, left, True
        )
        if result[CODE] == PROVED:
            break
        few, early = result[WORK] + few, False


@subroutine
def output_views(buffer, begins, top, machines, rules):
    """The arrays of the output of N sequences and `top` labellings each, as views of a buffer of zeros.

    Returns
    -------
    paths (total · top,): those of sequence n are (top, T) from begins[n] · top on; values (N, top), grid units; results
    (N, 7), see `tables.CODE`; parts (N, top, 5) and, at the end, violations (N, top, R) of proved labellings, see
    `evaluate`; before these, marks (N, 2, M): 1 for active machines, `INSIDE` for multiplied ones, then the multipliers
    of sums, grid units
    """
    N, a = len(begins) - 1, begins[-1] * top
    b = a + N * top
    c = b + N * 7
    d = c + N * top * 5
    e = d + N * 2 * machines
    return (
        buffer[:a],
        buffer[a:b].reshape((N, top)),
        buffer[b:c].reshape((N, 7)),
        buffer[c:d].reshape((N, top, 5)),
        buffer[d:e].reshape((N, 2, machines)),
        buffer[e : e + N * top * rules].reshape((N, top, rules)),
    )


@subroutine
def count_marks(marks, result):
    """Fill the numbers of active machines and of sums with multipliers."""
    result[ACTIVE] = result[MULTIPLIERS] = 0
    for m in range(marks.shape[1]):
        result[ACTIVE] += marks[0, m] != 0
        result[MULTIPLIERS] += marks[1, m] != 0


@subroutine
def check_value(handle, emission, rows, pool, tokens, path, value, result, room, parts, violations):
    """Whether the value of a labelling is that of its parts, which are filled, and its violations.

    Where no machine is active, and no sum has a multiplier, machines were asked and have no cost. Tables without counts,
    see `NO_COUNTS`, have neither.
    """
    if len(handle.counts.node_begin) == 0:
        return True
    silent = result[ACTIVE] == 0 and result[MULTIPLIERS] == 0
    return evaluate(handle, emission, rows, pool, tokens, path, room, parts, violations, silent) == value


@kernel
def decode_batch(handle, emission, begins, tokens, rows, pool, limits, top, buffer, first, last):
    """Decode the sequences from `first` to before `last`, of at least one token each.

    Returns the sequence to go on with: it is before `last` where the call has taken `MOST_AT_ONCE` steps.

    Parameters
    ----------
    handle : `Handle`
    emission : (V, K) score of each label at a row, grid units
    begins : (N + 1,) first token of each sequence in the arrays below, then `total`, the number of all tokens
    tokens : (total,) rows of the windows' numbers
    rows : (total,) rows of `emission`
    pool : (total,) the model's pool entry of the step into each token, unused at first tokens; (0,) where all are 0
    limits : steps of label setting for each token of a sequence; steps for any sequence; and slots of the largest
        direct index
    top : 1
    buffer : zeros, filled; see `output_views`. Paths are -1 where there is no labelling
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
        own, path, result = pool[b:e] if len(pool) else pool, paths[b:e], results[n]
        _decode(
            handle,
            emission,
            tokens[b:e],
            rows[b:e],
            own,
            limits,
            work,
            space,
            path,
            result,
            marks[n],
            room,
        )
        values[n, 0] = result[VALUE]
        count_marks(marks[n], result)
        if result[CODE] == PROVED and not check_value(
            handle,
            emission,
            rows[b:e],
            own,
            work,
            path,
            result[VALUE],
            result,
            room,
            parts[n, 0],
            violations[n, 0],
        ):
            result[CODE] = WRONG_VALUE
        spent += (e - b) * K * K + result[WORK]
        n += 1
    return n


@kernel
def decode_ground(handle, emission, classes, limits, path, result, marks):
    """Decode one sequence as `solve` does.

    Parameters
    ----------
    emission : (T, S)
    classes : (2, T) rows of `scores.edge`, and classes of machines
    path : (T,) states of a labelling of value result[VALUE], where that is not `FORBIDDEN`; filled
    """
    T = len(emission)
    tokens, order = np.zeros((5, T), np.int64), np.arange(T)
    tokens[3], tokens[MACHINES] = classes[0], classes[1]
    space, room = np.empty((2, T, width_of(handle.scores)), np.int64), room_for(handle.machines)
    solve(handle, emission, order, tokens, limits, space, path, result, marks, room)


@kernel
def bound_jointly(handle, emission, edge_at, classes, bare, active, most, cells, steps):
    """A product of machines in `active` (A,) with at most `most` joint states, and the recursion over it, of at most about `cells` values.

    Parameters
    ----------
    emission : (T, S)
    edge_at, classes : (T,) rows of `scores.edge`, and classes of machines
    bare : completion, tail and the best value without machines
    steps : whether machines that read the previous label may be inside

    Returns
    -------
    the joint automaton; which machines it has (A,); completion and tail, as of `complete_jointly`; and the best value
    """
    (T, S), width, order = emission.shape, width_of(handle.scores), np.arange(len(emission))
    most = max(1, min(most, cells // (T * width)))
    apart = np.zeros(len(handle.machines.layout), np.int64)
    joint, inside = multiply_machines(handle.machines, classes, S, active, apart, most, steps)
    completion, tail = room_jointly(joint, T, width)
    total = complete_jointly(
        handle.scores, emission, order, 0 * order, edge_at, joint, bare, FORBIDDEN, completion, tail
    )
    return joint, inside, completion, tail, total


@kernel
def price(handle, emission, classes, prices):
    """Fill prices (M,) with multipliers of the sums that lower the bound; other parameters as of `decode_ground`."""
    T, M = len(emission), len(prices)
    tokens, order, path = np.zeros((5, T), np.int64), np.arange(T), np.empty(T, np.int64)
    tokens[3], tokens[MACHINES] = classes[0], classes[1]
    result, marks, room = np.zeros(7, np.int64), np.zeros((2, M), np.int64), room_for(handle.machines)
    space = np.empty((2, T, width_of(handle.scores)), np.int64)
    result[VALUE], result[BOUND] = FORBIDDEN, HARD
    total = complete(handle.scores, emission, order, tokens[NODES], tokens[3], space[0], space[1])
    if total > DEAD:
        ends = space[0], space[1], total
        tighten(handle, emission, order, tokens, ends, path, result, marks, room, MOST_AT_ONCE, False)
        for m in range(M):
            prices[m] = marks[1, m]
