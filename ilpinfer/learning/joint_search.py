"""Weights learnt together or apart: the better on held-out folds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from formulations import LabelSet, RuleSet
from formulations.arguments import whole
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.evaluation.counts import LabelCounter
from ilpinfer.learning.joint import UPDATES, JointLearner
from ilpinfer.learning.measures import MEASURES, Measures, beta_of, check_measure
from ilpinfer.learning.verdicts import Candidate
from ilpinfer.models.corrected import Base, Corrected
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds, predict

APART = "apart"
"""The model as it was trained, and the rules as they are given."""
Row = dict[str, Any]
"""Counts of a fold by candidate, as plain values."""


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


@dataclass(frozen=True)
class JointSearch:
    """Train a model, and correct it together with the penalties of rules where that is better on held-out folds.

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
        checkpoint: Callable[[Row], None] | None = None,
        resume: Sequence[Row] = (),
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
        checkpoint : callable, optional
            Function that is called with plain values after each fold.
        resume : sequence of Row, optional
            These values of an interrupted run with the same arguments.
        advance : callable, optional
            Function that is called after each fold.

        Returns
        -------
        JointChoice
            The better of what was tried; what is learnt apart where figures are equal.

        Raises
        ------
        ValueError
            For fewer than two sequences, and for anything that `train` or the rules refuse.
        """
        given = rule_set(rules)
        folds = make_folds(range(len(pairs)), min(self.folds, len(pairs)), self.seed)
        names = dict.fromkeys(chain.from_iterable(labels for _, labels in pairs))
        rows = list(resume)
        for part, fold in enumerate(folds):
            if part >= len(rows):
                left_out = set(fold)
                seen = [pair for place, pair in enumerate(pairs) if place not in left_out]
                base = train(seen)
                counter = LabelCounter(LabelSet(tuple(names), base.labels.scheme))
                held_out = [pairs[place] for place in fold]
                row: Row = {"part": part}
                for name in (APART, *UPDATES):
                    model, own, _ = self._candidate(name, seen, base, given)
                    counts = [
                        counter.count_names(pair.predicted, pair.gold).totals()
                        for pair in predict(model, held_out, own)
                    ]
                    row[name] = np.sum(counts, axis=0).tolist()
                rows.append(row)
                if checkpoint is not None:
                    checkpoint(row)
            advance()
        candidates = [
            Candidate(name, Measures.of_sums(np.sum([row[name] for row in rows], axis=0), len(pairs)))
            for name in (APART, *UPDATES)
        ]
        best = max(candidates, key=lambda each: each.measures.value(self.measure)).algorithm
        model, own, unproved = self._candidate(best, pairs, train(pairs), given)
        return JointChoice(model, own, best, tuple(candidates), unproved)

    def _candidate(
        self, name: str, pairs: Sequence[Labelled], base: Base, rules: RuleSet
    ) -> tuple[Base | Corrected, RuleSet, int]:
        if name == APART:
            return base, rules, 0
        learnt = self._learner(name).fit(pairs, base, rules)
        return learnt.model, learnt.rules, learnt.unproved
