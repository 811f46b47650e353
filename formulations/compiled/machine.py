"""A ground rule as a small automaton that reads a labelling from left to right and emits violations."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable

Table = NDArray[np.int64]


@dataclass(frozen=True)
class Counter:
    """A machine that only counts symbol 1: at least `low` and at most `high` of them; None for no such side."""

    low: int | None
    high: int | None

    def violations(self, count: int) -> int:
        """Excess or shortfall."""
        missing = 0 if self.low is None else self.low - count
        return max(0, missing, 0 if self.high is None else count - self.high)


@dataclass(frozen=True)
class Machine:
    """Q states, S symbols; state 0 is the first.

    Parameters
    ----------
    steps : the symbol of each step of a labelling
    next_state : (Q, S)
    emits : (Q, S) violations emitted on reading a symbol
    final : (Q,) violations emitted after the last token
    counter : set where the machine is a pure counter, which becomes a single row of a program
    """

    steps: StepTable
    next_state: Table
    emits: Table
    final: Table
    counter: Counter | None = None

    @property
    def states(self) -> int:
        return len(self.final)

    @property
    def is_local(self) -> bool:
        """One state and nothing at the end: looks at one token or one edge at a time, so it folds."""
        return self.states == 1 and not self.final.any()

    @cached_property
    def floor(self) -> Table:
        """(Q,) least violations that can still follow, whatever the remaining labels are."""
        least = self.final.copy()
        for _ in range(self.states):
            least = np.minimum(least, (self.emits + least[self.next_state]).min(axis=1))
        return least

    @cached_property
    def fires_at(self) -> NDArray[np.bool_]:
        """(T,) tokens at which a local machine can emit anything."""
        symbols = np.zeros((len(self.steps.values), self.emits.shape[1]), bool)
        for p, values in enumerate(self.steps.values):
            symbols[p, np.unique(values)] = True
        return (symbols & (self.emits[0] > 0)).any(axis=1)[self.steps.index]

    @property
    def most(self) -> int:
        """An upper bound on the violations of any labelling."""
        return int(self.emits.max(initial=0)) * len(self.steps.index) + int(self.final.max(initial=0))

    def violations(self, path: NDArray[np.int64]) -> int:
        """Violations of label ids (T,)."""
        symbols = self.steps.along(path)
        if self.counter:
            return self.counter.violations(int(symbols.sum()))
        if self.is_local:
            return int(self.emits[0, symbols].sum())
        state, total = 0, 0
        for symbol in symbols.tolist():
            total += int(self.emits[state, symbol])
            state = int(self.next_state[state, symbol])
        return total + int(self.final[state])


def local(steps: StepTable) -> Machine:
    """One state; symbol 1 is a violation."""
    return Machine(steps, np.zeros((1, 2), np.int64), np.array([[0, 1]]), np.zeros(1, np.int64))


def counting(steps: StepTable, counter: Counter) -> Machine:
    """Each symbol 1 too many is a violation when it is read, each one missing at the end.

    States count up to where nothing changes any more, and no further than there are tokens.
    """
    low, high = counter.low, counter.high
    top = min(max(low or 0, high or 0), len(steps.index))
    states = np.arange(top + 1)
    next_state = np.stack([states, np.minimum(states + 1, top)], axis=1)
    emits = np.zeros((top + 1, 2), np.int64)
    emits[top, 1] = high is not None and top == high
    final = np.array([counter.violations(count) for count in states.tolist()])
    return Machine(steps, next_state, emits, final, counter)
