"""What one rule changes in the labellings of held-out sequences: with it and without it, everything else equal."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.learning.measures import Counts, Scale, losses
from ilpinfer.learning.training_set import SMALLEST, TrainingSet


@dataclass(frozen=True, eq=False)
class Ablation:
    """One rule, left out.

    Parameters
    ----------
    applies : held-out sequences of which some labelling that was met breaks the rule
    changed : those whose best labelling is another one without the rule
    with_rule, without_rule : (n, 6) counts of the changed ones
    sequences : held-out sequences in all
    """

    applies: int
    changed: int
    with_rule: Counts
    without_rule: Counts
    sequences: int

    def gain(self, measure: str) -> tuple[float, float]:
        """By how much the rule lowers the loss, summed over sequences, and the standard error of that."""
        difference = losses(self.without_rule, measure) - losses(self.with_rule, measure)
        every = np.append(difference, np.zeros(self.sequences - len(difference)))
        return float(every.sum()), float(every.std() * np.sqrt(self.sequences))

    def harms(self, measure: str) -> bool:
        """Whether labellings are better without the rule, by more than two standard errors."""
        gain, error = self.gain(measure)
        return gain < -2 * error

    def describe(self) -> str:
        """What changes, in words."""
        before, after = self.without_rule.sum(axis=0), self.with_rule.sum(axis=0)
        tokens, whole = after[1] - before[1], after[5] - before[5]
        spans = Scale.of(self.with_rule).spans - Scale.of(self.without_rule).spans
        return (
            f"changes {self.changed} of {self.sequences} held-out labellings: {tokens:+d} tokens, {whole:+d} whole "
            f"sequences, span F1 {spans:+.1f} on these"
        )


def ablate(
    data: TrainingSet, weights: Sequence[Floats], folds: Sequence[Sequence[int]], final: Floats
) -> dict[int, Ablation]:
    """Each item of the final weights left out, on sequences where a labelling that was met breaks it.

    Parameters
    ----------
    data : examples
    weights : (R,) for each fold, learnt without it
    folds : places of the examples of each
    final : (R,) weights; items without one are not looked at
    """
    concerned = [[set(data.concerned(place)) for place in fold] for fold in folds]
    best = [data.decode(w, fold) for w, fold in zip(weights, folds, strict=True)]
    result = {}
    for j in np.flatnonzero(np.abs(final) >= SMALLEST).tolist():
        pairs, applies = [], 0
        for w, fold, touched, labellings in zip(weights, folds, concerned, best, strict=True):
            at = [n for n, items in enumerate(touched) if j in items]
            applies += len(at)
            if not at or abs(w[j]) < SMALLEST:
                continue
            without = w.copy()
            without[j] = 0.0
            others = data.decode(without, [fold[n] for n in at])
            for n, other in zip(at, others, strict=True):
                if not _same(labellings[n], other):
                    pairs.append((data.counts(fold[n], labellings[n]), data.counts(fold[n], other)))
        both = np.array(pairs, np.int64).reshape(len(pairs), 2, 6)
        result[j] = Ablation(applies, len(pairs), both[:, 0], both[:, 1], len(data))
    return result


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b or (a is not None and b is not None and bool((a == b).all()))
