"""Penalties that minimise the expected number of errors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.task import TOP, WITHIN, LearningTask, Pool


def errors(counts: Totals, measure: str) -> Floats:
    """(N,) numbers of wrong tokens, wrong sequences, or wrong and missing spans, from counts (N, 6)."""
    tokens, right, predicted, gold, both, whole = np.asarray(counts, float).T
    result: Floats = predicted + gold - 2 * both
    if measure in ("tokens", "sequences"):
        result = tokens - right if measure == "tokens" else 1 - whole
    return result


@dataclass(frozen=True)
class MinimumRisk:
    """Minimum-risk training (Smith and Eisner 2006) with a Gaussian prior around the start weights.

    w minimises the mean of Σ_y p(y) · errors(y) over sequences, plus strength / 2 · ‖w - start‖², where p(y) is proportional to
    exp(score + w · activations) over the best labellings without soft rules and the best labellings under earlier w.
    """

    towards: str = "spans"
    strength: float = 0.01
    top: int = TOP
    within: float = WITHIN
    """Nats: labellings further below the best score are left out."""
    least: float = 0.1
    """Nats: smaller final weights become 0, as hundreds of them change little and slow decoding down."""
    rounds: int = 2
    iterations: int = 200

    def fit(self, task: LearningTask, start: Floats, places: Sequence[int]) -> Floats:
        """(W,) weights of a task, learnt from the examples at some places."""
        places = list(places)
        task.add_best(places, self.top, self.within)
        weights, labellings = start, -1
        for number in range(self.rounds):
            if number:
                task.decode(weights, places)
            pools = [pool for pool in task.pools(places) if len(pool.scores)]
            if labellings == (labellings := sum(len(pool.scores) for pool in pools)):
                break
            weights = self._minimum(pools, task, start)
            weights = np.where(np.abs(weights) < self.least, 0.0, weights)
        return weights

    def _minimum(self, pools: Sequence[Pool], task: LearningTask, start: Floats) -> Floats:
        from scipy.optimize import minimize

        risk = Risk(pools, self.towards)

        def objective(weights: Floats) -> tuple[float, Floats]:
            value, slope = risk.of(weights)
            away = weights - start
            return value + self.strength / 2 * float(away @ away), slope + self.strength * away

        bounds = list(zip(task.least.tolist(), task.most.tolist(), strict=True))
        options = {"maxiter": self.iterations}
        result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        weights: Floats = np.asarray(result.x)
        return weights


class Risk:
    """The mean expected number of errors of sequences; each pool has at least one labelling."""

    def __init__(self, pools: Sequence[Pool], measure: str) -> None:
        from scipy.sparse import csr_array, vstack

        sizes = [len(pool.scores) for pool in pools]
        self.begin = np.cumsum([0, *sizes[:-1]])
        self.owner = np.repeat(np.arange(len(pools)), sizes)
        self.scores = np.concatenate([pool.scores for pool in pools])
        self.activations = vstack([csr_array(pool.activations) for pool in pools], format="csr")
        self.errors = np.concatenate([errors(pool.counts, measure) for pool in pools])

    def of(self, weights: Floats) -> tuple[float, Floats]:
        """The risk, and its gradient (R,)."""
        scores = self.scores + self.activations @ weights
        shares = np.exp(scores - np.maximum.reduceat(scores, self.begin)[self.owner])
        shares /= np.add.reduceat(shares, self.begin)[self.owner]
        expected = np.add.reduceat(shares * self.errors, self.begin)
        slope = self.activations.T @ (shares * (self.errors - expected[self.owner]))
        return float(expected.mean()), slope / len(self.begin)
