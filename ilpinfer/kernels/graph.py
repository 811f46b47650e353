# mypy: allow-untyped-defs
"""The graph of all labellings that can reach a floor by the scores and some of the machines, built token by token.

A node is a label together with the states of the machines. All steps into a node are kept. The value of a labelling is the
bound without machines plus the losses of its steps, which are numbers not above 0.
"""

from typing import NamedTuple

import numpy as np

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN, HARD
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.label_setting import DEAD, DONE, FULL, ROOM, STOPPED, look_ahead, slot_of
from ilpinfer.kernels.tables import ARC, FINAL, STRIDE, WIDTH

TOKEN, NODE, NODES, EDGES, STEPS, CUT = range(6)
"""Progress of the construction: the token, the next node to extend, the numbers of nodes and edges, the work so far, and the best
value below the floor."""
MOST_EDGES = 2**23
"""Edges of the largest graph."""


class Graph(NamedTuple):
    """Nodes of token t are level[t + 1] to level[t + 2]; node 0 stands for no token. N nodes, E edges.

    Parameters
    ----------
    reach : (N,) upper bound on the labellings through a node, by their prefixes, grid units
    ahead : (N,) the least loss from a node to the end, as a number not above 0; FORBIDDEN where no path leads there
    key : (N, W) see `label_setting.Prefixes`
    begin : (N,) where the edges of a node begin, which are in the order of labels; those of the next node follow
    target, label, worth : (E,) node that an edge leads to, its label, and its loss
    level : (T + 2,)
    slots, clock : see `label_setting.Prefixes`
    """

    reach: Integers
    ahead: Integers
    key: Integers
    begin: Small
    target: Small
    label: Small
    worth: Integers
    level: Integers
    slots: Integers
    clock: Integers


@subroutine
def no_graph(T):
    """A graph without room."""
    none, small = np.empty(0, np.int64), np.empty(0, np.int32)
    level, clock = np.zeros(T + 2, np.int64), np.zeros(1, np.int64)
    return Graph(none, none, np.empty((0, 1), np.int64), small, small, small, none, level, none, clock)


@subroutine
def _more(array, size):
    """A larger array that begins with the numbers of this one."""
    larger = np.empty(size, array.dtype)
    for k in range(len(array)):
        larger[k] = array[k]
    return larger


@subroutine
def _more_nodes(g, least):
    """The same graph with room for at least `least` nodes."""
    size, words = max(least, 2 * len(g.reach)), g.key.shape[1]
    key = np.empty((size, words), np.int64)
    for h in range(len(g.reach)):
        for w in range(words):
            key[h, w] = g.key[h, w]
    nodes = _more(g.reach, size), np.empty(size, np.int64), key, _more(g.begin, size + 1)
    return Graph(*nodes, g.target, g.label, g.worth, g.level, g.slots, g.clock)


@subroutine
def _reserve(g, first, count, edges, K):
    """The same graph with room for another node's edges and their targets; nodes of this level begin at `first`."""
    if count + K > len(g.reach):
        g = _more_nodes(g, count + K + ROOM)
    if edges + K > len(g.target):
        size = 2 * edges + K + 4 * ROOM
        grown = _more(g.target, size), _more(g.label, size), _more(g.worth, size)
        g = Graph(g.reach, g.ahead, g.key, g.begin, *grown, g.level, g.slots, g.clock)
    if 2 * (count - first + K) > len(g.slots):
        size = ROOM
        while size < 4 * (count - first + K):
            size *= 2
        slots = np.zeros(size, np.int64)
        for h in range(first, count):
            slots[slot_of(slots, g.key, h, first, g.clock[0])] = g.clock[0] + h
        g = Graph(g.reach, g.ahead, g.key, g.begin, g.target, g.label, g.worth, g.level, slots, g.clock)
    return g


