"""Components of rules, with or without a sequence, and conditions on a token and its two neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine
from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.messages import brief, counted


class Component(Protocol):
    """Interface of a ground rule or a part of one: a `Machine`, a `Sum` or a `Circuit`.

    Examples
    --------
    >>> from ilpinfer import LabelSet, constraints as C
    >>> labels = LabelSet(("title", "O"))
    >>> [component] = C.at_most_runs("title", 1).ground(labels, ["a", "b", "c"])
    >>> component.violations(labels.ids(["title", "O", "title"]))
    1
    """

    @property
    def is_local(self) -> bool:
        """Whether the violations are a sum over single steps."""
        ...

    @property
    def most(self) -> int:
        """An upper bound on the violations of any labelling."""
        ...

    @property
    def machines(self) -> tuple[Machine, ...] | None:
        """Machines whose violations add up to those of the component; None for too many states."""
        ...

    def violations(self, path: LabelIds) -> int:
        """Number of violations of a labelling.

        Parameters
        ----------
        path : ndarray of int, shape (T,)
            Label ids.

        Returns
        -------
        int
            The number of violations.
        """
        ...


class Pattern(Protocol):
    def matches(self, token: str) -> bool: ...


@dataclass(frozen=True)
class Literal:
    """A condition on one token of a window: it matches a pattern or not; without a pattern, it exists or not."""

    place: int  # -1 for the previous token, 0 for the token itself, 1 for the next token
    pattern: Pattern | None = None
    holds: bool = True  # False for the negation


Condition = tuple[Literal, ...]  # a conjunction of literals; the empty one is true
FIRST, LAST = Literal(-1, None, False), Literal(1, None, False)
LATER, EARLIER = Literal(-1), Literal(1)


def fits(pattern: Pattern, place: int = 0, *, holds: bool = True) -> Literal:
    """The token at a place of the window exists and matches, or does not match with `holds=False`."""
    return Literal(place, pattern, holds)


class Window:
    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self._everywhere = np.zeros(len(tokens), np.int64)
        self._masks: dict[int, tuple[Pattern, Booleans]] = {}

    def where(self, condition: Condition) -> Booleans:
        """(T,) tokens at which a condition holds."""
        held = np.ones(len(self.tokens), bool)
        for literal in condition:
            there = self._matches(literal.pattern) == literal.holds
            if literal.place:
                outside = [literal.pattern is None and not literal.holds]
                there = np.concatenate([outside, there[:-1]] if literal.place < 0 else [there[1:], outside])
            held &= there
        return held

    def _matches(self, pattern: Pattern | None) -> Booleans:
        if pattern is None:
            return np.ones(len(self.tokens), bool)
        if id(pattern) not in self._masks:
            result = np.array([pattern.matches(token) for token in self.tokens], bool)
            self._masks[id(pattern)] = pattern, result
        return self._masks[id(pattern)][1]

    def positions(self, condition: Condition) -> list[int]:
        result: list[int] = np.flatnonzero(self.where(condition)).tolist()
        return result

    def steps(self, choice: "StepChoice") -> StepTable:
        if len(choice.values) == 1:
            return StepTable(choice.values, self._everywhere)
        return StepTable(choice.values, self.where(choice.condition).astype(np.int64))


@dataclass(frozen=True)
class StepChoice:
    """A small integer for each step, from one table, or from a second table where a condition holds."""

    values: Integers  # (1 or 2, K+1, K), or (1 or 2, 1, K), as in `StepTable`
    condition: Condition = ()


@dataclass(frozen=True)
class UnboundComponent:
    """A component of a rule before the sequence is known."""

    steps: StepChoice
    make: Callable[[StepTable], Component]

    def on(self, window: Window) -> Component:
        return self.make(window.steps(self.steps))


@dataclass(frozen=True, eq=False)
class Agreement:
    """A list of tokens that should have labels of the same kind; each change of kind between consecutive tokens is a violation."""

    kind: Integers  # (K,) from 0 to F - 1
    tokens: Integers  # (n,) ascending, at least two
    length: int  # T

    is_local = False

    @property
    def kinds(self) -> int:
        return int(self.kind.max()) + 1

    @property
    def most(self) -> int:
        return len(self.tokens) - 1

    def violations(self, path: LabelIds) -> int:
        return int(np.count_nonzero(np.diff(self.kind[path[self.tokens]])))

    @cached_property
    def machines(self) -> tuple[Machine]:
        """One machine. The state is the last kind plus one, 0 before the first; symbol f + 1 is a listed token of kind f, 0 any other token."""
        values = np.zeros((2, 1, len(self.kind)), np.int64)
        values[1, 0] = self.kind + 1
        index = np.zeros(self.length, np.int64)
        index[self.tokens] = 1
        kinds = np.arange(self.kinds + 1)
        next_state = np.where(kinds == 0, kinds[:, None], kinds)
        emits = ((next_state != kinds[:, None]) & (kinds[:, None] > 0)).astype(np.int64)
        return (Machine(StepTable(values, index), Automaton(next_state, emits, 0 * kinds)),)


Count = Callable[[list[str], tuple[str, ...]], int]
"""A function of label names and T texts that returns the violations of a labelling, or a lower bound for labellings with this prefix."""
MOST_COUNTED = 100_000
"""The largest number of violations that a function may return."""


@dataclass(frozen=True)
class FunctionCount:
    """A component without a machine: a function counts its violations; `prefix` is a lower bound for labellings with a common prefix."""

    rule: str  # its name
    count: Count
    prefix: Count | None
    labels: tuple[str, ...]
    tokens: tuple[str, ...]

    is_local = False
    most = MOST_COUNTED
    machines = None

    def violations(self, path: LabelIds) -> int:
        return call_count(self.count, self.rule, self._names(path), self.tokens)

    def at_least(self, path: LabelIds) -> int:
        """A lower bound on the violations of all labellings that begin with these labels."""
        if self.prefix is None:
            return 0
        return call_count(self.prefix, self.rule, self._names(path), self.tokens, "prefix function")

    def bound_after(self, before: int, path: LabelIds) -> int:
        """`at_least` of a prefix, or the violations of a whole labelling; ValueError if it is below the bound `before` the last label."""
        whole = len(path) == len(self.tokens)
        now = self.violations(path) if whole else self.at_least(path)
        if now >= before:
            return now
        t = len(path) - 1
        after = "all labels, which the function counts" if whole else counted(t + 1, "label")
        raise ValueError(
            f"rule {self.rule!r}: its prefix function returned {before} after {counted(t, 'label')}, more than the {now} after "
            f"{after} (token {t}, {brief(self.tokens[t])}, label {self.labels[path[t]]}); expected a lower bound that does not fall"
        )

    def _names(self, path: LabelIds) -> list[str]:
        return [self.labels[k] for k in path]


def call_count(
    function: Count, rule: str, labels: list[str], tokens: tuple[str, ...], what: str = "function"
) -> int:
    """Call a function; ValueError if it fails, and unless it returns a whole number in range."""
    try:
        count: Any = function(labels, tokens)
    except time_limits.OutOfTime:
        raise
    except Exception as error:
        raise ValueError(f"rule {rule!r}: its {what} failed: {type(error).__name__}: {error}") from error
    if isinstance(count, bool) or not isinstance(count, Integral) or not 0 <= int(count) <= MOST_COUNTED:
        raise ValueError(
            f"rule {rule!r}: its {what} returned {brief(count)}; expected a number of violations from 0, where the rule holds, "
            f"to {MOST_COUNTED}"
        )
    return int(count)
