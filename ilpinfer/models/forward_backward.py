"""Forward and backward sums of a chain, in logarithms (Stokman 2011, eq. 19 and 29-32, as sums)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_partition(emissions: Floats, transitions: Floats) -> float:
    """log Σ exp(score) over all labellings of emissions (T, K) and transitions (K, K), nats."""
    return float(_log_sum(_forward(emissions, transitions)[-1]))


def label_probabilities(emissions: Floats, transitions: Floats) -> Floats:
    """(T, K) probability of label k at token t."""
    forward = _forward(emissions, transitions)
    backward = _forward(emissions[::-1], transitions.T)[::-1] - emissions
    total = forward + backward
    return np.asarray(np.exp(total - _log_sum(total)[:, None]))


def _forward(emissions: Floats, transitions: Floats) -> Floats:
    """(T, K) log sum of what ends in label k at token t, its own score included."""
    highest = transitions.max()
    weights = np.exp(transitions - highest)
    found = emissions.copy()
    for t in range(1, len(found)):
        peak = found[t - 1].max()
        found[t] += np.log(np.exp(found[t - 1] - peak) @ weights) + peak + highest
    return found


def _log_sum(scores: Floats) -> Floats:
    peak = scores.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(scores - peak).sum(axis=-1)) + peak[..., 0])
