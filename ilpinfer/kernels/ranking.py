# mypy: allow-untyped-defs
"""The graph of all labellings that reach a floor, and the best few of its paths; equal paths are ordered by labels.

The value of the last path is computed first, then all paths with at least that value."""

import numpy as np

from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import subroutine
from ilpinfer.kernels.keys import places_of
from ilpinfer.kernels.label_setting import DONE, best_only, go_on, no_events
from ilpinfer.kernels.ordering import descending
from ilpinfer.kernels.prefixes import CUT, EDGES, MADE, STEPS, begin
from ilpinfer.kernels.recursion import DEAD


@subroutine
def build_graph(handle, edge_at, classes, joint, active, recursion, floor, work, p):
    """The graph of all labellings that can reach a floor.

    Parameters
    ----------
    handle, edge_at, classes, joint, active, recursion, p : as of `set_labels`
    floor : grid units
    work : limit of steps

    Returns
    -------
    `DONE` or `STOPPED`; the best value that was left out, below `DEAD` where the graph contains all labellings; steps; p
    """
    places, _ = places_of(handle.machines, active, handle.scores.edge.shape[1], len(joint.final))
    values, at = np.empty(handle.scores.labels, np.int64), np.zeros(7, np.int64)
    p = begin(p, at, recursion[2], places[4])
    options = best_only(floor, work, False, True)
    followed = no_events(len(active))
    code, p = go_on(
        handle, edge_at, classes, joint, active, recursion, options, places, followed, values, p, at
    )
    p.clock[0] += at[MADE]
    if code == DONE:
        _look_back(p, len(classes), at)
    return code, at[CUT], at[STEPS], p


@subroutine
def _look_back(p, T, at):
    """Fill `ahead` of each prefix of a graph."""
    last = p.level[T]
    p.begin[last] = at[EDGES]
    for h in range(last, at[MADE]):
        p.ahead[h] = 0
    for h in range(last - 1, -1, -1):
        best = FORBIDDEN
        for e in range(p.begin[h], p.begin[h + 1]):
            best = max(best, p.worth[e] + p.ahead[p.target[e]])
        p.ahead[h] = best if best > DEAD else FORBIDDEN


