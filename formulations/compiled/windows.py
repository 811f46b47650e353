"""What a rule reads of a token and of its two neighbours, stated without a sequence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable

if TYPE_CHECKING:
    from formulations.constraints.template import Part


class Pattern(Protocol):
    """A predicate on tokens."""

    def matches(self, token: str) -> bool: ...


@dataclass(frozen=True)
class Literal:
    """What is asked of one token of a window.

    Parameters
    ----------
    place : -1 for the token before, 0 for the token itself, 1 for the one after it
    pattern : that the token there matches, or does not; None asks whether there is one
    holds : False where it must exist and not match, or not exist
    """

    place: int
    pattern: Pattern | None = None
    holds: bool = True


Condition = tuple[Literal, ...]
"""Literals that all hold; the empty one always does."""
FIRST, LAST = Literal(-1, None, False), Literal(1, None, False)
LATER, EARLIER = Literal(-1), Literal(1)


def fits(pattern: Pattern, place: int = 0, *, holds: bool = True) -> Literal:
    """The token at a place of the window exists and matches, or does not match."""
    return Literal(place, pattern, holds)


def where(condition: Condition, tokens: Sequence[str]) -> NDArray[np.bool_]:
    """(T,) tokens at which a condition holds."""
    T = len(tokens)
    held = np.ones(T, bool)
    for literal in condition:
        exists = np.arange(literal.place, T + literal.place)
        inside = (exists >= 0) & (exists < T)
        if literal.pattern is None:
            held &= inside == literal.holds
        else:
            matching = np.array([literal.pattern.matches(token) for token in tokens], bool)
            held &= inside
            held[inside] &= matching[exists[inside]] == literal.holds
    return held


@dataclass(frozen=True)
class StepChoice:
    """A small integer for each step, from one table, or from a second one where a condition holds.

    Parameters
    ----------
    values : (P, K+1, K) or (P, 1, K), as in `StepTable`; P is 1 without a condition, else 2
    condition : where the second table holds
    """

    values: NDArray[np.int64]
    condition: Condition = ()

    def on(self, tokens: Sequence[str]) -> StepTable:
        """The steps of a sequence."""
        if len(self.values) == 1:
            return StepTable(self.values, np.zeros(len(tokens), np.int64))
        return StepTable(self.values, where(self.condition, tokens).astype(np.int64))

    def map(self, function: NDArray[np.int64]) -> "StepChoice":
        """The same choice with every value v replaced by function[v]."""
        return StepChoice(function[self.values], self.condition)


@dataclass(frozen=True)
class UnboundPart:
    """A part of a rule before the sequence is known.

    Parameters
    ----------
    steps : what it reads
    make : the part on the steps of a sequence
    """

    steps: StepChoice
    make: "Callable[[StepTable], Part]"

    def on(self, tokens: Sequence[str]) -> "Part":
        """The part on a sequence."""
        return self.make(self.steps.on(tokens))
