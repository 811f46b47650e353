"""Differences between candidates and effects of single rules on held-out sequences; and the rules to keep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formulations import Feature, Rule
from formulations.dtypes import Floats
from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.measures import Measures, losses
from ilpinfer.learning.selection import MARGIN, Folds
from ilpinfer.learning.training_set import SMALLEST, TrainingSet
from ilpinfer.learning.ways import NONE


def worse(counts: Totals, other: Totals, margin: float = MARGIN) -> str:
    """Names the measure in which counts (N, 6) are worse than others by more than `margin` standard errors; empty if none is."""
    for measure in ("tokens", "spans", "sequences"):
        loss, error = difference(counts, other, measure)
        if loss > margin * error:
            return f"{measure} worse than without rules by {100 * loss:.2f} ± {100 * error:.2f}, mean over sequences"
    return ""


def difference(counts: Totals, other: Totals, measure: str) -> tuple[float, float]:
    """The mean difference of the losses from two sets of counts (N, 6), and its standard error."""
    each = losses(counts, measure) - losses(other, measure)
    return float(each.mean()), float(each.std() / np.sqrt(len(each)))


@dataclass(frozen=True, eq=False)
class Ablation:
    """The effect of one rule on held-out sequences decoded with and without it; counts (n, 6) are of changed sequences."""

    applies: int
    changed: int
    with_rule: Totals
    without_rule: Totals
    sequences: int

    def gain(self, measure: str) -> tuple[float, float]:
        """Reduction of the loss by the rule, summed over sequences, and its standard error."""
        difference = losses(self.without_rule, measure) - losses(self.with_rule, measure)
        every = np.append(difference, np.zeros(self.sequences - len(difference)))
        return float(every.sum()), float(every.std() * np.sqrt(self.sequences))

    def harms(self, measure: str) -> bool:
        """Whether labellings are better without the rule by more than two standard errors."""
        gain, error = self.gain(measure)
        return gain < -2 * error

    def describe(self) -> str:
        before, after = self.without_rule.sum(axis=0), self.with_rule.sum(axis=0)
        tokens, whole = after[1] - before[1], after[5] - before[5]
        spans = 100 * (Measures.of_counts(self.with_rule).f1 - Measures.of_counts(self.without_rule).f1)
        return (
            f"changes {self.changed} of {self.sequences} held-out labellings: right tokens {tokens:+d}, right "
            f"sequences {whole:+d}, span F1 {spans:+.1f} on these"
        )


def ablate(
    data: TrainingSet, weights: Sequence[Floats], folds: Folds, items: Iterable[int]
) -> dict[int, Ablation]:
    """The effect of leaving out each item, on the sequences in whose pool a labelling activates it."""
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
    folds: Folds,
    ablations: Mapping[int, Ablation],
    useless: Callable[[Ablation], bool],
) -> dict[int, Ablation]:
    """Items that seem useless one by one, but are needed once similar items are left out."""
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
    result = weights.copy()
    result[list(items)] = 0.0
    return result


def _alike(data: TrainingSet, weights: Sequence[Floats], others: Sequence[Floats], folds: Folds) -> bool:
    """Whether both sets of weights give the same labellings in all folds."""
    return all(
        _same(a, b)
        for w, v, fold in zip(weights, others, folds, strict=True)
        for a, b in zip(data.decode(w, fold), data.decode(v, fold), strict=True)
    )


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is b or (a is not None and b is not None and bool((a == b).all()))


ENOUGH_SEQUENCES = 20
"""Least number of sequences to which a rule applies for the verdict that it changes nothing."""


@dataclass(frozen=True)
class RuleVerdict:
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
    >>> RuleVerdict("one title", given=1.0, learnt=0.7, ablation=None, reason="kept").learnt
    0.7
    """

    name: str
    given: float
    learnt: float
    ablation: Ablation | None
    reason: str


def verdicts(
    data: TrainingSet,
    of_folds: Sequence[Floats] | None,
    folds: Folds,
    weights: Floats,
    chosen: str,
    measure: str,
    prune: bool,
    untried: str = "not tried",
) -> tuple[RuleVerdict, ...]:
    """The effect of each item on held-out sequences under weights learnt without them, and whether it is kept."""
    ablations: dict[int, Ablation] = {}
    if of_folds is not None and prune:
        items = np.flatnonzero(np.abs(weights) >= SMALLEST).tolist()
        ablations = ablate(data, of_folds, folds, items)
        ablations |= indispensable(data, of_folds, folds, ablations, lambda each: _reason(each, measure)[1])
    result = []
    for j, (item, name) in enumerate(zip(data.items, data.names, strict=True)):
        weight = float(weights[j])
        if abs(weight) < SMALLEST:
            reason, leaves = _without_weight(item, chosen), True
        elif j in ablations:
            reason, leaves = _reason(ablations[j], measure)
        else:
            reason, leaves = untried if of_folds is None else "kept as it is", False
        learnt = 0.0 if leaves else weight
        result.append(RuleVerdict(name, float(data.given[j]), learnt, ablations.get(j), reason))
    return tuple(result)


def _without_weight(item: Rule | Feature, chosen: str) -> str:
    """Why an item has no weight."""
    if chosen == NONE:
        return "no penalties were clearly better than no rules on held-out sequences"
    if chosen.endswith("counts"):
        return "penalty 0: gold breaks it wherever it applies"
    if isinstance(item, Feature):
        return "weight 0: predictions have it no more and no less often than gold"
    return "penalty 0: predictions break it no more often than gold does"


def _reason(ablation: Ablation, measure: str) -> tuple[str, bool]:
    """Why an item stays or leaves, and whether it leaves."""
    if not ablation.changed:
        if ablation.applies >= ENOUGH_SEQUENCES:
            return f"changes none of {ablation.applies} sequences in which it could be broken", True
        return "too few sequences to try it on", False
    gain = ablation.describe()
    if ablation.harms(measure):
        return f"left out: {gain}", True
    return gain, False
