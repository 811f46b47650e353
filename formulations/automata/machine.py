"""Ground rules as small automata, which read a labelling from left to right and emit violations."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.blocks import entries
from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.errors import InferenceError

MOST_STATES = 50_000
"""Largest number of states of a machine. Larger rules are evaluated on complete labellings only, or by rows of programs."""

_SWEEPS = 8  # number of sweeps over all states before updates of single states


class TooManyStates(InferenceError, ValueError):
    """A machine would exceed `MOST_STATES`, or several rules exceed a budget; `largest` names the rules, largest first."""

    def __init__(self, message: str, largest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.largest = largest


@dataclass(frozen=True)
class Automaton:
    """Q states, beginning in state 0, and S symbols."""

    next_state: Integers  # (Q, S)
    emits: Integers  # (Q, S) violations on reading a symbol
    final: Integers  # (Q,) violations after the last token
    backward: "Automaton | None" = None  # a smaller one from right to left with the same totals

    @property
    def states(self) -> int:
        return len(self.final)

    @property
    def is_local(self) -> bool:
        """Whether there is one state and no emission at the end; such rules depend on single steps and fold."""
        return self.states == 1 and not self.final.any()

    @cached_property
    def floor(self) -> Integers:
        """(Q,) least number of further violations, for any number of tokens: shortest paths to an end."""
        least = self.final
        for _ in range(_SWEEPS):
            lower = np.minimum(least, (self.emits + least[self.next_state]).min(axis=1))
            if np.array_equal(lower, least):
                return least
            least = lower
        return self._shortest(least.tolist())

    def _shortest(self, least: list[int]) -> Integers:
        arrive = np.argsort(self.next_state, axis=None, kind="stable")
        begins = np.searchsorted(self.next_state.reshape(-1)[arrive], np.arange(self.states + 1)).tolist()
        before, cost = (arrive // self.emits.shape[1]).tolist(), self.emits.reshape(-1)[arrive].tolist()
        waiting, queued = deque(np.argsort(least, kind="stable").tolist()), bytearray(b"\1") * self.states
        while waiting:
            state = waiting.popleft()
            queued[state], value = 0, least[state]
            for arc in range(begins[state], begins[state + 1]):
                source, lower = before[arc], value + cost[arc]
                if lower < least[source]:
                    least[source] = lower
                    if not queued[source]:
                        queued[source] = 1
                        waiting.append(source)
        return np.array(least, np.int64)

    @cached_property
    def reachable(self) -> Booleans:
        """(Q,) whether a state can be reached."""
        (after, _), width = self._arcs, self.emits.shape[1]
        seen, waiting = bytearray(len(after)), [0]
        seen[0] = 1
        while waiting:
            first = waiting.pop()
            for state in after[first : first + width]:
                if not seen[state]:
                    seen[state] = 1
                    waiting.append(state)
        return np.frombuffer(seen, bool)[::width]

    @cached_property
    def early(self) -> "Automaton":
        """The automaton with the same totals that emits each violation as soon as it is certain."""
        rise = self.floor - self.floor[0]
        if not rise.any():
            return self
        emits = self.emits + rise[self.next_state] - rise[:, None]
        return replace(self, emits=emits, final=self.final - rise)

    @cached_property
    def once(self) -> "Automaton":
        """The automaton that emits only the first violation."""
        fired, silent = self.states, np.zeros((1, self.emits.shape[1]), np.int64)
        return replace(
            self,
            next_state=np.concatenate([np.where(self.emits > 0, fired, self.next_state), silent + fired]),
            emits=np.concatenate([np.minimum(self.emits, 1), silent]),
            final=np.append(np.minimum(self.final, 1), 0),
            backward=None,
        )

    def on_prefixes(self, *, keep: bool) -> "Automaton":
        """The automaton that charges every prefix as a complete sequence. Without `keep`, charges of a prefix are refunded if a longer prefix repairs them."""
        if keep:
            return replace(self, emits=self.emits + self.final[self.next_state], final=0 * self.final)
        emits = self.emits + self.final[self.next_state] - self.final[:, None]
        return replace(self, emits=emits, final=np.full_like(self.final, self.final[0]))

    @cached_property
    def partial(self) -> str:
        """Whether the rule can be evaluated on prefixes (Stokman 2011, section 4.1, the set P).

        "exact": the violations never decrease when a prefix grows. "sound": they may decrease, but no completion of a prefix that breaks
        the rule keeps it. "": neither, or the empty prefix breaks the rule.
        """
        now, least = self.final[self.reachable], self.floor[self.reachable]
        if self.final[0] or ((now > 0) & (least == 0)).any():
            return ""
        return "exact" if (now == least).all() else "sound"

    @cached_property
    def _arcs(self) -> tuple[list[int], list[int]]:
        """For each arc, the first arc of the next state, and the violations; flat lists are faster in Python."""
        return (self.next_state * self.emits.shape[1]).reshape(-1).tolist(), self.emits.reshape(-1).tolist()

    def most(self, length: int) -> int:
        """An upper bound on the violations of `length` symbols."""
        return min(step * length + rest for step, rest in self._most)

    @cached_property
    def _most(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Two pairs of bounds: violations per step, and additional violations."""
        ahead = self.emits.max(axis=1, initial=0)
        step = (self.emits + ahead[self.next_state] - ahead[:, None]).max(initial=0)
        rest = ahead[0] + (self.final - ahead).max(initial=0)
        return (int(ahead.max()), int(self.final.max())), (int(step), int(rest))

    def violations(self, symbols: Integers) -> int:
        if self.is_local:
            return int(self.emits[0, symbols].sum())
        first, total = 0, 0
        following, emits = self._arcs
        for symbol in symbols.tolist():
            total += emits[first + symbol]
            first = following[first + symbol]
        return total + int(self.final[first // self.emits.shape[1]])


@dataclass(frozen=True, eq=False)
class Machine:
    """An automaton on the steps of one sequence."""

    steps: StepTable
    automaton: Automaton

    @property
    def machines(self) -> tuple["Machine", ...]:
        return (self,)

    @property
    def states(self) -> int:
        return self.automaton.states

    @property
    def next_state(self) -> Integers:
        return self.automaton.next_state

    @property
    def emits(self) -> Integers:
        return self.automaton.emits

    @property
    def final(self) -> Integers:
        return self.automaton.final

    @property
    def is_local(self) -> bool:
        return self.automaton.is_local

    @property
    def once(self) -> "Machine":
        return Machine(self.steps, self.automaton.once)

    @cached_property
    def fires_at(self) -> Booleans:
        """(T,) tokens at which a local machine can emit violations."""
        fires = [bool(self.emits[0, np.unique(values)].any()) for values in entries(self.steps.values)]
        return np.array(fires)[self.steps.index]

    @property
    def most(self) -> int:
        return self.automaton.most(len(self.steps.index))

    def violations(self, path: LabelIds) -> int:
        return self.automaton.violations(self.steps.along(path))


@lru_cache(maxsize=64)
def _one_state(symbols: int) -> Automaton:
    return Automaton(np.zeros((1, symbols), np.int64), np.arange(symbols)[None], np.zeros(1, np.int64))


def local(steps: StepTable) -> Machine:
    return Machine(steps, _one_state(int(steps.values.max(initial=0)) + 1))


def longest(length: int) -> int:
    """Round a length up to a power of two, so that sequences share automata."""
    return 1 << max(3, (length - 1).bit_length())


State = TypeVar("State", bound=Hashable)


def automaton(
    start: State,
    read: Callable[[State, int], tuple[State, int]],
    final: Callable[[State], int] = lambda state: 0,
    *,
    symbols: int,
) -> Automaton:
    """An automaton from a function `read(state, symbol) -> (state, violations)`; TooManyStates beyond `MOST_STATES`."""
    number, order, arcs = {start: 0}, [start], []
    for state in order:
        for symbol in range(symbols):
            after, emitted = read(state, symbol)
            if after not in number:
                number[after] = len(order)
                order.append(after)
            arcs.append((number[after], emitted))
        if len(order) > MOST_STATES:
            raise TooManyStates(f"more than {MOST_STATES} states")
    table = np.array(arcs, np.int64).reshape(len(order), symbols, 2)
    return Automaton(table[:, :, 0], table[:, :, 1], np.array([final(s) for s in order], np.int64))


def unroll(
    steps: StepTable,
    start: State,
    read: Callable[[int, Any, int], tuple[Any, int]],
    symbols: Sequence[Sequence[int]],
    certain: int = 0,
    *,
    most: int,
) -> Machine:
    """A machine from `read(token, state, symbol) -> (state, violations)`; TooManyStates beyond `most`."""
    width = max(len(s) for s in symbols)
    next_state, emits = [], []
    front: dict[Any, int] = {start: 0}
    count = 1
    for token, possible in enumerate(symbols):
        after: dict[Any, int] = {}
        for state in front:
            time_limits.check()
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
    for number in front.values():
        ends[number] = certain
        next_state.append([number] * width)
        emits.append([0] * width)
    return Machine(steps, Automaton(np.array(next_state, np.int64), np.array(emits, np.int64), ends))
