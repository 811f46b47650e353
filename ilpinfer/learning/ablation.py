"""The effect of one rule on the labellings of held-out sequences: decoding with and without the rule, all else equal."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.measures import Measures, losses
from ilpinfer.learning.training_set import SMALLEST, TrainingSet


@dataclass(frozen=True, eq=False)
class Ablation:
    """One rule, left out."""

    applies: int
    changed: int
    with_rule: Totals
    without_rule: Totals
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
        """The changes as text."""
        before, after = self.without_rule.sum(axis=0), self.with_rule.sum(axis=0)
        tokens, whole = after[1] - before[1], after[5] - before[5]
        spans = 100 * (Measures.of_counts(self.with_rule).f1 - Measures.of_counts(self.without_rule).f1)
        return (
            f"changes {self.changed} of {self.sequences} held-out labellings: {tokens:+d} tokens, {whole:+d} whole "
            f"sequences, span F1 {spans:+.1f} on these"
        )


def ablate(
    data: TrainingSet, weights: Sequence[Floats], folds: Sequence[Sequence[int]], items: Iterable[int]
) -> dict[int, Ablation]:
    """The effect of leaving out each of some items, on sequences where a known labelling breaks it."""
    concerned = [[set(data.concerned(place)) for place in fold] for fold in folds]
    best = [data.decode(w, fold) for w, fold in zip(weights, folds, strict=True)]
    result = {}
    for j in items:
        pairs, applies = [], 0
        for w, fold, touched, labellings in zip(weights, folds, concerned, best, strict=True):
            at = [n for n, items in enumerate(touched) if j in items]
            applies += len(at)
            if not at or abs(w[j]) < SMALLEST:
                continue
            others = data.decode(_without(w, [j]), [fold[n] for n in at])
            for n, other in zip(at, others, strict=True):
                if not _same(labellings[n], other):
                    pairs.append((data.counts(fold[n], labellings[n]), data.counts(fold[n], other)))
        both = np.array(pairs, np.int64).reshape(len(pairs), 2, 6)
        result[j] = Ablation(applies, len(pairs), both[:, 0], both[:, 1], len(data))
    return result


def indispensable(
    data: TrainingSet,
    weights: Sequence[Floats],
    folds: Sequence[Sequence[int]],
    ablations: Mapping[int, Ablation],
    useless: Callable[[Ablation], bool],
) -> dict[int, Ablation]:
    """Items that seem useless one by one, but of which some are needed once similar ones are left out."""
    leaving = sorted(
        (j for j, each in ablations.items() if useless(each)), key=lambda j: -ablations[j].changed
    )
    staying, joint = {}, False
    for n, j in enumerate(leaving):
        if not ablations[j].changed and not joint:
            joint = True
            if _alike(data, weights, [_without(w, leaving[n:]) for w in weights], folds):
                break
        ablation = ablate(data, weights, folds, [j])[j] if n else ablations[j]
        if useless(ablation):
            weights = [_without(w, [j]) for w in weights]
        else:
            staying[j] = ablation
    return staying


def _without(weights: Floats, items: Sequence[int]) -> Floats:
    """Weights (R,), 0 for some items."""
    result = weights.copy()
    result[list(items)] = 0.0
    return result


def _alike(
    data: TrainingSet, weights: Sequence[Floats], others: Sequence[Floats], folds: Sequence[Sequence[int]]
) -> bool:
    """Whether the labellings of all folds are the same under other weights."""
    return all(
        _same(a, b)
        for w, v, fold in zip(weights, others, folds, strict=True)
        for a, b in zip(data.decode(w, fold), data.decode(v, fold), strict=True)
    )


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b or (a is not None and b is not None and bool((a == b).all()))
