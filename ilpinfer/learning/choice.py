"""The way that is taken by the trials of all."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.measures import value
from ilpinfer.learning.selection import MARGIN, Trial
from ilpinfer.learning.verdicts import difference, worse
from ilpinfer.learning.ways import NONE, Way

USUAL = ("given: perceptron, start 2", "given")
"""What few labels get, unless another way is clearly better: given penalties hold knowledge that few labels lack."""
CLOSE = 1.0
"""Standard errors by which the best way has to lead a simpler one."""
FEW_SEQUENCES = 50
"""Sequences from which on a way must beat no rules by two standard errors."""


def usual(ways: Mapping[str, Way]) -> str:
    """What is taken where nothing can be tried."""
    return next((name for name in USUAL if name in ways), list(ways)[-1])


def refusals(trials: Mapping[str, Trial[Any]]) -> dict[str, str]:
    """Why each is no better than no rules."""
    if NONE not in trials:
        return {}
    return {name: _refusal(*both(trial, trials[NONE])) for name, trial in trials.items() if name != NONE}


def _refusal(own: Totals, none: Totals) -> str:
    return worse(own, none, MARGIN if len(none) < FEW_SEQUENCES else 0.0)


def both(one: Trial[Any], other: Trial[Any]) -> tuple[Totals, Totals]:
    """The counts of the sequences on which both were tried."""
    if one.places is None or other.places is None:
        return one.scores, other.scores
    _, mine, its = np.intersect1d(one.places, other.places, return_indices=True)
    return one.scores[mine], other.scores[its]


def choose(trials: Mapping[str, Trial[Any]], measure: str, asked: bool = False) -> str:
    """The simplest of the ways that the folds cannot tell from the best one.

    Where an update is asked for, its ways are compared with each other alone, and not with no rules.
    """
    refused = {} if asked else refusals(trials)
    allowed = [
        name
        for name, trial in trials.items()
        if len(trial.scores) and not refused.get(name) and not (asked and name == NONE and len(trials) > 1)
    ]
    if not allowed:
        return NONE
    few = len(trials[NONE].scores) < FEW_SEQUENCES
    first = next((name for name in USUAL if few and name in allowed), allowed[0])
    best = max(allowed, key=lambda name: _gain(trials[name], trials[NONE], measure))
    if not _clearly_better(trials[best], trials[first], measure, MARGIN):
        return first
    return next(
        name
        for name in allowed
        if name == best
        or (
            _clearly_better(trials[name], trials[first], measure, MARGIN)
            and not _clearly_better(trials[best], trials[name], measure, CLOSE)
        )
    )


def _gain(one: Trial[Any], none: Trial[Any], measure: str) -> float:
    """By how much a measure is better than without rules, on the sequences on which it was tried."""
    own, other = both(one, none)
    return value(own, measure) - value(other, measure)


def _clearly_better(one: Trial[Any], other: Trial[Any], measure: str, errors: float) -> bool:
    own, its = both(one, other)
    gain, error = difference(its, own, measure)
    return gain > errors * error
