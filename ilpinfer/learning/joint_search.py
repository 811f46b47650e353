"""Weights learnt together, on scores of models that have not seen a sequence, or apart: the better on held-out folds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from formulations import LabelSet, RuleSet
from formulations.arguments import whole
from formulations.messages import counted
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.evaluation.counts import LabelCounter
from ilpinfer.learning.held_out import held_out_models
from ilpinfer.learning.joint import UPDATES, JointLearner
from ilpinfer.learning.measures import MEASURES, Measures, beta_of, check_measure
from ilpinfer.learning.verdicts import Candidate
from ilpinfer.models.corrected import Base, Corrected
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds, predict, without

APART = "apart"
"""The model as it was trained, and the rules as they are given."""


@dataclass(frozen=True)
class JointChoice:
    """The result of `JointSearch.fit`.

    Parameters
    ----------
    model : HMM, CRF or Corrected
        Model that was chosen.
    rules : RuleSet
        Its rules.
    chosen : str
        "apart", or a name from `UPDATES`.
    candidates : tuple of Candidate
        Measures of each on the folds.
    unproved : int
        Number of sequences without a proved optimum in the last fit, over all epochs.
    unscored : int
        Number of sequences that the last fit left out, because the models of the other folds lack some of their labels.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> pairs = [(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])]
    >>> JointSearch().fit(pairs, HMM.train).chosen
    'apart'
    """

    model: Base | Corrected
    rules: RuleSet
    chosen: str
    candidates: tuple[Candidate, ...]
    unproved: int = 0
    unscored: int = 0


@dataclass(frozen=True)
class JointSearch:
    """Train a model, and correct it together with the penalties of rules where that is better on held-out folds.

    Corrections are learnt on scores of models that were trained without the sequence, one for each fold. On a fold, they are
    applied to the model that was trained without it; in the end, to the model of all sequences.

    Parameters
    ----------
    measure : str, default "all"
        Measure that is maximised: "tokens", "spans", "sequences" or "all".
    folds : int, default 5
        Number of folds.
    rate, epochs : float or int, optional
        As for `JointLearner`.
    seed : int, default 0
        Seed of folds and of the order of sequences.

    Raises
    ------
    ValueError
        For unknown names, and numbers out of range.

    Examples
    --------
    >>> JointSearch("tokens").folds
    5
    """

    measure: str = "all"
    folds: int = 5
    rate: float = JointLearner.rate
    epochs: int = JointLearner.epochs
    seed: int = 0

    def __post_init__(self) -> None:
        if beta_of(check_measure(self.measure)) not in (0, 1):
            raise ValueError(
                f"measure is {self.measure!r}; all weights are chosen by one of {', '.join(MEASURES)}"
            )
        whole(self.folds, "folds", 2)
        self._learner(APART)

    def _learner(self, name: str) -> JointLearner:
        update = name if name != APART else JointLearner.update
        return JointLearner(update, self.rate, self.epochs, seed=self.seed)

    def fit(
        self,
        pairs: Sequence[Labelled],
        train: Callable[[Sequence[Labelled]], Base],
        rules: Rules = (),
        *,
        advance: Callable[[], None] = lambda: None,
    ) -> JointChoice:
        """Learn a model and rules from labelled sequences.

        Parameters
        ----------
        pairs : sequence of Labelled
            Tokens and labels of at least two sequences.
        train : callable
            Function that makes a model from labelled sequences, in the scheme of these labels.
        rules : Rules, optional
            Rules with their penalties; hard ones are kept.
        advance : callable, optional
            Function that is called after the training of each model, and after each fold.

        Returns
        -------
        JointChoice
            The better of what was tried; what is learnt apart where figures are equal.

        Raises
        ------
        ValueError
            For fewer than two sequences, and for anything that `train` or the rules refuse.
        """
        number = min(self.folds, len(pairs))
        if number < 2:
            raise ValueError(
                f"{counted(len(pairs), 'labelled sequence')}; all weights are learnt on folds of at least 2: add sequences"
            )
        given = rule_set(rules)
        scorers = held_out_models(pairs, train, folds=number, seed=self.seed, advance=advance)
        parts = []
        for fold in make_folds(range(len(pairs)), number, self.seed):
            parts.append(self._counts(pairs, scorers, fold, given))
            advance()
        candidates = [
            Candidate(name, Measures.of_sums(np.sum([counts[name] for counts in parts], axis=0), len(pairs)))
            for name in (APART, *UPDATES)
        ]
        best = max(candidates, key=lambda each: each.measures.value(self.measure)).algorithm
        model = train(pairs)
        if best == APART:
            return JointChoice(model, given, best, tuple(candidates))
        learnt = self._learner(best).fit(pairs, model, given, scorers=scorers)
        return JointChoice(
            learnt.model, learnt.rules, best, tuple(candidates), learnt.unproved, learnt.unscored
        )

    def _counts(
        self, pairs: Sequence[Labelled], scorers: Sequence[Base], fold: Sequence[int], rules: RuleSet
    ) -> dict[str, list[int]]:
        """Counts of each candidate on a fold, learnt on the others and applied to the model that was trained on them."""
        base = scorers[fold[0]]
        names = dict.fromkeys(chain.from_iterable(labels for _, labels in pairs))
        counter = LabelCounter(LabelSet(tuple(names), base.labels.notation))
        seen = without(fold, len(pairs))
        some, others = [pairs[place] for place in seen], [scorers[place] for place in seen]
        result: dict[str, list[int]] = {}
        for name in (APART, *UPDATES):
            parts: tuple[Base | Corrected, RuleSet] = (base, rules)
            if name != APART:
                parts = self._learner(name).fit(some, base, rules, scorers=others)[:2]
            found = predict(parts[0], [pairs[place] for place in fold], parts[1])
            counts = [counter.count_names(pair.predicted, pair.gold).totals() for pair in found]
            result[name] = np.sum(counts, axis=0).tolist()
        return result
