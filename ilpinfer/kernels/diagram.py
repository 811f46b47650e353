# mypy: allow-untyped-defs
"""Decision diagrams of labellings: layers of nodes, one layer a token, and the steps between them.

The steps of node n are those from first[n] to first[n + 1]; nodes of a layer follow each other, and the root is the
first. `value` of a node is the best score of a path to it, `ahead` that of a path from it to the end.
"""

from typing import NamedTuple

from formulations.dtypes import Integers, Small
from formulations.grid import FORBIDDEN
from ilpinfer.kernels.jit import kernel, subroutine

_DEAD = FORBIDDEN // 2


class Graph(NamedTuple):
    """Nodes and steps, as above. N nodes, E steps.

    state (N,), -1 for the root; value (N,); where the nodes of each layer begin (T+2,); first (N+1,); target and score
    (E,); what each node of the last layer is worth more; ahead (N,).
    """

    state: Small
    value: Integers
    layers: Integers
    first: Integers
    target: Small
    score: Integers
    end: Integers
    ahead: Integers


@kernel
def unfold(chain, domains, symbols, charge, output):
    """Write a lattice as a diagram, with only the states of its domains; returns the number of steps.

    charge : charge of each joint symbol (J,), grid units
    """
    node, pool, step, base = chain
    states, begins = domains.states, domains.begins
    state, value, layers, first, target, score, _, _ = output
    T, B = len(node), pool.shape[2]
    state[0], value[0], layers[0], layers[1], count = -1, 0, 0, 1, 0
    for t in range(T):
        layers[t + 2] = layers[t + 1] + begins[t + 1] - begins[t]
        for at in range(begins[t], begins[t + 1]):
            state[1 + at] = states[at]
            value[1 + at] = FORBIDDEN
        for n in range(layers[t], layers[t + 1]):
            first[n] = count
            i = state[n]
            for m in range(layers[t + 1], layers[t + 2]):
                j = state[m]
                b = j - base[i] if t else j
                if b < 0 or b >= B:
                    continue
                gain = node[t, j] if t == 0 else pool[step[t - 1], i, b] + node[t, j]
                if gain < _DEAD or value[n] < _DEAD:
                    continue
                gain -= charge[symbols.symbol[symbols.table[t], i + 1, b]]
                target[count], score[count] = m, gain
                value[m] = max(value[m], value[n] + gain)
                count += 1
    for n in range(layers[T], layers[T + 1] + 1):
        first[n] = count
    return count


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
            ahead[n] = best if best > _DEAD else FORBIDDEN
    if stop == 0 and ahead[0] > _DEAD:
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
            if value[n] > _DEAD and ahead[n] > _DEAD and value[n] + ahead[n] >= floor:
                number[n] = count
                new_state[count], new_value[count], new_ahead[count] = state[n], value[n], ahead[n]
                if t == T:
                    new_end[count - new_layers[T]] = end[n - layers[T]]
                count += 1
    new_layers[T + 1] = count
    steps, left = 0, FORBIDDEN
    for n in range(layers[T + 1]):
        if value[n] <= _DEAD or ahead[n] <= _DEAD:
            continue
        if number[n] < 0:
            left = max(left, value[n] + ahead[n])
            continue
        new_first[number[n]] = steps
        for e in range(first[n], first[n + 1]):
            m, gain = target[e], score[e]
            if ahead[m] <= _DEAD:
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
