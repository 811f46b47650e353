"""Penalties from counts of gold labels: the cost of eq. 30, drawn towards the penalty that the rule has."""

from collections.abc import Sequence

import numpy as np

from formulations import Feature
from formulations.dtypes import Floats
from ilpinfer.evaluation.checking import smoothed_penalty
from ilpinfer.learning.training_set import TrainingSet


def log_odds(data: TrainingSet, start: Floats, places: Sequence[int]) -> Floats:
    """(R,) penalties by `smoothed_penalty`; features keep their weights (Learning plus Inference)."""
    applicable, broken = sum(
        (data.gold_trials(place) for place in places), np.zeros((len(start), 2), np.int64)
    ).T
    return np.array(
        [
            weight if isinstance(item, Feature) else smoothed_penalty(b, n, weight)
            for item, weight, b, n in zip(
                data.items, start.tolist(), broken.tolist(), applicable.tolist(), strict=True
            )
        ]
    )
