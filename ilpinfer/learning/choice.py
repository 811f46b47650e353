"""Selection of a way to use rules by held-out trials."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.measures import value
from ilpinfer.learning.selection import MARGIN, CandidateTrial
from ilpinfer.learning.verdicts import difference, worse
from ilpinfer.learning.ways import NONE, Way

USUAL = ("given: perceptron, start 2", "given")
"""Default ways with few labels, the first available one: given penalties carry knowledge that few labels lack."""
FEW_SEQUENCES = 100
"""Below this number of sequences, `USUAL` may be the default."""
ENOUGH_SEQUENCES = 50
"""From this number of sequences on, rules must be clearly better than no rules, and worse by no measure; below, not clearly worse."""


def usual(ways: Mapping[str, Way]) -> str:
    """The way for data on which nothing can be tried."""
    return next((name for name in USUAL if name in ways), list(ways)[-1])


def refusals(trials: Mapping[str, CandidateTrial[Any]]) -> dict[str, str]:
    """Reason why each candidate is refused in comparison with no rules; empty if it is accepted."""
    return {
        name: _refusal(*both(trial, trials[NONE]))
        for name, trial in trials.items()
        if name != NONE and len(trial.scores)
    }


def _refusal(own: Totals, none: Totals) -> str:
    return worse(own, none, MARGIN if len(none) < ENOUGH_SEQUENCES else 0.0)


def both(one: CandidateTrial[Any], other: CandidateTrial[Any]) -> tuple[Totals, Totals]:
    """The counts on the sequences on which both candidates were tried."""
    if one.places is None or other.places is None:
        return one.scores, other.scores
    _, mine, its = np.intersect1d(one.places, other.places, return_indices=True)
    return one.scores[mine], other.scores[its]


def choose(trials: Mapping[str, CandidateTrial[Any]], measure: str, asked: bool = False) -> str:
    """The best way if it is clearly better than the default, otherwise the default; the first of equally good ways.

    A way tried on some of the folds has to be clearly better on them than the best one. If an update is requested, its ways are
    compared with each other only, not with no rules.
    """
    refused = {} if asked else refusals(trials)
    allowed = {
        name: trial
        for name, trial in trials.items()
        if len(trial.scores) and not refused.get(name) and not (asked and name == NONE and len(trials) > 1)
    }
    if not allowed:
        return NONE
    whole = [name for name, trial in allowed.items() if not trial.stopped] or list(allowed)
    best = max(whole, key=lambda name: _gain(trials[name], trials[NONE], measure))
    for name in allowed:
        if name not in whole and _clearly_better(trials[name], trials[best], measure):
            best = name
    if asked:
        return best
    first, number = NONE, len(trials[NONE].scores)
    prior = next((name for name in USUAL if name in allowed), NONE)
    if number < ENOUGH_SEQUENCES or (
        number < FEW_SEQUENCES and _clearly_better(trials[prior], trials[NONE], measure)
    ):
        first = prior
    return best if _clearly_better(trials[best], trials[first], measure) else first


def _gain(one: CandidateTrial[Any], none: CandidateTrial[Any], measure: str) -> float:
    """Gain in a measure over no rules, on the sequences on which the way was tried."""
    own, other = both(one, none)
    return value(own, measure) - value(other, measure)


def _clearly_better(one: CandidateTrial[Any], other: CandidateTrial[Any], measure: str) -> bool:
    """Whether the first candidate is better by more than two standard errors."""
    own, its = both(one, other)
    gain, error = difference(its, own, measure)
    return gain > MARGIN * error
