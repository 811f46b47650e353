# mypy: allow-untyped-defs
"""Letting machines follow a decision diagram."""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.diagram import Graph
from ilpinfer.kernels.guide import future_gain, no_futures
from ilpinfer.kernels.hashing import place
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.machines import BROKEN, UNKNOWN, close, read_symbol
from ilpinfer.kernels.ordering import nth_smallest
from ilpinfer.kernels.packed import LOW, SHIFT

_DEAD = FORBIDDEN // 2
DONE, FULL, MEMO, SLOTS = 0, 1, 2, 3
"""Why `multiply` has stopped: the layers or the work are done, or there is no room for more of something."""


class Growth(NamedTuple):
    """A graph that is made from another: old node and joint state as one (N, 1) and bound (N,) of each node, and a hash table."""

    graph: Graph
    origin: Integers
    bound: Integers
    slots: Small


class Limits(NamedTuple):
    """Limits of `multiply`: constant of the charges and floor, grid units; nodes of a layer; and work."""

    back: int
    floor: int
    width: int
    work: int


@kernel
def multiply(graph, base, joint, worth, futures, growth, counts, limits):
    """Let machines follow a graph: a new node is an old one with a joint state, as far as it can reach the floor.

    base : of the lattice's states (S,)
    worth : what a joint symbol gives back of charges (J,), grid units
    counts : layer, nodes, steps, and the best that was left out for want of width

    In the end the nodes of the last layer are bounded by what they are worth more, machines charged.
    """
    state, _, layers, first, target, score, _, ahead = graph
    packed, symbols, memo = joint
    vectors, after, cost, _, _, _, _ = memo
    made, origin, bound, slots = growth
    new_state, value, new_layers, new_first, new_target, new_score, _, _ = made
    back, floor, width, work = limits
    T, M, done, plain = len(layers) - 2, len(symbols.read), 0, no_futures(futures)
    while counts[0] < T and done < work:
        t, count, steps = counts[0], counts[1], counts[2]
        begin = new_layers[t + 1]
        for slot in range(len(slots)):
            slots[slot] = -1
        done += len(slots) // 8
        for n in range(new_layers[t], begin):
            new_first[n] = steps
            if value[n] <= _DEAD:
                continue
            old, before, here = origin[n, 0] >> SHIFT, origin[n, 0] & LOW, value[n]
            done += first[old + 1] - first[old]
            row = symbols.symbol[symbols.table[t], state[old] + 1]
            shift = base[state[old]] if t else 0
            for e in range(first[old], first[old + 1]):
                m = target[e]
                s = row[state[m] - shift]
                q = after[before, s]
                if q == UNKNOWN:
                    done += 8 * M
                    if not read_symbol(packed, symbols, memo, before, s):
                        return MEMO
                    q = after[before, s]
                if q == BROKEN:
                    continue
                gain = score[e] + worth[s] - cost[before, s]
                reach = here + gain + ahead[m] + back
                if not plain:
                    reach += future_gain(futures, vectors, t, q)
                if reach < floor or reach <= _DEAD:
                    continue
                origin[count, 0] = (np.int64(m) << SHIFT) | np.int64(q)
                slot = place(slots, origin, begin, count)
                if slots[slot] < 0:
                    if count + 1 >= len(new_state):
                        return FULL
                    if 2 * (count - begin) >= len(slots):
                        return SLOTS
                    slots[slot] = count - begin
                    new_state[count], value[count], bound[count] = state[m], FORBIDDEN, FORBIDDEN
                    count += 1
                if steps == len(new_target):
                    return FULL
                new = begin + slots[slot]
                value[new], bound[new] = max(value[new], here + gain), max(bound[new], reach)
                new_target[steps], new_score[steps] = new, gain
                steps += 1
        new_layers[t + 2] = count
        counts[0], counts[1], counts[2] = t + 1, count, steps
        if count - begin > width:
            _narrow(value, bound, begin, count, counts, width)
    for n in range(new_layers[counts[0]], new_layers[counts[0] + 1] + 1):
        new_first[n] = counts[2]
    if counts[0] == T:
        _finish(graph, joint, growth, counts[1])
    return DONE


@subroutine
def _narrow(value, bound, begin, end, counts, width):
    """Leave out all but about `width` nodes of a layer, those with the lowest bounds."""
    threshold = nth_smallest(bound, begin, end, end - begin - width)
    for n in range(begin, end):
        if bound[n] < threshold:
            counts[3] = max(counts[3], bound[n])
            value[n] = FORBIDDEN


@subroutine
def _finish(graph, joint, growth, count):
    """Bound each node of the last layer by what its end is worth, machines charged."""
    T = len(graph.layers) - 2
    for n in range(growth.graph.layers[T], count):
        end = FORBIDDEN
        if growth.graph.value[n] > _DEAD:
            cost, hard = close(joint.packed, joint.memo.vectors[growth.origin[n, 0] & LOW].copy())
            if not hard:
                end = graph.end[(growth.origin[n, 0] >> SHIFT) - graph.layers[T]] - cost
        growth.bound[n] = end
