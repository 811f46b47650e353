# mypy: allow-untyped-defs
"""Decision diagrams of labellings: layers of nodes, one layer a token, and the steps between them; and their product with machines.

The steps of node n are those from first[n] to first[n + 1]; nodes of a layer follow each other, and the root is the
first. `value` of a node is the best score of a path to it, `ahead` that of a path from it to the end.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.jit import kernel, subroutine
from ilpinfer.kernels.keys import places_of, slot_of
from ilpinfer.kernels.ordering import nth_smallest
from ilpinfer.kernels.recursion import DEAD
from ilpinfer.kernels.tables import ARC, FINAL, STRIDE, WIDTH

DONE, FULL, SLOTS = 0, 1, 2
"""Why `multiply` has stopped: `DONE` all layers are built, or the limit of work is reached; `FULL` the arrays of nodes or steps
are full; `SLOTS` the hash table is full, so that a call with more room begins the current layer anew."""


class Graph(NamedTuple):
    """Nodes and steps, as above. N nodes, E steps."""

    state: Small  # (N,) -1 for the root
    value: Integers  # (N,)
    layers: Integers  # (T+2,) where the nodes of each layer begin
    first: Integers  # (N+1,)
    target: Small  # (E,)
    score: Integers  # (E,)
    end: Integers  # what each node of the last layer is worth more
    ahead: Integers  # (N,)


class Growth(NamedTuple):
    """A product as far as it is built."""

    graph: Graph
    origin: Small  # (N,) node of the old diagram
    key: Integers  # (N, W) the old node, and the states of the machines, at the bits of `keys.places_of`
    bound: Integers  # (N,) upper bound on the labellings through a node, grid units
    slots: Integers  # hash table of the nodes of the current layer


class Limits(NamedTuple):
    """Limits of `multiply`."""

    floor: int  # least value of labellings of interest, grid units
    width: int  # nodes of a layer
    work: int  # steps of a call


@kernel
def unfold(scores, emission, edge_at, output):
    """Write a lattice as a diagram; returns the numbers of nodes and of steps, which `output` has room for.

    emission : (T, S) forbidden where a state is left out
    """
    state, value, layers, first, target, score, _, _ = output
    T, S = emission.shape
    number = np.full(S, -1, np.int32)
    state[0], value[0], layers[0], layers[1], nodes, steps = -1, 0, 0, 1, 1, 0
    for t in range(T):
        for j in range(S):
            number[j] = -1
        for n in range(layers[t], layers[t + 1]):
            first[n] = steps
            i = np.int64(state[n])
            base = scores.base[i] if t else 0
            for b in range(scores.labels):
                j = base + b
                gain = emission[t, j] + (scores.edge[edge_at[t], i, b] if t else 0)
                if gain < DEAD:
                    continue
                if number[j] < 0:
                    number[j], state[nodes], value[nodes] = nodes, j, FORBIDDEN
                    nodes += 1
                m = number[j]
                target[steps], score[steps] = m, gain
                value[m] = max(value[m], value[n] + gain)
                steps += 1
        layers[t + 2] = nodes
    for n in range(layers[T], nodes + 1):
        first[n] = steps
    return nodes, steps


@kernel
def complete(graph, last, stop, path):
    """Fill `ahead` for the layers last, last - 1 … stop, and path (T,) after the root with the best labelling's states."""
    _, _, layers, first, target, score, end, ahead = graph
    T = len(layers) - 2
    for t in range(last, stop - 1, -1):
        for n in range(layers[t], layers[t + 1]):
            if t == T:
                ahead[n] = end[n - layers[T]]
                continue
            best = FORBIDDEN
            for e in range(first[n], first[n + 1]):
                best = max(best, score[e] + ahead[target[e]])
            ahead[n] = best if best > DEAD else FORBIDDEN
    if stop == 0 and ahead[0] > DEAD:
        _trace(graph, path)


@kernel
def thin(graph, floor, number, output):
    """Keep the nodes and steps through which a labelling of at least `floor` passes.

    graph : steps that are kept move to the front
    number : room for the new number of each node
    output : room for the nodes kept
    Returns the number of steps kept, and the best score of a labelling through a step that was removed.
    """
    state, value, layers, first, target, score, end, ahead = graph
    new_state, new_value, new_layers, new_first, _, _, new_end, new_ahead = output
    T = len(layers) - 2
    count = 0
    for t in range(T + 1):
        new_layers[t] = count
        for n in range(layers[t], layers[t + 1]):
            number[n] = -1
            if value[n] > DEAD and ahead[n] > DEAD and value[n] + ahead[n] >= floor:
                number[n] = count
                new_state[count], new_value[count], new_ahead[count] = state[n], value[n], ahead[n]
                if t == T:
                    new_end[count - new_layers[T]] = end[n - layers[T]]
                count += 1
    new_layers[T + 1] = count
    steps, left = 0, FORBIDDEN
    for n in range(layers[T + 1]):
        if value[n] <= DEAD or ahead[n] <= DEAD:
            continue
        if number[n] < 0:
            left = max(left, value[n] + ahead[n])
            continue
        new_first[number[n]] = steps
        for e in range(first[n], first[n + 1]):
            m, gain = target[e], score[e]
            if ahead[m] <= DEAD:
                continue
            best = value[n] + gain + ahead[m]
            if best < floor:
                left = max(left, best)
            elif number[m] >= 0:
                target[steps], score[steps] = number[m], gain
                steps += 1
    new_first[count] = steps
    return steps, left


