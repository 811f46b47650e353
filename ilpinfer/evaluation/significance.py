"""Significance tests of differences between two systems on the same sequences."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.arguments import whole
from formulations.dtypes import Floats, Integers
from ilpinfer.evaluation.counts import f_measure
from ilpinfer.evaluation.evaluation import Evaluation

Measure = Callable[[NDArray[Any]], Floats]
"""Maps sums (..., C) over sequences to measures (...)."""

BATCH = 200
"""Number of resamples per batch, which bounds memory."""


@dataclass(frozen=True)
class Difference:
    """A difference between two systems, its 95 % bootstrap interval, and its p value by approximate randomisation."""

    measure: str
    value: float
    other: float
    low: float
    high: float
    p: float

    @property
    def gain(self) -> float:
        """value - other."""
        return self.value - self.other


def compare(
    one: Evaluation,
    other: Evaluation,
    *,
    unit: str = "spans",
    beta: float = 1.0,
    resamples: int = 9999,
    seed: int = 0,
) -> list[Difference]:
    """Differences of accuracy, F measure and whole sequences between two systems on the same sequences, at least two.

    Approximate randomisation (Noreen 1989; Yeh 2000) swaps the labellings of the systems at random, sequence by sequence. The
    bootstrap (Efron and Tibshirani 1993) draws sequences with replacement, the same for both systems, and takes percentiles.
    """
    if not np.array_equal(one.tokens, other.tokens):
        raise ValueError("the two systems have labelled different sequences")
    if len(one.tokens) < 2:
        raise ValueError("a test of significance needs at least two sequences")
    whole(resamples, "resamples", 1)

    def sums(system: Evaluation) -> Mapping[str, tuple[NDArray[Any], Measure]]:
        right = np.stack([system.correct, system.tokens], axis=-1)
        whole = np.stack([system.whole, np.ones(len(system.tokens))], axis=-1)
        fields = system.counts[unit].sum(axis=1)
        return {
            "accuracy": (right, _ratio),
            f"F{beta:g} of {unit}": (fields, lambda counts: f_measure(counts, beta)),
            "whole sequences": (whole, _ratio),
        }

    pairs = zip(sums(one).items(), sums(other).values(), strict=True)
    return [_difference(name, a, b, f, resamples, seed) for (name, (a, f)), (b, _) in pairs]


def _ratio(sums: NDArray[Any]) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _difference(
    name: str, one: NDArray[Any], other: NDArray[Any], measure: Measure, resamples: int, seed: int
) -> Difference:
    """A difference of measures of sums over rows (N, C), tested by resampling rows."""
    from scipy import stats

    N = len(one)
    both = np.concatenate([one, other])

    def gain(a: Integers, b: Integers, axis: int = -1) -> Floats:
        return measure(both[a].sum(axis=axis - 1)) - measure(both[b].sum(axis=axis - 1))

    rows = np.arange(N)
    value, against = float(measure(one.sum(axis=0))), float(measure(other.sum(axis=0)))
    common: dict[str, Any] = {"vectorized": True, "n_resamples": resamples, "batch": BATCH, "axis": -1}
    test = stats.permutation_test(
        (rows, rows + N), gain, permutation_type="samples", rng=np.random.default_rng(seed), **common
    )
    drawn = stats.bootstrap(
        (rows,),
        lambda a, axis=-1: gain(a, a + N, axis),
        method="percentile",
        rng=np.random.default_rng(seed),
        **common,
    )
    interval = drawn.confidence_interval
    p = float(test.pvalue)
    return Difference(
        name, value, against, float(interval.low), float(interval.high), 1.0 if math.isnan(p) else p
    )
