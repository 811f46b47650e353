"""Thresholds of mined rules, and measures from their trials."""

import math
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Booleans, Floats, Integers


@dataclass(frozen=True)
class Thresholds:
    support: int
    confidence: float
    gain: float
    word_support: int


@dataclass(frozen=True)
class FoldCounts:
    """Trials of a rule in each of F folds."""

    held: Integers  # (F,)
    broken: Integers  # (F,)

    def held_out(self, support: int, confidence: float) -> tuple[Integers, Integers]:
        """In how many folds a rule holds that the other folds teach, and in how many it applies."""
        fired = self.held + self.broken
        rest, rest_held = fired.sum(axis=0) - fired, self.held.sum(axis=0) - self.held
        share = (len(fired) - 1) / len(fired)
        taught = (rest >= share * support) & (rest_held >= confidence * rest)
        holds = taught & (fired > 0) & (self.held >= confidence * fired)
        return holds.sum(axis=0), (fired > 0).sum(axis=0)

    def pooled(self, support: int, confidence: float, least_gain: float, base: float) -> float:
        """The share of held-out trials that hold, over all rules that the other folds teach; 0 where there is no trial."""
        rest_held, rest_broken = self.held.sum(axis=0) - self.held, self.broken.sum(axis=0) - self.broken
        rest, share = rest_held + rest_broken, (len(self.held) - 1) / len(self.held)
        taught = (rest >= share * support) & (rest_held >= confidence * rest)
        taught &= gains(rest_held, rest_broken, base) >= share * least_gain
        fired = (self.held + self.broken)[taught].sum()
        return float(self.held[taught].sum() / fired) if fired else 0.0


def survives(holds: Integers, applies: Integers) -> Booleans:
    """Whether a rule holds in at least half of the folds in which it applies, and in one."""
    result: Booleans = (holds > 0) & (2 * holds >= applies)
    return result


def gain(held: int, broken: int, base: float) -> float:
    """The log-likelihood ratio of held and broken trials against a base rate, nats; 0 where the base rate is higher."""
    return float(gains(np.array([held]), np.array([broken]), base)[0])


def gains(held: Integers, broken: Integers, base: float) -> Floats:
    """`gain` of each of several counts."""
    base = min(max(base, 1e-9), 1 - 1e-9)
    total = np.maximum(held + broken, 1)
    share = held / total
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.where(held > 0, held * np.log(share / base), 0.0)
        result += np.where(broken > 0, broken * np.log((1 - share) / (1 - base)), 0.0)
    above: Floats = np.where(share > base, np.maximum(result, 0.0), 0.0)
    return above


def cost(held: int, broken: int, smoothing: float) -> float:
    """The penalty -log((broken + a) / (held + broken + 2 a)) in nats; Fersini et al. 2014, eq. 30, with a corrected sign."""
    return -math.log((broken + smoothing) / (held + broken + 2 * smoothing))
