"""Limits on the tokens of a field in each window of a sequence: one machine, whose states are the last tokens."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine, automaton
from formulations.automata.sums import Sum
from formulations.blocks import stacked
from formulations.dtypes import LabelIds

MOST_WINDOW_STATES = 2**10
"""Largest number of states of one machine for all windows; above, each window has its own machine."""


@dataclass(frozen=True, eq=False)
class WindowCount:
    """Sum over all windows of `width` tokens of the counted tokens above `most_tokens`. With `once`, machines may stop at one violation."""

    steps: StepTable
    most_tokens: int
    width: int
    once: bool = False

    is_local = False

    @property
    def _length(self) -> int:
        return min(self.width, len(self.steps.index))

    @property
    def most(self) -> int:
        return max(0, self._length - self.most_tokens) * (len(self.steps.index) - self._length + 1)

    def violations(self, path: LabelIds) -> int:
        totals = np.concatenate([[0], np.cumsum(self.steps.along(path))])
        return int(np.maximum(totals[self._length :] - totals[: -self._length] - self.most_tokens, 0).sum())

    @property
    def has_machine(self) -> bool:
        """Whether the machine is small."""
        return _states(self.most_tokens, self.width, self.once) <= MOST_WINDOW_STATES

    @cached_property
    def machines(self) -> tuple[Machine]:
        return (Machine(self.steps, _automaton(self.most_tokens, self.width, self.once)),)

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """A sum for each window."""
        weights, T, result = self.steps.values[0], len(self.steps.index), list[Sum]()
        values, marks = stacked([weights & 0, weights]), np.zeros(2 * T, np.int64)
        marks[T : T + self._length] = 1
        for first in range(T - self._length + 1):
            time_limits.check()
            steps = StepTable(values, marks[T - first : 2 * T - first])  # a view
            result.append(Sum(steps, None, self.most_tokens, range(first, first + self._length)))
        return tuple(result)

    @property
    def parts(self) -> "tuple[WindowCount] | tuple[Sum, ...]":
        """The component itself, or the sums of its windows if its machine is too large."""
        return (self,) if self.has_machine else self.sums


def has_counting_machine(most_tokens: int, width: int) -> bool:
    """Whether a small machine counts the excess of all windows."""
    return _states(most_tokens, width, False) <= MOST_WINDOW_STATES


def _states(most_tokens: int, width: int, once: bool) -> int:
    if not once:
        return 3 * (1 << (width - 1)) - 1
    return sum(comb(width - 1, n) for n in range(most_tokens + 1))


@lru_cache(maxsize=64)
def _automaton(most_tokens: int, width: int, once: bool) -> Automaton:
    """States are bits of the last `width` - 1 tokens, 1 for counted tokens."""
    # without `once`, a leading 1 marks the number of bits before the first window is complete, and a higher 1 that it was
    others, lead = (1 << (width - 1)) - 1, 1 << (width - 1)

    def excess(tokens: int) -> int:
        return max(0, tokens.bit_count() - most_tokens)

    def read_once(state: int, symbol: int) -> tuple[int, int]:
        tokens = 2 * state + symbol
        return (0, 1) if excess(tokens) else (tokens & others, 0)

    def read(state: int, symbol: int) -> tuple[int, int]:
        tokens = 2 * state + symbol
        if state < lead:
            return tokens, 0
        return tokens & others | 2 * lead, excess(tokens & (2 * lead - 1))

    def missed(state: int) -> int:
        """The excess of a sequence shorter than a window."""
        return 0 if state >= 2 * lead else excess(state - (1 << state.bit_length() - 1))

    return automaton(0, read_once, symbols=2) if once else automaton(1, read, missed, symbols=2)