@subroutine
def _trace(graph, path):
    """Fill path (T,) with the states of the best labelling, the first one by their ids."""
    state, _, _, first, target, score, _, ahead = graph
    n = 0
    for t in range(len(path)):
        best = -1
        for e in range(first[n], first[n + 1]):
            m = target[e]
            if score[e] + ahead[m] == ahead[n] and (best < 0 or state[m] < state[best]):
                best = m
        n = best
        path[t] = state[n]


@kernel
def words_of(machines, active, nodes):
    """Words of the keys of a product of a diagram of so many nodes with machines."""
    return places_of(machines, active, nodes, 1)[0][4]


@kernel
def multiply(graph, machines, classes, active, growth, counts, limits):
    """Build the product of a graph with machines: each new node is an old node with states of the machines.

    A node stays if its bound reaches the floor. The end score of a node of the last layer is that of the old node.

    Parameters
    ----------
    classes : (T,) of machines
    active : (A,) the machines
    counts : layers built, nodes, steps, and the largest bound of a node left out for the width; updated in place
    """
    state, _, layers, first, target, score, end, ahead = graph
    made, origin, key, bound, slots = growth
    new_state, value, new_layers, new_first, new_target, new_score, _, _ = made
    floor, width, work = limits
    symbols, table, layout = machines.symbols, machines.table, machines.layout
    (where, _, _, _, words), _ = places_of(machines, active, len(state), 1)
    word, shift, mask, paid_word, paid_bit = where
    T, A, done = len(layers) - 2, len(active), 0
    row, read = np.empty(A, np.int64), np.empty(A, np.int64)
    while counts[0] < T and done < work:
        t, count, steps = counts[0], counts[1], counts[2]
        begin, c = new_layers[t + 1], classes[t]
        for slot in range(len(slots)):
            slots[slot] = -1
        done += len(slots) // 8
        for n in range(new_layers[t], begin):
            new_first[n] = steps
            if value[n] <= DEAD:
                continue
            old, here = np.int64(origin[n]), value[n]
            done += (A + 4) * (first[old + 1] - first[old])
            for a in range(A):
                m = active[a]
                row[a] = layout[m, ARC] + (key[n, word[a]] >> shift[a] & mask[a]) * layout[m, WIDTH]
                read[a] = table[c, m] + (np.int64(state[old]) + 1) * layout[m, STRIDE]
            for e in range(first[old], first[old + 1]):
                to = np.int64(target[e])
                if here + score[e] + ahead[to] < floor:
                    continue
                if count + 1 >= len(new_state) or steps == len(new_target):
                    return FULL
                if 2 * (count - begin + 1) >= len(slots):
                    return SLOTS
                key[count, 0] = to
                for w in range(1, words):
                    key[count, w] = 0
                spent = 0
                for a in range(A):
                    if paid_word[a] >= 0:
                        key[count, paid_word[a]] |= key[n, paid_word[a]] & paid_bit[a]
                for a in range(A):
                    arc = row[a] + symbols[read[a] + state[to]]
                    key[count, word[a]] |= np.int64(machines.next_state[arc]) << shift[a]
                    more = machines.cost[arc]
                    if t == T - 1:
                        at = layout[active[a], FINAL] + machines.next_state[arc]
                        more = min(more + machines.final[at], HARD)
                    if paid_word[a] >= 0 and more:
                        more = 0 if key[count, paid_word[a]] & paid_bit[a] else machines.penalty[active[a]]
                        key[count, paid_word[a]] |= paid_bit[a]
                    spent = min(spent + more, HARD)
                if t == T - 1:
                    key[count, 0] = to
                    for w in range(1, words):
                        key[count, w] = 0
                gain = score[e] - spent
                reach = here + gain + ahead[to]
                if reach < floor or reach <= DEAD:
                    continue
                place = slot_of(slots, key, count, begin, 0)
                new = slots[place]
                if new < begin:
                    slots[place] = new = count
                    new_state[count], origin[count] = state[to], to
                    value[count], bound[count] = FORBIDDEN, FORBIDDEN
                    count += 1
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
        for n in range(new_layers[T], counts[1]):
            bound[n] = end[origin[n] - layers[T]] if value[n] > DEAD else FORBIDDEN
    return DONE


@subroutine
def _narrow(value, bound, begin, end, counts, width):
    """Keep about the `width` nodes of a layer with the highest bounds; record the highest bound that is left out."""
    threshold = nth_smallest(bound, begin, end, end - begin - width)
    for n in range(begin, end):
        if bound[n] < threshold:
            counts[3] = max(counts[3], bound[n])
            value[n] = FORBIDDEN
