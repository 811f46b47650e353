"""Machines with states of their own for each token."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import MOST_STATES, Automaton, Machine, TooManyStates

State = TypeVar("State", bound=Hashable)


def unroll(
    steps: StepTable,
    start: State,
    read: Callable[[int, Any, int], tuple[Any, int]],
    symbols: Sequence[Sequence[int]],
    final: Callable[[Any], int] = lambda state: 0,
    certain: int = 0,
    most: int = MOST_STATES,
) -> Machine:
    """A machine from `read(token, state, symbol) -> (state, violations)`; TooManyStates beyond `most`."""
    width = max(len(s) for s in symbols)
    next_state, emits = [], []
    front: dict[Any, int] = {start: 0}
    count = 1
    for token, possible in enumerate(symbols):
        time_limits.check()
        after: dict[Any, int] = {}
        for state in front:
            arcs = {}
            for symbol in possible:
                following, emitted = read(token, state, symbol)
                arcs[symbol] = after.setdefault(following, count + len(after)), emitted
            usual = arcs[possible[0]]
            row = [arcs.get(symbol, usual) for symbol in range(width)]
            next_state.append([number for number, _ in row])
            emits.append([emitted for _, emitted in row])
            if count + len(after) > most:
                raise TooManyStates(f"more than {most} states")
        front, count = after, count + len(after)
    ends = np.zeros(count, np.int64)
    for state, number in front.items():
        ends[number] = certain + final(state)
        next_state.append([number] * width)
        emits.append([0] * width)
    return Machine(steps, Automaton(np.array(next_state, np.int64), np.array(emits, np.int64), ends))