@subroutine
def _expand(handle, edge_at, classes, joint, active, recursion, limits, places, values, g, at):
    """Extend nodes from position `at` on, until the graph is complete (`DONE`), the limit of work is reached (`STOPPED`) or the arrays
    are full (`FULL`)."""
    completion, tail, total = recursion
    floor, work = limits
    edge, machines = handle.scores.edge, handle.machines
    symbols, table, layout = machines.symbols, machines.table, machines.layout
    next_state, cost, final = machines.next_state, machines.cost, machines.final
    T, K, A = len(classes), edge.shape[1], len(active)
    where, joint_shift, joint_mask, words = places
    word, shift, mask, row, read = where
    label_mask = (1 << joint_shift) - 1
    h, count, edges, done, cut = at[NODE], at[NODES], at[EDGES], at[STEPS], at[CUT]
    code, clock = DONE, g.clock[0]
    for t in range(at[TOKEN], T):
        c, kind, first = classes[t], joint.kind[joint.row[t]], g.level[t + 1]
        while h < first:
            if done > work or edges > MOST_EDGES:
                code = STOPPED
            elif (
                count + K > len(g.reach)
                or edges + K > len(g.target)
                or 2 * (count - first + K) > len(g.slots)
            ):
                code = FULL
            if code != DONE:
                break
            i, q = g.key[h, 0] & label_mask if t else -1, g.key[h, 0] >> joint_shift & joint_mask
            here = g.reach[h]
            rest = here - (completion[q, t - 1, i] if t else total)
            cut = max(cut, look_ahead(edge, edge_at[t], i, tail[q], t, rest, floor, values))
            for a in range(A):
                m = active[a]
                row[a] = layout[m, ARC] + (g.key[h, word[a]] >> shift[a] & mask[a]) * layout[m, WIDTH]
                read[a] = table[c, m] + (i + 1) * layout[m, STRIDE]
            g.begin[h] = edges
            done += K
            for j in range(K):
                value = values[j]
                if value < floor:
                    continue
                g.key[count, 0] = j | np.int64(joint.after[q, kind[j]]) << joint_shift
                for w in range(1, words):
                    g.key[count, w] = 0
                spent = 0
                for a in range(A):
                    arc = row[a] + symbols[read[a] + j]
                    g.key[count, word[a]] |= np.int64(next_state[arc]) << shift[a]
                    spent = min(spent + cost[arc], HARD)
                    if t == T - 1:
                        spent = min(spent + final[layout[active[a], FINAL] + next_state[arc]], HARD)
                done += A + 4
                value -= spent
                if value < floor:
                    cut = max(cut, value)
                    continue
                if t == T - 1:
                    g.key[count, 0] = 0
                    for w in range(1, words):
                        g.key[count, w] = 0
                place = slot_of(g.slots, g.key, count, first, clock)
                node = g.slots[place] - clock
                if node >= first:
                    g.reach[node] = max(g.reach[node], value)
                else:
                    node = count
                    g.slots[place], g.reach[node] = clock + node, value
                    count += 1
                g.target[edges], g.label[edges], g.worth[edges] = node, j, value - here
                edges += 1
            h += 1
        if code != DONE:
            at[TOKEN] = t
            break
        g.level[t + 2] = count
    at[NODE], at[NODES], at[EDGES], at[STEPS], at[CUT] = h, count, edges, done, cut
    return code


@subroutine
def build_graph(handle, edge_at, classes, joint, active, recursion, floor, work, places, g):
    """The graph of all labellings that can reach a floor.

    Parameters
    ----------
    handle, edge_at, classes, joint, active, recursion : as of `label_setting.set_labels`
    floor : grid units
    work : limit of steps
    places : of `label_setting.places_of`
    g : a graph whose arrays are used

    Returns
    -------
    `DONE` or `STOPPED`; the best value that was left out, below `DEAD` where the graph contains all labellings; steps;
    g
    """
    K = handle.scores.edge.shape[1]
    if g.key.shape[1] != places[3]:
        g = Graph(
            *(g.reach, g.ahead, np.empty((len(g.reach), places[3]), np.int64), g.begin),
            *(g.target, g.label, g.worth, g.level, g.slots, g.clock),
        )
    values, at = np.empty(K, np.int64), np.zeros(6, np.int64)
    at[NODES], at[CUT], g.level[0], g.level[1], code = 1, FORBIDDEN, 0, 1, FULL
    while code == FULL:
        g = _reserve(g, g.level[at[TOKEN] + 1], at[NODES], at[EDGES], K)
        g.key[0], g.reach[0] = 0, recursion[2]
        limits = floor, work
        code = _expand(handle, edge_at, classes, joint, active, recursion, limits, places, values, g, at)
    g.clock[0] += at[NODES]
    if code == DONE:
        _look_back(g, len(classes), at)
    return code, at[CUT], at[STEPS], g


@subroutine
def _look_back(g, T, at):
    """Fill `ahead` of each node."""
    last = g.level[T]
    g.begin[last] = at[EDGES]
    for h in range(last, at[NODES]):
        g.ahead[h] = 0
    for h in range(last - 1, -1, -1):
        best = FORBIDDEN
        for e in range(g.begin[h], g.begin[h + 1]):
            best = max(best, g.worth[e] + g.ahead[g.target[e]])
        g.ahead[h] = best if best > DEAD else FORBIDDEN
