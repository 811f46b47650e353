"""Penalties counted from gold labels alone: the cost of eq. 30, drawn towards the penalty that the rule has."""

import math
from collections.abc import Sequence

import numpy as np

from formulations import Feature
from formulations.dtypes import Floats
from formulations.labels.reading import Reading
from ilpinfer.learning.training_set import TrainingSet

CRUDE = -math.log(1e-4)
"""Nats, the penalty that stands in for that of a hard rule (Chang, Ratinov, Roth 2007, section 6)."""


def smoothed_penalty(breaks: int, applies: int, given: float = CRUDE) -> float:
    """-log P(broken), nats, where the penalty that is given counts as one more trial.

    -log((breaks + exp(-given)) / (applies + 1)) is the cost of Fersini et al. 2014, eq. 30, with its sign mended, under a Beta
    distribution beforehand whose mean is exp(-given). A rule that few trials have not broken so keeps its penalty, and one
    that gold breaks often loses it. It is near 0 where every trial is broken.

    Examples
    --------
    >>> round(smoothed_penalty(0, 5), 2), round(smoothed_penalty(20, 100), 2), round(smoothed_penalty(7, 7), 2)
    (11.0, 1.62, 0.13)
    """
    prior = math.exp(-CRUDE if math.isinf(given) else -given)
    return max(0.0, -math.log((breaks + prior) / (applies + 1)))


def log_odds(data: TrainingSet, start: Floats, places: Sequence[int]) -> Floats:
    """(R,) penalties by `smoothed_penalty`; features keep their weights (Learning plus Inference).

    Parameters
    ----------
    data : examples, of which only gold labels are looked at
    start : (R,) weights that count as given
    places : of the examples
    """
    applies, breaks = (np.zeros(len(start), np.int64) for _ in range(2))
    for place in places:
        example = data.examples[place]
        reading = Reading(example.gold, example.trellis.tokens, data.optional_labels)
        for j, item in enumerate(data.items):
            if not isinstance(item, Feature):
                trials = item.trials(reading)
                applies[j] += len(trials)
                breaks[j] += sum(trial.amount > 0 for trial in trials)
    return np.array(
        [
            weight if isinstance(item, Feature) else smoothed_penalty(b, n, weight)
            for item, weight, b, n in zip(
                data.items, start.tolist(), breaks.tolist(), applies.tolist(), strict=True
            )
        ]
    )
