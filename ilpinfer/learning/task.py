"""Weights to learn, and what they stand on: labellings in pools, and moves from one of them to gold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from formulations.dtypes import Floats, Integers
from ilpinfer.evaluation.counts import Totals

LARGEST = 30.0
"""Nats: weights stay within this; a rule that reaches it is practically hard."""
TOP, WITHIN = 10, 8.0
"""The best labellings without soft rules that updates of many rules see, and how far they are behind the first, nats."""

SECONDS = 5.0
"""Seconds for one sequence; what is not proved by then is the best labelling found, and `AllFeatures` leaves it out."""


class Move(NamedTuple):
    """Where gold counts otherwise than another labelling does, by how much, and how far gold is behind it, nats."""

    where: Integers
    change: Floats
    behind: float


@dataclass(frozen=True, eq=False)
class Pool:
    scores: Floats
    activations: Any  # (n, W), an array or a sparse one
    counts: Totals
    wrong: Floats  # (n,) labels that are not those of gold

    def extended(self, other: "Pool") -> "Pool":
        return Pool(
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.activations, other.activations]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.wrong, other.wrong]),
        )


class LearningTask(Protocol):
    """W weights and what they stand on: rules alone (`TrainingSet`), or all features of a model and rules (`AllFeatures`)."""

    @property
    def least(self) -> Floats: ...
    @property
    def most(self) -> Floats: ...

    def started(self, factor: float) -> Floats:
        """(W,) given weights times a factor, to begin steps with."""
        ...

    def counted(self, places: Sequence[int]) -> Floats:
        """(W,) weights by counts of the gold labels of some examples."""
        ...

    def move(self, place: int, weights: Floats, margin: float) -> Move | None:
        """From the best labelling of an example under weights to gold; None where there is nothing to learn."""
        ...

    def prepare(self, start: Floats, places: Sequence[int], margin: float) -> None:
        """Find labellings in which `move` will search."""
        ...

    def grow(self, weights: Floats, places: Sequence[int]) -> bool:
        """Find more of them; whether any is new."""
        ...

    def add_best(self, places: Sequence[int], top: int, within: float) -> None: ...
    def decode(self, weights: Floats, places: Sequence[int]) -> object: ...
    def pools(self, places: Sequence[int]) -> list[Pool]: ...
