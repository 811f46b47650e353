"""The least confidence of rules, chosen by cross-validation."""

from collections.abc import Sequence

import numpy as np

from formulations.constraints.template import Template
from formulations.dtypes import Floats, Integers
from ilpinfer.learning.evidence import FoldCounts, cost, gain
from ilpinfer.learning.labellings import Labellings
from ilpinfer.learning.measuring import count
from ilpinfer.learning.rule_families import FAMILIES
from ilpinfer.learning.rule_trials import violations
from ilpinfer.learning.sample import Sample
from ilpinfer.learning.wrong_labellings import WrongLabellings

GRID = (0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
"""Confidences that are tried."""


def choose_confidence(
    samples: Sequence[Sample],
    families: Sequence[str],
    smoothing: float,
    wrong: WrongLabellings,
    wrong_table: Labellings,
) -> float:
    """The confidence whose rules rank most wrong labellings of held-out sequences below the right ones.

    For each fold, rules that the other folds teach charge the labellings of the fold, each violation with its penalty;
    where both cost the same, the pair counts a half. The words of a rule are gathered from all folds. Of equally good
    confidences the highest is taken.

    Parameters
    ----------
    samples : one for each confidence of the grid
    families : names of families
    smoothing : of penalties
    wrong, wrong_table : wrong labellings
    """
    known: dict[Template, tuple[FoldCounts, Integers]] = {}
    ranked = [(_ranked(sample, families, smoothing, wrong, wrong_table, known), sample) for sample in samples]
    best = max(ranked, key=lambda pair: (round(pair[0], 6), pair[1].thresholds.confidence))
    return best[1].thresholds.confidence


def _ranked(
    sample: Sample,
    families: Sequence[str],
    smoothing: float,
    wrong: WrongLabellings,
    wrong_table: Labellings,
    known: dict[Template, tuple[FoldCounts, Integers]],
) -> float:
    """The share of wrong labellings that cost more than the right one, held out."""
    t, folds = sample.thresholds, int(sample.fold.max()) + 1
    excess: Floats = np.zeros((folds, len(wrong)))
    for family in families:
        for candidate in FAMILIES[family](sample):
            statement = candidate.statement
            if statement not in known:
                counts = count(sample.table, statement, sample.fold)
                more = np.zeros(0, np.int64)
                if counts.held.sum() >= 0.5 * min(GRID) * t.support:
                    right = violations(sample.table, statement)
                    more = violations(wrong_table, statement) - right[wrong.sequence]
                known[statement] = counts, more
            counts, more = known[statement]
            for fold in range(folds):
                held = int(counts.held.sum() - counts.held[fold])
                broken = int(counts.broken.sum() - counts.broken[fold])
                enough = held + broken >= t.support * (folds - 1) / folds
                sure = held >= t.confidence * (held + broken)
                if enough and sure and gain(held, broken, candidate.base) >= t.gain:
                    excess[fold] += cost(held, broken, smoothing) * more
    own = excess[sample.fold[wrong.sequence], np.arange(len(wrong))]
    return float(((own > 0) + 0.5 * (own == 0)).mean()) if len(own) else 0.0
