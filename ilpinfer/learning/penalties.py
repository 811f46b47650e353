"""Penalties and feature weights learnt from labelled sequences, and the use of each rule on held-out ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from formulations import Feature, Rule, RuleSet
from formulations.dtypes import Floats
from formulations.messages import suggestion
from ilpinfer.learning.ablation import Ablation, ablate
from ilpinfer.learning.log_odds import log_odds
from ilpinfer.learning.measures import Counts, Scale, check_measure, losses
from ilpinfer.learning.perceptron import LARGEST, Perceptron
from ilpinfer.learning.training_set import SMALLEST, ScoredExample, TrainingSet
from ilpinfer.pipelines.cross_validation import make_folds

Fit = Callable[[TrainingSet, Floats, Sequence[int]], Floats]
"""Weights (R,) from a training set, weights to start with, and the places of the examples to learn from."""

ALGORITHMS: Mapping[str, str] = {
    "cross-validated": "the best of the others and of no rules on held-out folds",
    "given": "the penalties as they are",
    "log-odds": "how seldom gold breaks each rule, drawn towards the given penalty (Learning plus Inference)",
    "perceptron": "averaged perceptron from penalties of 0 (Inference-Based Training)",
    "perceptron-given": "averaged perceptron from twice the given penalties, for few labels",
    "conservative": "the perceptron towards the best labelling that rules can reach, by the measure aimed at, from 0",
    "conservative-given": "the same from twice the given penalties",
}
"""The algorithms, and what each does."""
NONE = "no rules"
PREFERENCE = ("perceptron-given", "log-odds", "given", "perceptron", NONE)
"""What is taken first with few labels where no other algorithm is clearly better: given penalties are knowledge that they lack."""
FEW = 50
"""Sequences below which held-out folds say too little to choose by them alone."""
MARGIN = 2.0
"""Standard errors by which an algorithm has to differ."""
ENOUGH = 20
"""Sequences to which a rule applies before it is said to change nothing."""


@dataclass(frozen=True)
class Verdict:
    """What became of one rule or feature.

    Parameters
    ----------
    name : of the rule
    given, learnt : nats; 0 where it is left out
    ablation : what it changes on held-out sequences; None where that was not tried
    reason : why it stays or leaves
    """

    name: str
    given: float
    learnt: float
    ablation: Ablation | None
    reason: str


@dataclass(frozen=True)
class Candidate:
    """An algorithm on held-out folds.

    Parameters
    ----------
    algorithm : its name, or "no rules"
    scale : token accuracy, span F1 and whole sequences in percent
    refused : why it was not taken; empty where it could have been
    """

    algorithm: str
    scale: Scale
    refused: str = ""


@dataclass(frozen=True)
class LearntPenalties:
    """The result of `PenaltyLearner.fit`.

    Parameters
    ----------
    rules : the rule set with learnt penalties and weights; rules without use are left out, hard ones stay
    algorithm : that was taken
    candidates : all that were tried on held-out folds
    verdicts : one for each soft rule and feature
    capped : names of those whose weight ran to the cap, as where data are separable
    sequences : examples
    """

    rules: RuleSet
    algorithm: str
    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    capped: tuple[str, ...]
    sequences: int

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rules, as plain values."""
        return {
            "algorithm": self.algorithm,
            "sequences": self.sequences,
            "candidates": [
                {"algorithm": c.algorithm, **vars(c.scale), "refused": c.refused} for c in self.candidates
            ],
            "rules": [
                {
                    "name": v.name,
                    "given": v.given,
                    "learnt": v.learnt,
                    "changed": None if v.ablation is None else v.ablation.changed,
                    "reason": v.reason,
                }
                for v in self.verdicts
            ],
            "capped": list(self.capped),
        }

    def __repr__(self) -> str:
        kept = sum(verdict.learnt != 0 for verdict in self.verdicts)
        return f"LearntPenalties({self.algorithm}, {kept} of {len(self.verdicts)} rules kept)"


