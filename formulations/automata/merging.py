"""Merging of equivalent states of different tokens in unrolled automata."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import time_limits
from formulations.automata.machine import Automaton
from formulations.dtypes import Integers

_DEPTH = 8  # number of steps on which states are compared first


def merged(unrolled: Automaton, length: int, first: list[int]) -> Automaton:
    """A smaller automaton with the same totals on `length` symbols; the unrolled automaton if none is found."""
    layers = [np.zeros(1, np.int64)]
    for _ in range(length):
        time_limits.check()
        layers.append(np.unique(unrolled.next_state[layers[-1]]))
    total, more = _repeated(unrolled, layers)
    results = [unrolled]
    for repeated in (total > 0, more):
        after = _representatives(unrolled, layers, repeated)[unrolled.next_state]
        final = _missing(unrolled, after, length, first)
        if final is not None:
            small = Automaton(after, unrolled.emits, final)
            number, kept = np.cumsum(small.reachable) - 1, np.flatnonzero(small.reachable)
            results.append(Automaton(number[after[kept]], small.emits[kept], final[kept]))
    return min(results, key=lambda one: one.states)


def _repeated(unrolled: Automaton, layers: list[Integers]) -> tuple[Integers, Integers]:
    """Violations (Q, S) from a state to the end if one symbol is repeated; and the excess over the best state at the same token."""
    symbols = np.arange(unrolled.emits.shape[1])
    total = np.repeat(unrolled.final[:, None], len(symbols), axis=1)
    more = np.zeros_like(total)
    for layer in layers[-2::-1]:
        time_limits.check()
        total[layer] = unrolled.emits[layer] + total[unrolled.next_state[layer], symbols]
        more[layer] = total[layer] - total[layer].min(axis=0)
    return total, more


def _representatives(unrolled: Automaton, layers: list[Integers], repeated: NDArray[Any]) -> Integers:
    """(Q,) the first state with the same emissions in the next steps (before the last token) and the same row of `repeated`."""
    result, kinds = np.arange(unrolled.states), list[list[int]]()
    kind = np.unique(repeated, axis=0, return_inverse=True)[1].reshape(-1)
    for _ in range(_DEPTH):
        rows = np.hstack([unrolled.emits, kind[:, None], kind[unrolled.next_state]])
        kind = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        kinds.append(kind.tolist())
    known: list[dict[int, int]] = [{} for _ in kinds]
    for t, layer in enumerate(layers):
        time_limits.check()
        depth = min(_DEPTH, len(layers) - 2 - t)
        for state in layer.tolist() if depth > 1 else ():
            result[state] = first = known[depth - 1].get(kinds[depth - 1][state], state)
            if first == state:
                for of_depth, kind_of in zip(known[:depth], kinds, strict=False):
                    of_depth.setdefault(kind_of[state], state)
    return result


def _missing(unrolled: Automaton, after: Integers, length: int, first: list[int]) -> Integers | None:
    """Final violations (Q,) such that the transitions `after` give the totals of the unrolled automaton; None if there are none."""
    emits, state, own = unrolled.emits, np.zeros(1, np.int64), np.zeros(1, np.int64)
    for t in range(length):
        time_limits.check()
        symbols = first if t == 0 else slice(None)
        reached, its = unrolled.next_state[state][:, symbols].reshape(-1), after[own][:, symbols].reshape(-1)
        missing = (emits[state] - emits[own])[:, symbols].reshape(-1)
        if t == length - 1:
            missing += unrolled.final[reached]
            final = np.zeros(unrolled.states, np.int64)
            final[its] = missing
            return final if (missing >= 0).all() and np.array_equal(final[its], missing) else None
        if missing.any():
            return None
        state, own = np.unique([reached, its], axis=1)
    return None
