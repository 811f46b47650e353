"""Results of an E-step: counts of labels and steps."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np

from formulations.dtypes import Floats, Integers


class Estimate(Protocol):
    """A sequence whose labels are estimated."""

    @property
    def place(self) -> int: ...
    @property
    def confidence(self) -> float: ...
    @property
    def best(self) -> Integers:
        """(T,) the label ids that stand for the estimate."""
        ...

    def nodes(self, K: int) -> Floats:
        """(T, K) weight of each label at each token; each row adds up to 1."""
        ...

    def steps(self, shape: tuple[int, ...], places: "Places") -> Floats:
        """Weights of steps between labels, in the shape of a model's transitions."""
        ...


Places = Callable[[Integers], tuple[Integers, ...]]
"""Where the steps of a labelling (T,) are in a model's transitions, such as `HMM.steps`."""


@dataclass(frozen=True, eq=False)
class Labellings:
    """n labellings of a sequence, with their weights."""

    place: int
    paths: Integers  # (n, T)
    weights: Floats
    confidence: float = inf

    @classmethod
    def alike(cls, place: int, paths: Integers, confidence: float = inf) -> "Labellings":
        """Weight 1/n each, as Figure 2 of CODL has it."""
        return cls(place, paths, np.full(len(paths), 1 / len(paths)), confidence)

    @property
    def best(self) -> Integers:
        """(T,) the first."""
        return np.asarray(self.paths[0])

    def nodes(self, K: int) -> Floats:
        """(T, K)."""
        n, T = self.paths.shape
        result = np.zeros((T, K))
        np.add.at(result, (np.tile(np.arange(T), n), self.paths.ravel()), np.repeat(self.weights, T))
        return result

    def steps(self, shape: tuple[int, ...], places: Places) -> Floats:
        """Σ of the weights of each step."""
        result = np.zeros(shape)
        for path, weight in zip(self.paths, self.weights, strict=True):
            np.add.at(result, places(path), weight)
        return result


@dataclass(frozen=True, eq=False)
class Expectations:
    """Probabilities of labels and steps."""

    place: int
    labels: Floats  # (T, K)
    edges: Floats
    confidence: float = inf

    @property
    def best(self) -> Integers:
        """(T,) the likeliest label of each token."""
        return np.asarray(self.labels.argmax(axis=1))

    def nodes(self, K: int) -> Floats:
        """(T, K)."""
        return self.labels

    def steps(self, shape: tuple[int, ...], places: Places) -> Floats:
        """The expected steps."""
        return self.edges