@dataclass(frozen=True)
class PenaltyLearner:
    """Learns penalties of soft rules and weights of features on scored sequences (Stokman 2011, section 7.1).

    Parameters
    ----------
    algorithm : a name from `ALGORITHMS`
    measure : "tokens", "spans", "sequences" or "all", what is aimed at
    folds : in which algorithms and rules are tried
    rate, epochs : of the perceptron
    scale : factor of the given penalties from which the perceptron of few labels starts
    prune : whether rules without use leave
    seed : of folds and orders

    Raises
    ------
    ValueError
        for unknown names, and numbers that make no sense.

    Examples
    --------
    >>> from formulations import RuleSet, Trellis, constraints as C
    >>> trellis = Trellis([0.0, 1.0], [[[0.0, 0.1], [0.0, 0.0]]], labels=["a", "b"])
    >>> example = ScoredExample(trellis, ("a", "a"))
    >>> PenaltyLearner("perceptron").fit([example] * 4, RuleSet((C.at_most_runs("b", 0 + 1, penalty=1.0),))).algorithm
    'perceptron'
    """

    algorithm: str = "cross-validated"
    measure: str = "all"
    folds: int = 5
    rate: float = 0.3
    epochs: int = 20
    scale: float = 2.0
    prune: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"no algorithm {self.algorithm!r}{suggestion(self.algorithm, ALGORITHMS)}")
        check_measure(self.measure)
        for name, least in (("folds", 2), ("epochs", 1), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} is {value!r}; expected a whole number from {least}")
        for name in ("rate", "scale"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0 < value < float("inf")):
                raise ValueError(f"{name} is {value!r}; expected a number above 0")

    def fit(
        self,
        examples: Sequence[ScoredExample],
        rules: RuleSet,
        *,
        advance: Callable[[], None] = lambda: None,
    ) -> LearntPenalties:
        """Learn the weights of a rule set.

        Parameters
        ----------
        examples : sequences scored by models that were not trained on them
        rules : with penalties that count as prior knowledge
        advance : called after each decoded sequence

        Raises
        ------
        ValueError
            for no examples, no soft rule or feature, and rules that do not fit the labels.
        """
        data = TrainingSet(examples, rules, advance)
        if not data.items:
            raise ValueError("no soft rule and no feature: hard rules have no penalty to learn")
        fits = self._fits(data)
        places = list(range(len(data)))
        folds = make_folds(places, min(self.folds, len(data)), self.seed) if len(data) > 1 else []
        trials = {name: Trial.of(data, fit, folds) for name, fit in fits.items()} if folds else {}
        candidates, chosen = self._choose(trials)
        weights = fits[chosen](data, data.given, places)
        verdicts, weights = self._judge(data, trials.get(chosen), weights)
        capped = [n for n, w in zip(data.names, weights, strict=True) if abs(w) >= LARGEST]
        result = self._with_reasons(data.with_weights(weights), verdicts)
        return LearntPenalties(result, chosen, candidates, verdicts, tuple(capped), len(data))

    def _fits(self, data: TrainingSet) -> dict[str, Fit]:
        """What is tried, by name; always with no rules."""

        def from_zero(one: Perceptron, data: TrainingSet, given: Floats, places: Sequence[int]) -> Floats:
            return one.fit(data, np.zeros_like(given), places)

        def from_given(one: Perceptron, data: TrainingSet, given: Floats, places: Sequence[int]) -> Floats:
            start = np.minimum(self.scale * given, np.where(data.signed == 0, LARGEST, given))
            return one.fit(data, start, places)

        gold = Perceptron(self.rate, self.epochs, seed=self.seed)
        reachable = replace(gold, towards=self.measure)
        known: dict[str, Fit] = {
            NONE: lambda data, given, places: np.zeros_like(given),
            "given": lambda data, given, places: given,
            "log-odds": log_odds,
            "perceptron": partial(from_zero, gold),
            "perceptron-given": partial(from_given, gold),
            "conservative": partial(from_zero, reachable),
            "conservative-given": partial(from_given, reachable),
        }
        if self.algorithm == "cross-validated":
            return known
        return {name: known[name] for name in (NONE, self.algorithm)}

    def _choose(self, trials: Mapping[str, "Trial"]) -> tuple[tuple[Candidate, ...], str]:
        """Every algorithm on held-out folds, and the one to take."""
        if not trials:
            return (), PREFERENCE[0] if self.algorithm == "cross-validated" else self.algorithm
        none = trials[NONE]
        candidates = [
            Candidate(name, trial.scale, "" if name == NONE else worse(trial.counts, none.counts))
            for name, trial in trials.items()
        ]
        if self.algorithm != "cross-validated":
            return tuple(candidates), self.algorithm
        allowed = [candidate for candidate in candidates if not candidate.refused]
        best = max(allowed, key=lambda candidate: candidate.scale.value(self.measure)).algorithm
        if len(none.counts) < FEW:
            usual = next(name for name in PREFERENCE if name in {c.algorithm for c in allowed})
            if not self._beats(trials[best].counts, trials[usual].counts):
                best = usual
        return tuple(candidates), best

    def _beats(self, counts: Counts, other: Counts) -> bool:
        """Whether counts (N, 6) are better by the measure, by more than two standard errors."""
        gain, error = difference(other, counts, self.measure)
        return gain > MARGIN * error

    def _judge(
        self, data: TrainingSet, trial: "Trial | None", weights: Floats
    ) -> tuple[tuple[Verdict, ...], Floats]:
        """What each item changes on held-out sequences, and the weights without those that do not help."""
        ablations = ablate(data, trial.weights, trial.folds, weights) if trial and self.prune else {}
        result, kept = [], weights.copy()
        for j, name in enumerate(data.names):
            ablation = ablations.get(j)
            reason, leaves = self._reason(float(weights[j]), ablation, trial is not None)
            if leaves:
                kept[j] = 0.0
            result.append(Verdict(name, float(data.given[j]), float(kept[j]), ablation, reason))
        return tuple(result), kept

    def _reason(self, weight: float, ablation: Ablation | None, tried: bool) -> tuple[str, bool]:
        """Why an item stays or leaves, and whether it leaves."""
        if abs(weight) < SMALLEST:
            return "penalty 0: predictions break it no more often than gold does", True
        if ablation is None:
            return ("not tried" if not tried else "kept as it is"), False
        if not ablation.changed:
            if ablation.applies >= ENOUGH:
                return f"changes none of {ablation.applies} sequences in which it could be broken", True
            return "too few sequences to try it on", False
        gain = ablation.describe()
        if ablation.harms(self.measure):
            return f"left out: {gain}", True
        return gain, False

    @staticmethod
    def _with_reasons(rules: RuleSet, verdicts: Sequence[Verdict]) -> RuleSet:
        """Rules whose reasons say how their penalties came about."""
        reasons = {verdict.name: verdict for verdict in verdicts}
        items: list[Rule | Feature] = []
        for item in rules:
            verdict = reasons.get(item.name or item.title)
            if verdict is not None:
                own = f"learnt, {verdict.given:.3g} nats before: {verdict.reason}"
                item = replace(item, reason=f"{item.reason}; {own}" if item.reason else own)
            items.append(item)
        return replace(rules, items=tuple(items))


