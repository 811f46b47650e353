"""Weight updates: counts of gold labels, steps towards gold, or minimisation of the expected number of errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.arguments import number as number_of
from formulations.arguments import one_of, positive, whole
from formulations.dtypes import Booleans, Floats
from formulations.time_limits import check
from ilpinfer.learning.measures import check_measure
from ilpinfer.learning.minimum_risk import MinimumRisk
from ilpinfer.learning.task import LARGEST, LearningTask, Move

UPDATES: Mapping[str, str] = {
    "counts": "smoothed frequency with which gold labels break each rule, with the given penalty as prior (Learning plus Inference)",
    "perceptron": "steps of the rate towards gold, away from the best labelling (Inference-Based Training)",
    "margin": "the smallest steps, at most the rate, by which gold leads the best labelling by a margin for each wrong token",
    "risk": "least expected number of errors among the best labellings of each sequence, for many rules",
}
ROUNDING = 1e-5
"""Nats: smaller leads may come from the rounding of scores to their grid."""
STRENGTH, LEAST_STRENGTH = 3.0, 0.01
"""Strength of the prior of "risk": for all sequences together, and the least strength per sequence."""
ROUNDS = 8
"""Largest number of decoding passes that add labellings to the pools of a training set."""


class FittedWeights(NamedTuple):
    """Weights (W,) in nats, whether each reached the cap (W,), and the number of steps per epoch."""

    weights: Floats
    capped: Booleans
    steps: tuple[int, ...] = ()

    @classmethod
    def plain(cls, weights: Floats) -> "FittedWeights":
        return cls(weights, np.zeros(len(weights), bool))


@dataclass(frozen=True)
class Update:
    """One way to learn weights (Stokman 2011, section 7.1; Punyakanok et al. 2005).

    With "perceptron" and "margin", w ← w + τ (φ(y) - φ(ŷ)), where φ are the activations, y is gold, and ŷ is the best labelling
    under w; with "margin" the best by score plus margin times wrong tokens, and
    τ = min(rate, (its value - score of y) / ‖φ(y) - φ(ŷ)‖²). The result is the mean of w after each example. Steps begin with the
    given weights times `start`, and the rate of epoch e is rate / (1 + decay · e).
    """

    name: str
    rate: float = 0.3
    epochs: int = 20
    start: float = 0.0
    decay: float = 0.1
    margin: float = 1.0
    measure: str = "spans"
    rounds: int = 2
    """Rounds of "risk": first on the best labellings, then also on the best labellings under its weights."""
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.name, "update", UPDATES)
        positive(self.rate, "rate")
        positive(self.margin, "margin")
        number_of(self.start, "start", 0, LARGEST)
        whole(self.epochs, "epochs", 1)
        whole(self.seed, "seed", 0)
        check_measure(self.measure)

    def fit(self, task: LearningTask, places: Sequence[int], start: Floats | None = None) -> FittedWeights:
        """Learn from the examples at `places`, starting at weights `start` (W,) or at the given weights times the factor `start`."""
        places = list(places)
        if self.name == "counts":
            return FittedWeights.plain(task.counted(places))
        start = task.started(self.start) if start is None else start
        if self.name == "risk":
            strength = max(LEAST_STRENGTH, STRENGTH / max(len(places), 1))
            learner = MinimumRisk(self.measure, strength=strength, rounds=self.rounds)
            weights = learner.fit(task, start, places)
            return FittedWeights(weights, np.abs(weights) >= task.most)
        margin = self.margin if self.name == "margin" else 0.0
        task.prepare(start, places, margin)
        result = FittedWeights.plain(start)
        for _ in range(ROUNDS):
            result = self._epochs(task, start, places, margin)
            if not task.grow(result.weights, places):
                break
        return result

    def _epochs(self, task: LearningTask, start: Floats, places: list[int], margin: float) -> FittedWeights:
        """The mean weights of several passes over the examples."""
        random = np.random.default_rng(self.seed)
        weights, total, capped = start.copy(), np.zeros_like(start), np.zeros(len(start), bool)
        done, steps = 0, list[int]()
        for epoch in range(self.epochs):
            rate = self.rate / (1 + self.decay * epoch)
            steps.append(0)
            for place in random.permutation(places).tolist():
                check()
                move = task.move(place, weights, margin)
                if move is not None and (step := _length(move, rate, margin)):
                    where = move.where
                    values = np.clip(weights[where] + step * move.change, task.least[where], task.most[where])
                    changed = values != weights[where]
                    capped[where] |= changed & (np.abs(values) >= task.most[where])
                    total[where] += done * (values - weights[where])
                    weights[where] = values
                    steps[-1] += bool(changed.any())
                done += 1
        return FittedWeights(weights - total / max(done, 1), capped, tuple(steps))


def _length(move: Move, rate: float, margin: float) -> float:
    """The length of a step; 0 if gold leads by the margin."""
    if not margin:
        return rate
    return 0.0 if move.behind < ROUNDING else min(rate, move.behind / max(_square(move.change), 1.0))


def _square(change: Floats) -> float:
    return float(change @ change)
