"""Components of rules, on a sequence and before it is known, and conditions on a token and its two neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.machine import Machine
from formulations.dtypes import Booleans, Integers, LabelIds


class Component(Protocol):
    """Interface of a ground rule or a part of one: a `Machine`, a `Sum` or a `Circuit`.

    Examples
    --------
    >>> from formulations import LabelSet, constraints as C
    >>> labels = LabelSet(("title", "O"))
    >>> [component] = C.at_most_runs("title", 1).ground(labels, ["a", "b", "c"])
    >>> component.violations(labels.ids(["title", "O", "title"]))
    1
    """

    @property
    def is_local(self) -> bool:
        """Whether its violations are a sum over single steps."""
        ...

    @property
    def most(self) -> int:
        """An upper bound on the violations of any labelling."""
        ...

    @property
    def machines(self) -> tuple[Machine, ...] | None:
        """Machines whose violations, summed, are its own; None where they would have too many states."""
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
    """A condition on one token of a window: that it matches a pattern, or does not; without a pattern, that it exists, or does not."""

    place: int  # -1 for the token before, 0 for the token itself, 1 for the one after it
    pattern: Pattern | None = None
    holds: bool = True  # False for the second of each


Condition = tuple[Literal, ...]  # literals that all hold; the empty one always does
FIRST, LAST = Literal(-1, None, False), Literal(1, None, False)
LATER, EARLIER = Literal(-1), Literal(1)


def fits(pattern: Pattern, place: int = 0, *, holds: bool = True) -> Literal:
    """The token at a place of the window exists and matches, or does not match."""
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
    """A small integer for each step, from one table, or from a second one where a condition holds."""

    values: Integers  # (1 or 2, K+1, K), or (1 or 2, 1, K), as in `StepTable`
    condition: Condition = ()

    def map(self, function: Integers) -> "StepChoice":
        return StepChoice(function[self.values], self.condition)


@dataclass(frozen=True)
class UnboundComponent:
    """A component of a rule before the sequence is known."""

    steps: StepChoice
    make: Callable[[StepTable], Component]

    def on(self, window: Window) -> Component:
        return self.make(window.steps(self.steps))
