"""Penalties and feature weights: by counts of gold labels, or by the averaged structured perceptron."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations import Feature
from formulations.dtypes import Booleans, Floats
from ilpinfer.evaluation.checking import smoothed_penalty
from ilpinfer.learning.measures import losses
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


LARGEST = 30.0
"""Nats: weights stay within this; a rule that reaches it is practically hard."""


class FittedWeights(NamedTuple):
    """Weights (R,) in nats, and whether each has reached the cap (R,)."""

    weights: Floats
    capped: Booleans

    @classmethod
    def plain(cls, weights: Floats) -> "FittedWeights":
        return cls(weights, np.zeros(len(weights), bool))


@dataclass(frozen=True)
class Perceptron:
    """Inference-based training (Punyakanok et al. 2005; Stokman 2011, section 7.1): pools of labellings grow until decoding adds none."""

    rate: float = 0.3
    epochs: int = 20
    rounds: int = 8
    towards: str = "gold"
    seed: int = 0

    def fit(self, data: TrainingSet, start: Floats, places: Sequence[int]) -> FittedWeights:
        places = list(places)
        first = [start, np.zeros_like(start), *([] if self.towards == "gold" else [data.given])]
        for weights in {each.tobytes(): each for each in first}.values():
            data.decode(weights, places)
        result = FittedWeights.plain(start)
        for _ in range(self.rounds):
            pools = sum(len(pool.scores) for pool in data.pools(places))
            result = self._epochs(data, start, places)
            data.decode(result.weights, places)
            if sum(len(pool.scores) for pool in data.pools(places)) == pools:
                break
        return result

    def _epochs(self, data: TrainingSet, start: Floats, places: list[int]) -> FittedWeights:
        """The mean weights of passes over the pools, and which weights a step took to the cap."""
        random = np.random.default_rng(self.seed)
        targets = {place: self._target(data, place) for place in places}
        least = np.maximum(data.signed, -LARGEST)
        weights, total, capped = start, np.zeros_like(start), np.zeros(len(start), bool)
        for epoch in range(self.epochs):
            rate = self.rate / (1 + epoch / 10)
            for place in random.permutation(places).tolist():
                pool, (target, good) = data.pool(place), targets[place]
                best = pool.best(weights) if good else 0
                if good and not good[best]:
                    moved = np.clip(weights + rate * (target - pool.activations[best]), least, LARGEST)
                    capped |= (np.abs(moved) >= LARGEST) & (moved != weights)
                    weights = moved
                total += weights
        return FittedWeights(np.asarray(total / (self.epochs * len(places))), capped)

    def _target(self, data: TrainingSet, place: int) -> tuple[Floats, list[bool]]:
        """Activations (R,) to move towards, and which labellings of the pool are as good."""
        pool = data.pool(place)
        if not len(pool.scores):
            return np.zeros(len(data.items)), []
        if self.towards == "gold":
            gold = data.gold_activations[place]
            return gold, [False] * len(pool.scores)
        worth = losses(pool.counts, self.towards)
        good = worth <= worth.min()
        reachable = np.flatnonzero(good)
        highest = reachable[np.argmax(pool.scores[reachable])]
        return pool.activations[highest], good.tolist()
