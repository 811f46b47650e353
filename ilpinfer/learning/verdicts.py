"""Selection of rules and features: those that change held-out labellings without making them worse stay."""

from dataclasses import dataclass

import numpy as np

from formulations import Feature, Rule
from formulations.dtypes import Floats
from ilpinfer.learning.ablation import Ablation, ablate, indispensable
from ilpinfer.learning.training_set import SMALLEST, TrainingSet
from ilpinfer.learning.trials import Trial

NONE = "no rules"
"""The algorithm that leaves all soft rules and features out."""
ENOUGH = 20
"""Sequences to which a rule applies before it is said to change nothing."""


@dataclass(frozen=True)
class Verdict:
    """The result of learning for one rule or feature.

    Parameters
    ----------
    name : str
        Name of the rule.
    given, learnt : float
        Weights in nats; the learnt one is 0 if the item is removed.
    ablation : Ablation or None
        Effect of the item on held-out sequences; None if that was not measured.
    reason : str
        Reason why it stays or is removed.

    Examples
    --------
    >>> Verdict("one title", given=1.0, learnt=0.7, ablation=None, reason="kept").learnt
    0.7
    """

    name: str
    given: float
    learnt: float
    ablation: Ablation | None
    reason: str


def verdicts(
    data: TrainingSet, trial: Trial | None, weights: Floats, algorithm: str, measure: str, prune: bool
) -> tuple[Verdict, ...]:
    """The effect of each item on held-out sequences, and whether it is kept."""
    ablations: dict[int, Ablation] = {}
    if trial is not None and prune:
        items = np.flatnonzero(np.abs(weights) >= SMALLEST).tolist()
        ablations = ablate(data, trial.weights, trial.folds, items)
        ablations |= indispensable(
            data, trial.weights, trial.folds, ablations, lambda each: _reason(each, measure)[1]
        )
    result = []
    for j, (item, name) in enumerate(zip(data.items, data.names, strict=True)):
        weight = float(weights[j])
        if abs(weight) < SMALLEST:
            reason, leaves = _without_weight(item, algorithm, data), True
        elif j in ablations:
            reason, leaves = _reason(ablations[j], measure)
        else:
            reason, leaves = "not tried" if trial is None else "kept as it is", False
        learnt = 0.0 if leaves else weight
        result.append(Verdict(name, float(data.given[j]), learnt, ablations.get(j), reason))
    return tuple(result)


def _without_weight(item: Rule | Feature, algorithm: str, data: TrainingSet) -> str:
    """Why an algorithm gives an item no weight."""
    if algorithm == NONE:
        return "no penalties were better than no rules on held-out sequences"
    if algorithm == "log-odds":
        return "penalty 0: gold breaks it wherever it applies"
    if isinstance(item, Feature):
        return "weight 0: predictions have it no more and no less often than gold"
    return "penalty 0: predictions break it no more often than gold does"


def _reason(ablation: Ablation, measure: str) -> tuple[str, bool]:
    """Why an item stays or leaves, and whether it leaves."""
    if not ablation.changed:
        if ablation.applies >= ENOUGH:
            return f"changes none of {ablation.applies} sequences in which it could be broken", True
        return "too few sequences to try it on", False
    gain = ablation.describe()
    if ablation.harms(measure):
        return f"left out: {gain}", True
    return gain, False
