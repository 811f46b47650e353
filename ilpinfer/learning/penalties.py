"""Penalties and feature weights learnt from labelled sequences, and the use of each rule on held-out ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formulations import RuleSet
from formulations.arguments import positive, whole
from formulations.dtypes import Floats
from formulations.messages import suggestion
from formulations.plain_values import PlainValues
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.learning.measures import check_measure, value
from ilpinfer.learning.minimum_risk import MinimumRisk
from ilpinfer.learning.perceptron import LARGEST, FittedWeights, Perceptron, log_odds
from ilpinfer.learning.training_set import ScoredExample, TrainingSet, is_learnt
from ilpinfer.learning.verdicts import (
    MARGIN,
    NONE,
    Candidate,
    Fit,
    Trial,
    Verdict,
    difference,
    verdicts,
    worse,
)
from ilpinfer.pipelines.cross_validation import make_folds

ALGORITHMS: Mapping[str, str] = {
    "cross-validated": "the best of the others and of no rules on held-out folds",
    "given": "the penalties as they are",
    "log-odds": "smoothed frequency with which gold labels break each rule, with the given penalty as prior (Learning plus Inference)",
    "perceptron": "averaged perceptron from penalties of 0 (Inference-Based Training)",
    "perceptron-given": "averaged perceptron from twice the given penalties, for few labels",
    "risk": "least expected number of errors among the best labellings, from penalties of 0, for many rules; not among the cross-validated ones",
    "conservative": "perceptron from penalties of 0 whose target is the best labelling that rules can reach, by the chosen measure",
    "conservative-given": "the same from twice the given penalties",
}
PREFERENCE = ("perceptron-given", "log-odds", "given", "perceptron", NONE)
"""Default algorithms for few labels, unless another one is clearly better: given penalties hold knowledge that few labels lack."""
FEW_SEQUENCES = 50
"""Sequences from which on an algorithm must beat no rules by two standard errors, and be no worse by any measure."""


@dataclass(frozen=True)
class LearntPenalties(PlainValues):
    """The result of `PenaltyLearner.fit`.

    Parameters
    ----------
    rules : Rules
        Rule set with learnt penalties and weights. Useless rules are removed, hard ones stay.
    algorithm : str
        Algorithm that was chosen.
    candidates : tuple of Candidate
        Algorithms that were tried on held-out folds.
    verdicts : tuple of Verdict
        Result for each soft rule and feature.
    capped : tuple of str
        Names of items whose weight reached the cap, such as rules that every labelling breaks and gold keeps.
    sequences : int
        Number of examples.
    unlabelled : int, default 0
        Number of examples for which no labelling keeps the hard rules.

    Examples
    --------
    >>> from formulations import RuleSet, Trellis, constraints as C
    >>> from ilpinfer.learning import PenaltyLearner, ScoredExample
    >>> trellis = Trellis([0.0, 0.5], [], labels=["a", "b"])
    >>> examples = [ScoredExample(trellis, ("a",))] * 4
    >>> PenaltyLearner().fit(examples, RuleSet((C.starts_with("a", penalty=0.1),))).sequences
    4
    """

    rules: RuleSet
    algorithm: str
    candidates: tuple[Candidate, ...]
    verdicts: tuple[Verdict, ...]
    capped: tuple[str, ...]
    sequences: int
    unlabelled: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "algorithm": self.algorithm,
            "sequences": self.sequences,
            "unlabelled": self.unlabelled,
            "candidates": [
                {"algorithm": c.algorithm, **c.measures._asdict(), "refused": c.refused}
                for c in self.candidates
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
    """Learn penalties of soft rules and weights of features on scored sequences (Stokman 2011, section 7.1).

    Parameters
    ----------
    algorithm : str, default "cross-validated"
        A name from `ALGORITHMS`.
    measure : str, default "all"
        Measure that is maximised: "tokens", "spans", "sequences", "all", or an F measure of spans such as "f0.5", which
        weighs precision above recall (Trompper 2016).
    folds : int, default 5
        Number of folds on which algorithms and rules are tried.
    rate, epochs : float or int, optional
        Learning rate and number of epochs of the perceptron.
    scale : float, default 2.0
        Factor of the given penalties from which the perceptron of few labels starts.
    prune : bool, default True
        Whether useless rules are removed.
    seed : int, default 0
        Seed of folds and of the order of sequences.

    Raises
    ------
    ValueError
        For unknown names, and numbers out of range.

    Examples
    --------
    A model prefers a second title, and gold never has one:

    >>> from formulations import RuleSet, Trellis, constraints as C
    >>> scores = [[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]]
    >>> trellis = Trellis.from_emissions(scores, [[0.0, 0.0], [0.0, 0.0]], labels=["title", "author"])
    >>> examples = [ScoredExample(trellis, ("title", "author", "author"))] * 4
    >>> rules = RuleSet((C.at_most_runs("title", 1, penalty=0.2, name="one title"),))
    >>> learnt = PenaltyLearner().fit(examples, rules)
    >>> learnt
    LearntPenalties(perceptron-given, 1 of 1 rules kept)
    >>> learnt.rules.rules
    [Rule('one title', penalty=0.7)]
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
            whole(getattr(self, name), name, least)
        for name in ("rate", "scale"):
            positive(getattr(self, name), name)

    def fit(
        self,
        examples: Sequence[ScoredExample],
        rules: Rules,
        *,
        advance: Callable[[], None] = lambda: None,
        fitted: Callable[[], None] = lambda: None,
    ) -> LearntPenalties:
        """Learn the weights of a rule set.

        Parameters
        ----------
        examples : sequence of ScoredExample
            Sequences scored by models that were not trained on them.
        rules : Rules
            Rules with penalties, which are prior knowledge.
        advance : callable, optional
            Function that is called after each decoded sequence.
        fitted : callable, optional
            Function that is called after each of the `fits`.

        Returns
        -------
        LearntPenalties
            The rules with learnt penalties.

        Raises
        ------
        ValueError
            For no examples, labels or rules that do not fit, no soft rule or feature, and hard rules that nothing keeps.
        """
        data = TrainingSet(examples, learnable(rules), advance)
        data.decode(np.zeros_like(data.given))
        if data.unlabelled == len(data):
            raise ValueError(
                "the hard rules leave no labelling of any sequence: leave some out, or give them penalties"
            )
        fits = {name: _counted(fit, fitted) for name, fit in self._fits().items()}
        places = list(range(len(data)))
        folds = make_folds(places, min(self.folds, len(data)), self.seed) if len(data) > 1 else []
        trials = {name: Trial.of(data, fit, folds) for name, fit in fits.items()} if folds else {}
        candidates, chosen = self._choose(trials)
        weights, at_cap = fits[chosen](data, data.given, places)
        result = verdicts(data, trials.get(chosen), weights, chosen, self.measure, self.prune)
        capped = [each.name for each, yes in zip(result, at_cap, strict=True) if yes and each.learnt]
        return LearntPenalties(
            data.with_weights(np.array([each.learnt for each in result]), _reasons(data, result)),
            chosen,
            candidates,
            result,
            tuple(capped),
            len(data),
            data.unlabelled,
        )

    def fits(self, sequences: int) -> int:
        """How often penalties are fitted to a number of sequences: by each algorithm without each fold, and once by the chosen one.

        Parameters
        ----------
        sequences : int
            Number of examples.

        Returns
        -------
        int
            Number of calls of `fitted` in `fit`.
        """
        folds = min(self.folds, sequences) if sequences > 1 else 0
        return len(self._fits()) * folds + 1

    def _fits(self) -> dict[str, Fit]:
        """The algorithms to try, by name, always including no rules."""

        def from_zero(one: Perceptron | MinimumRisk) -> Fit:
            return lambda data, given, places: one.fit(data, np.zeros_like(given), places)

        def from_given(one: Perceptron) -> Fit:
            return lambda data, given, places: one.fit(data, self._scaled(data, given), places)

        gold = Perceptron(self.rate, self.epochs, seed=self.seed)
        reachable = replace(gold, towards=self.measure)
        known: dict[str, Fit] = {
            NONE: lambda data, given, places: FittedWeights.plain(np.zeros_like(given)),
            "given": lambda data, given, places: FittedWeights.plain(given),
            "log-odds": lambda data, given, places: FittedWeights.plain(log_odds(data, given, places)),
            "perceptron": from_zero(gold),
            "perceptron-given": from_given(gold),
            "risk": from_zero(MinimumRisk(self.measure)),
            "conservative": from_zero(reachable),
            "conservative-given": from_given(reachable),
        }
        if self.algorithm == "cross-validated":
            return {name: fit for name, fit in known.items() if name != "risk"}
        return {name: known[name] for name in (NONE, self.algorithm)}

    def _scaled(self, data: TrainingSet, given: Floats) -> Floats:
        """(R,) penalties times the scale, within the cap; features keep their weights."""
        return np.where(data.signed == 0, np.minimum(self.scale * given, LARGEST), given)

    def _choose(self, trials: Mapping[str, "Trial"]) -> tuple[tuple[Candidate, ...], str]:
        """Every algorithm on held-out folds, and the one to take."""
        if not trials:
            return (), PREFERENCE[0] if self.algorithm == "cross-validated" else self.algorithm
        none = trials[NONE]
        few = len(none.counts) < FEW_SEQUENCES
        margin = MARGIN if few else 0.0
        candidates = [
            Candidate(name, trial.measures, "" if name == NONE else worse(trial.counts, none.counts, margin))
            for name, trial in trials.items()
        ]
        if self.algorithm != "cross-validated":
            return tuple(candidates), self.algorithm
        allowed = [candidate for candidate in candidates if not candidate.refused]
        best = max((c.algorithm for c in allowed), key=lambda name: value(trials[name].counts, self.measure))
        usual = next(name for name in PREFERENCE if name in {c.algorithm for c in allowed}) if few else NONE
        gain, error = difference(trials[usual].counts, trials[best].counts, self.measure)
        return tuple(candidates), best if gain > MARGIN * error else usual


def learnable(rules: Rules) -> RuleSet:
    """The rule set of rules; ValueError where nothing in it has a weight to learn, or a rule is a Python function."""
    result = stated(rules, "learning of penalties").rules
    if not any(map(is_learnt, result)):
        raise ValueError("no soft rule and no feature: hard rules have no penalty to learn")
    return result


def _counted(fit: Fit, fitted: Callable[[], None]) -> Fit:
    def counting(data: TrainingSet, given: Floats, places: Sequence[int]) -> FittedWeights:
        result = fit(data, given, places)
        fitted()
        return result

    return counting


def _reasons(data: TrainingSet, result: Sequence[Verdict]) -> list[str]:
    said = []
    for item, verdict in zip(data.items, result, strict=True):
        own = f"learnt, {verdict.given:.3g} nats before: {verdict.reason}"
        said.append(f"{item.reason}; {own}" if item.reason else own)
    return said
