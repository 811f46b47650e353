"""Sums of step weights between two sides; each sum is a row of a program."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.machine import MOST_STATES, Automaton, Machine, TooManyStates, local, longest
from formulations.blocks import entries, mapped, stacked
from formulations.dtypes import Integers, LabelIds

Part = TypeVar("Part")


@dataclass(frozen=True)
class Sum:
    """low <= Σ step weights <= high, None for an open side; each unit outside is a violation."""

    steps: StepTable
    low: int | None
    high: int | None
    # if given: `low` is None; steps into these tokens have the nonnegative weights of the second table, other steps weight 0
    window: range | None = None

    is_local = False

    def away(self, total: int) -> int:
        missing = 0 if self.low is None else self.low - total
        return max(0, missing, 0 if self.high is None else total - self.high)

    def violations(self, path: LabelIds) -> int:
        return self.away(int(self.steps.along(path).sum()))

    @cached_property
    def reach(self) -> tuple[int, int]:
        """Bounds on the sum of any labelling."""
        if self.window is not None:
            weights, number = self.steps.values[1], len(self.window)
            return number * int(weights.min()), number * int(weights.max())
        flat = entries(self.steps.values)
        return int(flat.min(axis=1)[self.steps.index].sum()), int(flat.max(axis=1)[self.steps.index].sum())

    @cached_property
    def weights(self) -> Integers:
        """The weight of each symbol of the machine; a window's last token has symbols of its own."""
        values = entries(self.steps.values).reshape(-1)
        low, high = int(values.min()), int(values.max())
        if high - low < len(values):  # counting is several times as fast as sorting
            weights = np.flatnonzero(np.bincount(values - low)) + low
        else:
            weights = np.unique(values)
        return weights if self._last is None else np.tile(weights, 2)

    @cached_property
    def _last(self) -> int | None:
        """The last token of the window, after which the machine stays in its last state; None without such a state."""
        if self.window is None or self.window.stop == len(self.steps.index) or not self.steps.values.any():
            return None
        return self.window.stop - 1

    @property
    def most(self) -> int:
        return max(self.away(total) for total in self.reach)

    @cached_property
    def machines(self) -> tuple[Machine, ...] | None:
        """A machine whose state is the partial sum; None for too many states."""
        weights, steps, last = self.weights, self.steps, self._last
        weights = weights if last is None else weights[: len(weights) // 2]
        if not np.array_equal(weights, np.arange(len(weights))):
            steps = StepTable(mapped(weights.searchsorted, steps.values), steps.index)
        try:
            automaton = _automaton(
                tuple(weights.tolist()), self.low, self.high, longest(len(steps.index)), last is not None
            )
        except TooManyStates:
            return None
        if last is not None:
            index = steps.index.copy()
            closing, index[last] = steps.values[index[last]] + len(weights), len(steps.values)
            steps = StepTable(stacked([*steps.values, closing]), index)
        return (Machine(steps, automaton),)


class WindowSums:
    """Sums over windows of equal length, weights and upper side, evaluated together."""

    def __init__(self, windows: Sequence[range], sums: Sequence[Sum]) -> None:
        steps, self._high = sums[0].steps, sums[0].high or 0
        self._weights = StepTable(steps.values, np.ones_like(steps.index))
        self._starts = np.array([window.start for window in windows])
        self._stops = np.array([window.stop for window in windows])
        self.most = len(sums) * sums[0].most

    def violations(self, path: LabelIds) -> int:
        totals = np.concatenate([[0], np.cumsum(self._weights.along(path))])
        return int(np.maximum(totals[self._stops] - totals[self._starts] - self._high, 0).sum())


def together(components: Sequence[Part]) -> list[Part | WindowSums]:
    """Combine sums over windows of equal length, weights and upper side."""
    result = list[Part | WindowSums]()
    alike = defaultdict[tuple[int, int, int | None], list[tuple[range, Sum]]](list)
    for one in components:
        if isinstance(one, Sum) and one.window is not None:
            alike[id(one.steps.values), len(one.window), one.high].append((one.window, one))
        else:
            result.append(one)
    return result + [WindowSums(*zip(*some, strict=True)) for some in alike.values()]


def bounded(steps: StepTable, low: int | None, high: int | None) -> Sum | Machine:
    """A sum; a local machine if weights are nonnegative and the sum must be 0."""
    if high == 0 and not low and steps.values.min() >= 0:
        return local(steps)
    return Sum(steps, low, high)


@lru_cache(maxsize=64)
def _automaton(
    weights: tuple[int, ...], low: int | None, high: int | None, longest: int, closes: bool
) -> Automaton:
    """An automaton over the numbers of weights, for at most `longest` tokens; with `closes`, further symbols for the last token of a window."""
    if closes:
        one = _automaton(weights, low, high, longest, False)
        full, emits = np.full_like(one.next_state, one.states - 1), np.hstack([one.emits, one.emits])
        return Automaton(np.hstack([one.next_state, full]), emits, one.final)
    each = np.array(weights, np.int64)
    if each[-1] <= 0 and each[0] < 0:
        low, high = (None if side is None else -side for side in (high, low))
        return _counter(-each, low, high, longest)
    if each[0] >= 0:
        return _counter(each, low, high, longest)
    totals = _totals(each, longest)
    after = np.searchsorted(totals, totals[:, None] + each).clip(max=len(totals) - 1)
    start = int(np.searchsorted(totals, 0))
    order = np.argsort(np.arange(len(totals)) != start, kind="stable")
    place = np.argsort(order)
    missing = np.full(len(order), 0) if low is None else low - totals[order]
    excess = np.full(len(order), 0) if high is None else totals[order] - high
    final = np.maximum(0, np.maximum(missing, excess))
    return Automaton(place[after[order]], np.zeros(after.shape, np.int64), final)


def _counter(weights: Integers, low: int | None, high: int | None, longest: int) -> Automaton:
    """The automaton of nonnegative weights: it emits an excess at once, and a shortfall at the end."""
    top = max(low or 0, high or 0)
    if high is not None and high < 0:
        top = 0
    totals = _totals(weights, longest, top)
    sums = totals[:, None] + weights
    emits = np.maximum(sums - top, 0) if high is not None else np.zeros(sums.shape, np.int64)
    next_state = np.searchsorted(totals, np.minimum(sums, top)).clip(max=len(totals) - 1)
    final = np.maximum(0, (low or 0) - totals)
    if high is not None and high < 0:
        final = final - high
    return Automaton(next_state, emits, final)


def _totals(weights: Integers, length: int, top: int | None = None) -> Integers:
    """All sums of at most `length` weights, capped at `top`, ascending; there may be further values in between."""
    unit = int(np.gcd.reduce(weights)) or 1
    least = length * min(0, int(weights.min())) // unit
    most = length * max(0, int(weights.max())) // unit
    most = most if top is None else min(most, -(-top // unit))
    if most - least < MOST_STATES:
        totals = unit * np.arange(least, most + 1)
        return totals if top is None or unit == 1 else np.unique(np.minimum(totals, top))
    totals = front = np.zeros(1, np.int64)
    for _ in range(length):
        sums = (front[:, None] + weights).reshape(-1)
        front = np.setdiff1d(sums if top is None else np.minimum(sums, top), totals)
        if not len(front):
            break
        totals = np.union1d(totals, front)
        if len(totals) > MOST_STATES:
            raise TooManyStates(f"more than {MOST_STATES} states")
    return totals
