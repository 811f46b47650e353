# mypy: allow-untyped-defs
"""The product of a decision diagram with machines, layer by layer."""

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
"""Scores at or below it contain a forbidden step."""
DONE, FULL, MEMO, SLOTS = 0, 1, 2, 3
"""Why `multiply` has stopped: `DONE` all layers are built, or the limit of work is reached; `FULL` the arrays of nodes or steps
are full; `MEMO` the table of joint states is full; `SLOTS` the hash table is full. After one of the last three, a call with more
room begins the current layer anew."""


class Growth(NamedTuple):
    """The product as far as it is built.

    Parameters
    ----------
    graph : its nodes and steps
    origin : (N, 1) node of the old diagram in the high 32 bits, joint state in the low 32 bits
    bound : (N,) upper bound on the labellings through a node, grid units
    slots : hash table of the nodes of the current layer
    """

    graph: Graph
    origin: Integers
    bound: Integers
    slots: Small


class Limits(NamedTuple):
    """Limits of `multiply`.

    Parameters
    ----------
    constant : dual constant of the multipliers, grid units
    floor : lower bound on labellings of interest, grid units
    width : nodes of a layer
    work : steps of a call
    """

    constant: int
    floor: int
    width: int
    work: int


@kernel
def multiply(graph, base, joint, worth, futures, growth, counts, limits):
    """Build the product of a graph with machines: each new node is an old node with a joint state of the machines.

    A node stays if its bound reaches the floor. After the last layer, the bound of a final node is its end score less the final
    penalties of the machines.

    Parameters
    ----------
    base : (S,) for each state of the lattice, the first state that can follow it
    joint : the machines, their symbols and the table of joint states
    worth : (J,) the charge that a joint symbol gives back, grid units
    counts : layers built, nodes, steps, and the largest bound of a node left out for the width; updated in place
    """
    state, _, layers, first, target, score, _, ahead = graph
    packed, symbols, memo = joint
    vectors, after, cost, _, _, _, _ = memo
    made, origin, bound, slots = growth
    new_state, value, new_layers, new_first, new_target, new_score, _, _ = made
    constant, floor, width, work = limits
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
                reach = here + gain + ahead[m] + constant
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
    """Keep about the `width` nodes of a layer with the highest bounds; record the highest bound that is left out."""
    threshold = nth_smallest(bound, begin, end, end - begin - width)
    for n in range(begin, end):
        if bound[n] < threshold:
            counts[3] = max(counts[3], bound[n])
            value[n] = FORBIDDEN


@subroutine
def _finish(graph, joint, growth, count):
    """Set the bounds of the last layer: end scores less the final penalties of the machines."""
    T = len(graph.layers) - 2
    for n in range(growth.graph.layers[T], count):
        end = FORBIDDEN
        if growth.graph.value[n] > _DEAD:
            cost, hard = close(joint.packed, joint.memo.vectors[growth.origin[n, 0] & LOW].copy())
            if not hard:
                end = graph.end[(growth.origin[n, 0] >> SHIFT) - graph.layers[T]] - cost
        growth.bound[n] = end
