"""Interface of weight learning: pools of labellings, and moves from a labelling to gold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from formulations.dtypes import Floats, Integers
from ilpinfer.evaluation.counts import Totals

LARGEST = 30.0
"""Bound on weights, nats; a rule at the bound is practically hard."""
TOP, WITHIN = 10, 8.0
"""Number of best labellings without soft rules in a pool, and their largest distance from the best score, nats."""

SECONDS = 5.0
"""Time limit per sequence; without a proof by then, the best labelling found is used, and `AllFeatures` leaves the sequence out."""


class Move(NamedTuple):
    """Indices of the activations in which gold differs from another labelling, the differences, and how far gold is behind, nats."""

    where: Integers
    change: Floats
    behind: float


@dataclass(frozen=True, eq=False)
class Pool:
    scores: Floats
    activations: Any  # (n, W), an array or a sparse one
    counts: Totals
    wrong: Floats  # (n,) number of labels that differ from gold

    def extended(self, other: "Pool") -> "Pool":
        return Pool(
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.activations, other.activations]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.wrong, other.wrong]),
        )


class LearningTask(Protocol):
    """W weights to learn: of rules (`TrainingSet`), or of rules and all features of a model (`AllFeatures`)."""

    @property
    def least(self) -> Floats: ...
    @property
    def most(self) -> Floats: ...

    def started(self, factor: float) -> Floats:
        """(W,) start weights: the given weights times a factor."""
        ...

    def counted(self, places: Sequence[int]) -> Floats:
        """(W,) weights from counts on the gold labels of some examples."""
        ...

    def move(self, place: int, weights: Floats, margin: float) -> Move | None:
        """The move from the best labelling of an example under weights to gold; None if there is nothing to learn."""
        ...

    def prepare(self, start: Floats, places: Sequence[int], margin: float) -> None:
        """Find labellings for `move` to search."""
        ...

    def grow(self, weights: Floats, places: Sequence[int]) -> bool:
        """Find more labellings; whether any is new."""
        ...

    def add_best(self, places: Sequence[int], top: int, within: float) -> None: ...
    def decode(self, weights: Floats, places: Sequence[int]) -> object: ...
    def pools(self, places: Sequence[int]) -> list[Pool]: ...
