# mypy: allow-untyped-defs
"""The best labellings of many sequences: Viterbi, then, where its path breaks rules, relaxations that include more and
more of their machines.
"""

import numpy as np

from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.atomics import add
from ilpinfer.kernels.charges import charge_labelling
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.joint import complete_jointly, multiply_machines, no_machines
from ilpinfer.kernels.label_setting import DEAD, NONE, no_prefixes, set_labels, spell
from ilpinfer.kernels.multipliers import tighten
from ilpinfer.kernels.recursion import complete, trace
from ilpinfer.kernels.share import DONE, ENTERED, NEXT
from ilpinfer.kernels.tables import (
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
    TOO_MUCH_WORK,
    UNKNOWN_CLASS,
    VALUE,
    WORK,
)

INSIDE = 3
"""Marks machines that were multiplied."""
FEWEST_JOINT, MOST_JOINT = 64, 512
"""Largest numbers of joint states of multiplied machines: at first, and later."""
MOST_CELLS, VECTOR = 2**22, 16
"""Values of a recursion over joint states, and the number of its steps that take about as long as one of label setting.
"""
FIRST_SHARE = 20
"""The attempt before multipliers and products has 1 / FIRST_SHARE of the steps of a sequence."""
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
def multiply_active(handle, emission, rows, tokens, marks, room, count, most, steps):
    """Multiply active machines, the `count` in `room` after those that were `INSIDE`, up to `most` joint states.

    The time is at most that of `steps` steps of label setting. Sums with multipliers stay outside, as proofs require.
    Returns the joint automaton, its recursion as `set_labels` reads it, and the number of machines in `room` that stay
    outside.
    """
    T, K, mask = len(rows), emission.shape[1], marks[0]
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
    width = handle.scores.edge.shape[2]
    most = max(1, min(most, MOST_CELLS // (T * width), VECTOR * steps // (T * K * width)))
    joint, inside = multiply_machines(handle.machines, tokens[MACHINES, :T], K, every, marks[1], most)
    size = len(joint.final), T, width
    completion, tail = np.empty(size, np.int64), np.empty(size, np.int64)
    total = complete_jointly(handle, emission, rows, tokens[NODES], tokens[3], joint, completion, tail)
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
    T, K = len(rows), emission.shape[1]
    edge_at, classes, trial = tokens[3, :T], tokens[MACHINES, :T], tokens[4, :T]
    p, joint, most = no_prefixes(), no_machines(T, K), FEWEST_JOINT
    work, last, slots = limits
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
                handle, emission, rows, tokens, marks, room, count, most, last - result[WORK]
            )
            result[BOUND] = min(result[BOUND], recursion[2])
            work, most = (last if most == MOST_JOINT else result[WORK] + last // 4), MOST_JOINT
            continue
        spell(p, end, trial)
        before = count
        count, cost = charge_labelling(handle, classes, trial, marks[0], room, count)
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
    total = complete(handle, emission, rows, tokens[NODES], edge_at, completion, tail)
    for m in range(len(mask)):
        mask[m] = 0
    if total < DEAD:
        result[CODE], result[BOUND] = NO_PATH, FORBIDDEN
        return FORBIDDEN
    result[BOUND] = min(result[BOUND], total)
    trace(handle.scores.edge, edge_at, completion, tail, total, trial)
    count, cost = charge_labelling(handle, classes, trial, mask, room, np.int64(0))
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
        shape = 1, T, completion.shape[1]
        ends = completion[:T].reshape(shape), tail[:T].reshape(shape), total
        _refine(handle, emission, rows, tokens, ends, (first, last, slots), path, result, marks, room, count)
    return total


@subroutine
def _decode(handle, emission, words, rows, pool, limits, tokens, recursion, path, result, marks, room):
    """Decode one sequence, as `decode_batch` does.

    Parameters
    ----------
    words, rows, pool, path, result, marks : of the sequence
    tokens : (5, T) at least, filled with classes for each purpose, entries of `scores.edge`, and work space
    recursion : (2, T, Kp) at least, filled
    room : as for `charge_labelling`
    """
    if classify(handle.windows, words, tokens) >= 0:
        result[CODE] = UNKNOWN_CLASS
        return
    tokens[3, 0] = 0
    for t in range(1, len(words)):
        tokens[3, t] = handle.scores.which[pool[t] if len(pool) else 0, tokens[EDGES, t]]
    T, slots = len(rows), limits[2]
    few, most = limits[0] * T // FIRST_SHARE, max(limits[0] * T, limits[1])
    result[VALUE], result[BOUND], result[WORK], result[MULTIPLIERS] = FORBIDDEN, HARD, 0, 0
    for m in range(marks.shape[1]):
        marks[1, m] = 0
    early = True
    while True:
        work = few, most, slots
        total = _solve(
            handle,
            emission,
            rows,
            tokens,
            (recursion[0], recursion[1]),
            work,
            path,
            result,
            marks,
            room,
            early,
        )
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
    if result[VALUE] < DEAD:
        result[VALUE] = FORBIDDEN
        for t in range(T):
            path[t] = -1


@kernel
def decode_batch(handle, emission, begins, tokens, rows, pool, limits, paths, results, marks, share):
    """Decode sequences of at least one token each, until this and other calls have taken all of them.

    Returns whether the call reached its limit of steps before.

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
    paths : (total,) filled with the best labellings, -1 where there is none
    results : (N, 6) filled, see `CODE`
    marks : (N, 2, M) filled with 1 for active machines, `INSIDE` for multiplied ones, and the multipliers of sums, grid
        units
    share : (3,) zeros at first, the same for all calls on these sequences; see `kernels.work`
    """
    add(share, ENTERED, 1)
    (_, K, Kp), longest, spent = handle.scores.edge.shape, 0, 0
    for n in range(len(begins) - 1):
        longest = max(longest, begins[n + 1] - begins[n])
    work, space = np.empty((5, longest), np.int64), np.empty((2, longest, Kp), np.int64)
    room = np.full((3, marks.shape[2]), -1)
    while spent < MOST_AT_ONCE:
        n = add(share, NEXT, 1)
        if n >= len(begins) - 1:
            return False
        b, e = begins[n], begins[n + 1]
        own = pool[b:e] if len(pool) else pool
        _decode(
            handle,
            emission,
            tokens[b:e],
            rows[b:e],
            own,
            limits,
            work,
            space,
            paths[b:e],
            results[n],
            marks[n],
            room,
        )
        spent += (e - b) * K * K + results[n, WORK]
        add(share, DONE, 1)
    return True


@kernel
def decode_one(handle, emission, tokens, pool, own, limits, buffer):
    """Decode one sequence as `decode_batch` does, with few arguments; returns the code of the result.

    Parameters
    ----------
    tokens : (T,) rows of the windows' numbers
    pool : (T,) or (0,) as in `decode_batch`
    own : 1 where `emission` has a row for each of the sequence's tokens, 0 where it has one for each row of the windows' numbers
    buffer : (T + 6 + 2 M,) filled with the labelling, results (6,), and marks
    """
    T, M = len(tokens), len(handle.machines.layout)
    work, words = np.empty((5, T), np.int64), np.empty((2, T), np.int64)
    for t in range(T):
        words[0, t] = tokens[t]
        words[1, t] = t if own else tokens[t]
    space, room = np.empty((2, T, handle.scores.edge.shape[2]), np.int64), np.full((3, M), -1)
    path, result, marks = buffer[:T], buffer[T : T + 6], buffer[T + 6 :].reshape((2, M))
    _decode(handle, emission, words[0], words[1], pool, limits, work, space, path, result, marks, room)
    return result[CODE]