@subroutine
def _sift_up(heap, size, keys, at):
    """Move item `at` of a heap of `size` items up to its place; the largest key is on top."""
    place = size
    while place and keys[heap[(place - 1) // 2]] < keys[at]:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = at


@subroutine
def _sift_down(heap, size, keys):
    """Remove the top of a heap of `size` items."""
    at, place = heap[size - 1], 0
    while 2 * place + 1 < size - 1:
        child = 2 * place + 1
        if child + 1 < size - 1 and keys[heap[child + 1]] > keys[heap[child]]:
            child += 1
        if keys[heap[child]] <= keys[at]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = at


@subroutine
def _enter(best, known, value):
    """Enter a value into `best`, a heap of the largest values with the least on top; returns their number."""
    place = known
    if known == len(best):
        if value <= best[0]:
            return known
        place = 0
        while 2 * place + 1 < known:
            child = 2 * place + 1
            if child + 1 < known and best[child + 1] < best[child]:
                child += 1
            if best[child] >= value:
                break
            best[place] = best[child]
            place = child
        best[place] = value
        return known
    while place and best[(place - 1) // 2] > value:
        best[place] = best[(place - 1) // 2]
        place = (place - 1) // 2
    best[place] = value
    return known + 1


@subroutine
def _follow(g, nodes, place, h):
    """Fill nodes from `place` on with the first best path from node h."""
    nodes[place] = h
    for u in range(place, len(nodes) - 1):
        e = g.begin[h]
        while g.worth[e] + g.ahead[g.target[e]] != g.ahead[h]:
            e += 1
        h = g.target[e]
        nodes[u + 1] = h


@subroutine
def rank_values(g, T, best):
    """Fill best (K,) with the values of the K best paths, the least one first; returns their number, at most K.

    Each path but the best leaves a better path at one node by another edge, and is optimal from there on (Lawler 1972).
    """
    K, total = len(best), g.reach[0] + g.ahead[0]
    if total <= DEAD:
        return 0
    room = 256
    keys, rows = np.empty(room, np.int64), np.empty((room, 3), np.int32)
    heap, taken = np.empty(room, np.int64), np.empty((K, T + 1), np.int32)
    keys[0], rows[0, 0], rows[0, 1], rows[0, 2] = total, -1, -1, -1
    heap[0], size, made, number, known = 0, 1, 1, 0, _enter(best, 0, total)
    while size and number < K:
        at = heap[0]
        value, parent, place = keys[at], rows[at, 0], np.int64(rows[at, 1])
        if known == K and value < best[0]:
            break
        _sift_down(heap, size, keys)
        size -= 1
        nodes = taken[number]
        for u in range(place + 1):
            nodes[u] = taken[parent, u]
        _follow(g, nodes, place + 1, g.target[rows[at, 2]] if place >= 0 else 0)
        for u in range(place + 1, T):
            h, before = nodes[u], value - g.ahead[nodes[u]]
            on_path = True
            for e in range(g.begin[h], g.begin[h + 1]):
                ahead = g.ahead[g.target[e]]
                if ahead <= DEAD:
                    continue
                if on_path and g.worth[e] + ahead == g.ahead[h]:
                    on_path = False
                    continue
                other = before + g.worth[e] + ahead
                if known == K and other <= best[0]:
                    continue
                known = _enter(best, known, other)
                if made == room:
                    room *= 2
                    more_keys, more_rows = np.empty(room, np.int64), np.empty((room, 3), np.int32)
                    more_keys[:made], more_rows[:made] = keys, rows
                    more_heap = np.empty(room, np.int64)
                    more_heap[:size] = heap[:size]
                    keys, rows, heap = more_keys, more_rows, more_heap
                keys[made], rows[made, 0], rows[made, 1], rows[made, 2] = other, number, u, e
                _sift_up(heap, size, keys, made)
                made, size = made + 1, size + 1
        number += 1
    return known


@subroutine
def list_paths(g, T, best, known, paths, values):
    """Fill paths (K, T) with the labels of the best paths, best first and equal ones by labels, and values (K,) with
    their values.

    Parameters
    ----------
    best, known : of `rank_values`
    """
    last, left, number = best[0], 0, 0
    for k in range(known):
        left += best[k] == last
    found, worth = np.empty((known, T), np.int32), np.empty(known, np.int64)
    value, edge = np.empty(T + 1, np.int64), np.empty(T, np.int64)
    node, labels, t = np.zeros(T + 1, np.int64), np.empty(T, np.int32), 0
    value[0], edge[0] = g.reach[0], g.begin[0]
    while t >= 0:
        e = edge[t]
        if e == g.begin[node[t] + 1]:
            t -= 1
            continue
        edge[t] += 1
        ahead = g.ahead[g.target[e]]
        if ahead <= DEAD:
            continue
        through = value[t] + g.worth[e] + ahead
        if through < last or (through == last and left == 0):
            continue
        labels[t] = g.label[e]
        if t < T - 1:
            value[t + 1], node[t + 1] = value[t] + g.worth[e], g.target[e]
            t += 1
            edge[t] = g.begin[node[t]]
            continue
        left -= through == last
        worth[number] = through
        for u in range(T):
            found[number, u] = labels[u]
        number += 1
    order = descending(worth, number)
    for k in range(number):
        values[k] = worth[order[k]]
        for u in range(T):
            paths[k, u] = found[order[k], u]


@subroutine
def least_of(values, number, K):
    """The K-th largest of values, `FORBIDDEN` where there are fewer."""
    if number < K:
        return FORBIDDEN
    return values[descending(values, number)[K - 1]]
