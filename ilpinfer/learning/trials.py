"""Weights learnt without each part of the examples in turn, and how good they are on that part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.measures import Measures, losses
from ilpinfer.learning.perceptron import FittedWeights
from ilpinfer.learning.training_set import TrainingSet

Fit = Callable[[TrainingSet, Floats, Sequence[int]], FittedWeights]
"""Learns from a training set, weights (R,) to start with, and the places of the examples to learn from."""

MARGIN = 2.0
"""Standard errors by which an algorithm has to differ."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm on held-out folds."""

    algorithm: str
    measures: Measures
    refused: str = ""


@dataclass(frozen=True, eq=False)
class Trial:
    """One algorithm, fitted without each fold in turn."""

    folds: tuple[tuple[int, ...], ...]
    weights: tuple[Floats, ...]
    counts: Totals

    @classmethod
    def of(cls, data: TrainingSet, fit: Fit, folds: Sequence[Sequence[int]]) -> "Trial":
        """Fit without each fold, and label it."""
        counts = np.zeros((len(data), 6), np.int64)
        weights = []
        for fold in folds:
            left_out = set(fold)
            others = [i for i in range(len(data)) if i not in left_out]
            weights.append(fit(data, data.given, others).weights)
            counts[list(fold)] = data.measure(weights[-1], fold)
        return cls(tuple(tuple(fold) for fold in folds), tuple(weights), counts)

    @property
    def measures(self) -> Measures:
        """Its measures over all examples."""
        return Measures.of_counts(self.counts)


def worse(counts: Totals, other: Totals, margin: float = MARGIN) -> str:
    """Names the measure in which counts (N, 6) are worse than others by more than `margin` standard errors; empty if none is."""
    for measure in ("tokens", "spans", "sequences"):
        loss, error = difference(counts, other, measure)
        if loss > margin * error:
            return f"{measure} worse than without rules by {100 * loss:.2f} ± {100 * error:.2f}"
    return ""


def difference(counts: Totals, other: Totals, measure: str) -> tuple[float, float]:
    """The mean difference of the losses by two sets of counts (N, 6), and its standard error."""
    each = losses(counts, measure) - losses(other, measure)
    return float(each.mean()), float(each.std() / np.sqrt(len(each)))
