# mypy: allow-untyped-defs
"""Depth-first search with a limit on discrepancies; a prefix is identified by its last state and the joint state of all
machines.
"""

from typing import NamedTuple

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.machines import BROKEN, UNKNOWN, close, read_step, read_symbol
from ilpinfer.kernels.tables import Rules

_DEAD = FORBIDDEN // 2
DONE, WORKED, FULL = 0, 1, 2
"""Why `dive` has stopped: the search is complete, the work is done, or there is no room for joint states or for
labellings.
"""
DEPTH, NODES, COMPLETE, CUT, BEST, WORK = 0, 1, 2, 3, 4, 5
"""Places among the counts: token whose choices are tried, nodes expanded, labellings recorded, whether the branching
factor or the discrepancies cut anything, the best value, and work done in nodes."""
_READ_AS_ONE = 64
"""Steps of machines that are read for a whole labelling in about the time of a node."""


class LateMachines(NamedTuple):
    """Machines that are evaluated on whole labellings only, and work space for two of their joint states."""

    rules: Rules
    kept: Small
    vector: Small


class Ahead(NamedTuple):
    """What the floor applies to beside a prefix's value, grid units."""

    completion: Integers  # (T, S) best score after a state
    shift: Integers  # (T,) subtracted from the value


class Stack(NamedTuple):
    """The choices for each token, best first."""

    state: Small  # (T, W)
    joint: Small  # (T, W)
    value: Integers  # (T, W)
    key: Integers  # (T, W)
    size: Integers  # (T,) number of choices
    following: Integers  # (T,) the next choice
    spent: Integers  # (T,) discrepancies of the prefix


class Records(NamedTuple):
    """Values (N,), nodes expanded before (N,) and states (N, T) of labellings, each better than the one before."""

    values: Integers
    when: Integers
    paths: Integers


@subroutine
def _read_prefix(late, stack, length):
    """The cost of the first tokens of the labelling on the stack, by late machines; `HARD` where a hard rule breaks.

    The joint state after these tokens is kept.
    """
    if not len(late.rules.machines.mark):
        return 0
    total, before = 0, -1
    for k in range(len(late.kept)):
        late.kept[k] = 0
    for t in range(length):
        now = stack.state[t, stack.following[t] - 1]
        cost, hard = read_step(late.rules, t, before, now, late.kept)
        if hard:
            return HARD
        total += cost
        before = now
    return total


@subroutine
def _read_last(late, t, before, now):
    """The cost of a last step and of the end, after `_read_prefix`."""
    for k in range(len(late.kept)):
        late.vector[k] = late.kept[k]
    cost, hard = read_step(late.rules, t, before, now, late.vector)
    if hard:
        return HARD
    end, hard = close(late.rules, late.vector)
    return HARD if hard else cost + end


@subroutine
def _expand(chain, ahead, joint, late, stack, t, source, limits, counts):
    """Put the choices for token t on the stack, best first; False where there is no room for joint states.

    Choices for the last token complete labellings, which are evaluated by all rules.
    """
    node, pool, step, base = chain
    completion, shift = ahead
    rules, symbols, memo = joint
    after, cost = memo.after, memo.cost
    state, states, value, key, size, _, _ = stack
    floor, reach, width = limits
    last = t == len(node) - 1
    paid = _read_prefix(late, stack, t) if last else 0
    before = state[t - 1, source] if t else -1
    from_joint, so_far = (states[t - 1, source], value[t - 1, source]) if t else (0, 0)
    start, count = (base[before] if t else 0), 0
    counts[NODES] += 1
    counts[WORK] += 1 + (t * len(late.rules.machines.mark) // _READ_AS_ONE if last else 0)
    for b in range(pool.shape[2]):
        j = start + b
        gain = node[t, j] if t == 0 else node[t, j] + pool[step[t - 1], before, b]
        if gain < _DEAD or completion[t, j] < _DEAD:
            continue
        s = symbols.symbol[symbols.table[t], before + 1, b]
        if after[from_joint, s] == UNKNOWN and not read_symbol(rules, symbols, memo, from_joint, s):
            return False
        if after[from_joint, s] == BROKEN:
            continue
        total = so_far + gain - cost[from_joint, s]
        if last:
            end, hard = close(rules, memo.vectors[after[from_joint, s]].copy())
            rest = HARD if hard or paid == HARD else _read_last(late, t, before, j)
            if rest == HARD:
                continue
            total -= end + paid + rest
        could = total + completion[t, j]
        if total - shift[t] < floor or could < reach:
            continue
        rank, place = (could if reach > _DEAD else total), count
        while place > 0 and key[t, place - 1] < rank:
            place -= 1
        if count == width:
            counts[CUT] = 1
            if place == width:
                continue
        else:
            count += 1
        for other in range(count - 1, place, -1):
            state[t, other], states[t, other] = state[t, other - 1], states[t, other - 1]
            value[t, other], key[t, other] = value[t, other - 1], key[t, other - 1]
        state[t, place], states[t, place], value[t, place], key[t, place] = (
            j,
            after[from_joint, s],
            total,
            rank,
        )
    size[t] = count
    return True


@kernel
def dive(chain, ahead, joint, late, stack, limits, counts, records, rule, work):
    """Search depth first, best choices first, until `work` more units of work are done; a unit is the time of a node.

    limits : floor of values, floor of values with the best score after them, and number of choices kept; both floors
        rise
    rule : largest number of discrepancies, -1 for no limit; and which floor a labelling raises: that of values (1),
        that of values with the best score after them (2), or none (0)
    """
    discrepancies, monotone = rule
    state, _, value, key, size, following, spent = stack
    values, when, paths = records
    T, stop = len(size), counts[WORK] + work
    floor, reach, width = limits
    while counts[DEPTH] >= 0:
        if counts[WORK] >= stop:
            limits[0], limits[1] = floor, reach
            return WORKED
        t = counts[DEPTH]
        c = following[t]
        if c < 0:
            source = following[t - 1] - 1 if t else 0
            if not _expand(chain, ahead, joint, late, stack, t, source, (floor, reach, width), counts):
                limits[0], limits[1] = floor, reach
                return FULL
            following[t] = 0
            continue
        used = (spent[t - 1] if t else 0) + (c > 0)
        too_many = discrepancies >= 0 and used > discrepancies
        if c >= size[t] or too_many or (reach > _DEAD and key[t, c] < reach):
            counts[CUT] |= c < size[t] and too_many
            following[t] = -1
            counts[DEPTH] -= 1
            continue
        following[t], spent[t] = c + 1, used
        if t < T - 1:
            counts[DEPTH] += 1
            continue
        total = value[t, c]
        if total <= counts[BEST]:
            continue
        if counts[COMPLETE] == len(values):
            following[t] = c
            limits[0], limits[1] = floor, reach
            return FULL
        path = paths[counts[COMPLETE]]
        for token in range(T):
            path[token] = state[token, following[token] - 1]
        values[counts[COMPLETE]], when[counts[COMPLETE]] = total, counts[NODES]
        counts[BEST] = total
        counts[COMPLETE] += 1
        if monotone == 1:
            floor = max(floor, total - ahead.shift[T - 1])
        elif monotone == 2:
            reach = max(reach, total + 1)
    limits[0], limits[1] = floor, reach
    return DONE
