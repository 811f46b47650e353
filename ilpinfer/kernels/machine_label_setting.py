# mypy: allow-untyped-defs
"""Label setting over lattice states and joint states: prefixes that can still reach a floor, token by token; equal ones
are merged.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.guide import Futures, future_gain, no_futures
from ilpinfer.kernels.hashing import place
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.machines import BROKEN, UNKNOWN, close, read_symbol
from ilpinfer.kernels.ordering import descending, nth_smallest
from ilpinfer.kernels.packed import LOW, SHIFT

_DEAD = FORBIDDEN // 2
DONE, BACK, FRESH, MEMO = 0, 1, 2, 3
"""Why `advance` has stopped: all labellings are complete or the work is done, or one of the arrays is full."""


class Prefixes(NamedTuple):
    """Prefixes: value and bound (N,), grid units; and key (N, 2): last state and joint state as one number, and the
    cost of violations so far.
    """

    value: Integers
    bound: Integers
    key: Integers


class Extensions(NamedTuple):
    """Prefixes with their parents (N,), the first prefix with the same key (N,), and a hash table."""

    value: Integers
    bound: Integers
    key: Integers
    parent: Small
    first: Small
    slots: Small


class Back(NamedTuple):
    """State and parent of every prefix kept so far, and the first prefix of each token (T+1,)."""

    state: Small
    parent: Small
    begins: Integers


class Bounds(NamedTuple):
    """Bounds on completions: by state (T, S), and by state and joint state of the machines in the product (T, S, Q).

    radix (M,) of each machine in the joint state of the product, 0 for machines outside; and the most that those can
    give back.
    """

    ceiling: Integers
    completion: Integers
    radix: Integers
    futures: Futures


class Limits(NamedTuple):
    """Limits of `advance`.

    floor, grid units; purse, the most that violations may cost, grid units, or -1 for no limit; with a limit, prefixes with different
    costs of violations are not merged; number of prefixes of a token; number of prefixes with the same future; work.
    """

    floor: int
    budget: int
    width: int
    copies: int
    work: int


@subroutine
def _thin(new, number, copies):
    """Keep the best `copies` of prefixes with the same future; of equal ones, the first."""
    count = np.zeros(number, np.int64)
    for c in descending(new.value, number):
        first = new.first[c]
        count[first] += 1
        if count[first] > copies:
            new.bound[c] = FORBIDDEN


@subroutine
def _drop_beaten(new, number):
    """Drop dominated prefixes: another one with the same state and joint state has lower costs of violations and a
    better score.
    """
    score, mask, slot = np.empty(number, np.int64), np.int64(len(new.slots) - 1), np.int64(0)
    for c in range(number):
        score[c] = new.value[c] + new.key[c, 1]
    for empty in range(len(new.slots)):
        new.slots[empty] = -1
    for c in descending(score, number):
        if new.bound[c] <= _DEAD:
            continue
        hashed = np.uint64(new.key[c, 0]) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(hashed >> np.uint64(32)) & mask
        while new.slots[slot] >= 0 and new.key[new.slots[slot], 0] != new.key[c, 0]:
            slot = (slot + 1) & mask
        cheapest = new.slots[slot]
        if cheapest >= 0 and new.key[cheapest, 1] <= new.key[c, 1]:
            new.bound[c] = FORBIDDEN
        else:
            new.slots[slot] = c


@subroutine
def _keep(front, new, back, counts, number, width):
    """Move the best `width` of the new prefixes to the front, in the order of their label ids."""
    value, bound, key = front
    new_value, new_bound, new_key, parent, _, _ = new
    states, parents, begins = back
    t, left, above = counts[0], 0, 0
    for c in range(number):
        left += new_bound[c] > _DEAD
    threshold = _DEAD
    if left > width:
        threshold = nth_smallest(new_bound, 0, number, number - width)
        for c in range(number):
            above += new_bound[c] > threshold
    equal, kept, start = width - above, 0, begins[t]
    for c in range(number):
        best = new_bound[c]
        if best <= _DEAD:
            continue
        if best < threshold or (best == threshold and left > width and equal == 0):
            counts[2] = max(counts[2], best)
            continue
        if best == threshold:
            equal -= 1
        value[kept], bound[kept] = new_value[c], best
        key[kept, 0], key[kept, 1] = new_key[c, 0], new_key[c, 1]
        states[start + kept], parents[start + kept] = new_key[c, 0] >> SHIFT, parent[c]
        kept += 1
    begins[t + 1] = start + kept
    counts[0], counts[1] = t + 1, kept


@kernel
def advance(chain, domains, bounds, joint, front, new, back, counts, limits):
    """Extend prefixes until the labellings are complete, including final costs, the work is done, or there is no room.

    counts : token, number of prefixes, and the best bound of a prefix that was dropped
    """
    node, pool, step, base = chain
    states_of, begins, _ = domains
    ceiling, completion, radix, futures = bounds
    packed, symbols, memo = joint
    (symbol, table, read), (vectors, after, cost, _, _, _, _) = symbols, memo
    value, _, key = front
    new_value, new_bound, new_key, parent, first, slots = new
    floor, budget, width, copies, work = limits
    T, B, M = len(node), pool.shape[2], len(read)
    done, plain, extra = 0, no_futures(futures), 0
    while counts[0] < T and done < work:
        t, size = counts[0], counts[1]
        if back.begins[t] + width > len(back.state):
            return BACK
        for slot in range(len(slots)):
            slots[slot] = -1
        number = 0
        for h in range(size):
            before, from_joint, spent = key[h, 0] >> SHIFT if t else -1, key[h, 0] & LOW, key[h, 1]
            here = value[h]
            for at in range(begins[t], begins[t + 1]):
                j = states_of[at]
                b = j - base[before] if t else j
                if b < 0 or b >= B:
                    continue
                score = node[t, j] if t == 0 else pool[step[t - 1], before, b] + node[t, j]
                if score < _DEAD or here + score + ceiling[t, j] < floor:
                    continue
                if number == len(new_value):
                    return FRESH
                s = symbol[table[t], before + 1, b]
                if after[from_joint, s] == UNKNOWN:
                    done += 8 * M
                    if not read_symbol(packed, symbols, memo, from_joint, s):
                        return MEMO
                state = after[from_joint, s]
                if state == BROKEN or (budget >= 0 and spent + cost[from_joint, s] > budget):
                    continue
                total, q = here + score - cost[from_joint, s], 0
                for m in range(M):
                    q += radix[m] * vectors[state, m]
                if not plain:
                    extra = future_gain(futures, vectors, t, state)
                reach = total + completion[t, j, q] + extra if extra > _DEAD else FORBIDDEN
                if reach < floor or reach <= _DEAD:
                    continue
                new_value[number], new_bound[number], parent[number] = total, reach, h
                new_key[number, 0] = (np.int64(j) << SHIFT) | np.int64(state)
                new_key[number, 1] = spent + cost[from_joint, s] if budget >= 0 else 0
                slot = place(slots, new_key, 0, number)
                other = slots[slot]
                if copies == 1 and other >= 0:
                    if total <= new_value[other]:
                        continue
                    new_bound[other] = FORBIDDEN
                if copies == 1 or other < 0:
                    slots[slot] = number
                first[number] = slots[slot]
                number += 1
        done += size * (begins[t + 1] - begins[t]) + len(slots) // 8
        if copies > 1:
            _thin(new, number, copies)
        elif budget >= 0:
            _drop_beaten(new, number)
        _keep(front, new, back, counts, number, width)
    if counts[0] == T:
        _finish(joint, front, budget, counts[1])
    return DONE


@subroutine
def _finish(joint, front, budget, size):
    """Subtract the final costs of the machines; prefixes that break a hard rule become forbidden."""
    for h in range(size):
        cost, hard = close(joint.packed, joint.memo.vectors[front.key[h, 0] & LOW].copy())
        front.value[h] = FORBIDDEN if hard else front.value[h] - cost
        front.key[h, 1] += cost if budget >= 0 else 0
