"""The least confidence of rules, chosen by cross-validation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from formulations.constraints.template import Template
from formulations.dtypes import Floats, Integers
from ilpinfer.learning.evidence import FoldCounts, cost, gains
from ilpinfer.learning.labellings import Labellings
from ilpinfer.learning.measuring import count
from ilpinfer.learning.rule_families import FAMILIES
from ilpinfer.learning.rule_trials import violations
from ilpinfer.learning.sample import Sample
from ilpinfer.learning.wrong_labellings import WrongLabellings

GRID = (0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
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
    """
    known = _Known(samples[0].table, samples[0].fold, wrong, wrong_table)
    ranked = [(_ranked(sample, families, smoothing, known), sample) for sample in samples]
    best = max(ranked, key=lambda pair: (round(pair[0], 6), pair[1].thresholds.confidence))
    return best[1].thresholds.confidence


class _Known:
    """Counts of statements, which several confidences have in common."""

    def __init__(
        self, table: Labellings, fold: Integers, wrong: WrongLabellings, wrong_table: Labellings
    ) -> None:
        self.table, self.fold, self.wrong, self.wrong_table = table, fold, wrong, wrong_table
        self._counts: dict[Template, FoldCounts] = {}
        self._more: dict[Template, NDArray[np.int16]] = {}

    def counts(self, statement: Template) -> FoldCounts:
        """Trials in each fold."""
        if statement not in self._counts:
            self._counts[statement] = count(self.table, statement, self.fold)
        return self._counts[statement]

    def more(self, statement: Template) -> NDArray[np.int16]:
        """(S,) violations that each wrong labelling has more than the right one."""
        if statement not in self._more:
            right = violations(self.table, statement)[self.wrong.sequence]
            self._more[statement] = (violations(self.wrong_table, statement) - right).astype(np.int16)
        return self._more[statement]


def _ranked(sample: Sample, families: Sequence[str], smoothing: float, known: _Known) -> float:
    """The share of wrong labellings that cost more than the right one, held out."""
    t, folds, wrong = sample.thresholds, int(sample.fold.max()) + 1, known.wrong
    excess: Floats = np.zeros((folds, len(wrong)))
    for family in families:
        for candidate in FAMILIES[family](sample):
            counts = known.counts(candidate.statement)
            held, broken = (side.sum() - side for side in (counts.held, counts.broken))
            taught = held + broken >= t.support * (folds - 1) / folds
            taught &= held >= t.confidence * (held + broken)
            taught &= gains(held, broken, candidate.base) >= t.gain
            for fold in np.flatnonzero(taught):
                penalty = cost(int(held[fold]), int(broken[fold]), smoothing)
                excess[fold] += penalty * known.more(candidate.statement)
    own = excess[sample.fold[wrong.sequence], np.arange(len(wrong))]
    return float(((own > 0) + 0.5 * (own == 0)).mean()) if len(own) else 0.0