@dataclass(frozen=True)
class Trial:
    """One algorithm, fitted without each fold in turn.

    Parameters
    ----------
    folds : places of the examples of each
    weights : learnt without each fold
    counts : (N, 6) of every example, under the weights learnt without its fold
    """

    folds: tuple[tuple[int, ...], ...]
    weights: tuple[Floats, ...]
    counts: Counts

    @classmethod
    def of(cls, data: TrainingSet, fit: Fit, folds: Sequence[Sequence[int]]) -> "Trial":
        """Fit without each fold, and label it."""
        counts = np.zeros((len(data), 6), np.int64)
        weights = []
        for fold in folds:
            left_out = set(fold)
            weights.append(fit(data, data.given, [i for i in range(len(data)) if i not in left_out]))
            counts[list(fold)] = data.measure(weights[-1], fold)
        return cls(tuple(tuple(fold) for fold in folds), tuple(weights), counts)

    @property
    def scale(self) -> Scale:
        return Scale.of(self.counts)


def worse(counts: Counts, other: Counts) -> str:
    """Names the measure in which counts (N, 6) are worse than others by more than two standard errors; empty if none is."""
    for measure in ("tokens", "spans", "sequences"):
        loss, error = difference(counts, other, measure)
        if loss > MARGIN * error:
            return f"{measure} worse than without rules by {100 * loss:.2f} ± {100 * error:.2f}"
    return ""


def difference(counts: Counts, other: Counts, measure: str) -> tuple[float, float]:
    """The mean of what sequences lack in counts (N, 6) beyond what they lack in others, and its standard error."""
    each = losses(counts, measure) - losses(other, measure)
    return float(each.mean()), float(each.std() / np.sqrt(len(each)))
