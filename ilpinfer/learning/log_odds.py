"""Penalties counted from gold labels alone: the cost of eq. 30, drawn towards the penalty that the rule has."""

from collections.abc import Sequence

import numpy as np

from formulations import Feature
from formulations.dtypes import Floats
from formulations.labels.reading import Reading
from ilpinfer.evaluation.checking import smoothed_penalty
from ilpinfer.learning.training_set import TrainingSet


def log_odds(data: TrainingSet, start: Floats, places: Sequence[int]) -> Floats:
    """(R,) penalties by `smoothed_penalty`; features keep their weights (Learning plus Inference).

    Parameters
    ----------
    data : examples, of which only gold labels are looked at
    start : (R,) weights that count as given
    places : of the examples
    """
    applicable, broken = (np.zeros(len(start), np.int64) for _ in range(2))
    for place in places:
        example = data.examples[place]
        reading = Reading(example.gold, example.trellis.tokens, data.optional_labels)
        for j, item in enumerate(data.items):
            if not isinstance(item, Feature):
                trials = item.trials(reading)
                applicable[j] += bool(trials)
                broken[j] += any(trial.amount for trial in trials)
    return np.array(
        [
            weight if isinstance(item, Feature) else smoothed_penalty(b, n, weight)
            for item, weight, b, n in zip(
                data.items, start.tolist(), broken.tolist(), applicable.tolist(), strict=True
            )
        ]
    )
