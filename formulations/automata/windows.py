"""Conditions on a token and its two neighbours, and components of rules before the sequence is known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from formulations.automata.component import Component
from formulations.automata.lattice import StepTable
from formulations.dtypes import Booleans, Integers


class Pattern(Protocol):
    """A predicate on tokens."""

    def matches(self, token: str) -> bool: ...


@dataclass(frozen=True)
class Literal:
    """A condition on one token of a window: that it matches a pattern, or does not; without a pattern, that it exists, or does not."""

    place: int  # -1 for the token before, 0 for the token itself, 1 for the one after it
    pattern: Pattern | None = None
    holds: bool = True  # False for the second of each


Condition = tuple[Literal, ...]
"""Literals that all hold; the empty one always does."""
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
            if literal.pattern is None:
                there = np.ones(len(held), bool)
            else:
                key = id(literal.pattern)
                if key not in self._masks:
                    result = np.array([literal.pattern.matches(token) for token in self.tokens], bool)
                    self._masks[key] = literal.pattern, result
                there = self._masks[key][1]
            if literal.place:
                outside = [literal.pattern is None and not literal.holds]
                there = there == literal.holds
                held &= np.concatenate([outside, there[:-1]] if literal.place < 0 else [there[1:], outside])
            else:
                held &= there == literal.holds
        return held

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
