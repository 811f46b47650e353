"""Weights of rules, or of all features of a model and of rules, learnt from labelled sequences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np

from formulations import LabelSet, RuleSet
from formulations.arguments import whole
from formulations.messages import counted
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.evaluation.counts import LabelCounter, Totals
from ilpinfer.learning.all_features import AllFeatures
from ilpinfer.learning.held_out import held_out_models
from ilpinfer.learning.learnt_weights import LearntWeights
from ilpinfer.learning.measures import check_measure, value
from ilpinfer.learning.selection import MARGIN, Trial, largest, select, tried
from ilpinfer.learning.training_set import TrainingSet, is_learnt
from ilpinfer.learning.updates import FittedWeights, Update
from ilpinfer.learning.verdicts import NONE, Verdict, difference, verdicts, worse
from ilpinfer.models.chain import Base, Chain
from ilpinfer.models.labelled_sequences import tokens_and_labels
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds, predict, without
from ilpinfer.pipelines.trellises import ScoredExample

APART = "apart"
"""The model as it was trained, and the rules as they are given."""
FEW_LABELS = "perceptron, start 2"
PREFERENCE = (FEW_LABELS, "counts", "perceptron", NONE)
"""What few labels get, unless another one is clearly better: given penalties hold knowledge that few labels lack."""
FEW_SEQUENCES = 50
"""Sequences from which on penalties must beat no rules by two standard errors, and be no worse by any measure."""
TOGETHER: Mapping[str, Any] = {"rate": 0.1, "epochs": 10, "start": 1.0, "decay": 0.0}
"""Steps of all features together; those of rules alone are the defaults of `Update`."""


@dataclass(frozen=True)
class WeightLearner:
    """Learn penalties of soft rules and weights of features, alone or with all weights of a model (Stokman 2011, section 7.1).

    Parameters
    ----------
    update : str, optional
        A name from `UPDATES`; if not given, what is best on held-out folds. For rules alone "counts" and "perceptron" are tried,
        this also from twice the given penalties, and no rules; for all features "perceptron", "margin", and what was trained
        apart.
    measure : str, default "all"
        Measure that is maximised: "tokens", "spans", "sequences", "all", or an F measure of spans such as "f0.5", which
        weighs precision above recall (Trompper 2016).
    folds : int, default 5
        Number of folds on which updates and rules are tried.
    rate, epochs : float or int, optional
        Largest step in nats, and number of passes of "perceptron" and "margin": 0.3 and 20 for rules alone, 0.1 and 10 for all
        features.
    start : float, optional
        Factor of the given penalties that these two and "risk" start from: 0 for rules alone, 1 for all features.
    margin : float, default 1.0
        Nats for each wrong token, of "margin".
    prune : bool, default True
        Whether useless rules are removed; for rules alone.
    seed : int, default 0
        Seed of folds and of the order of sequences.

    Raises
    ------
    ValueError
        For unknown names, and numbers out of range.

    Examples
    --------
    A model prefers a second title, and gold never has one:

    >>> from ilpinfer import RuleSet, Trellis, constraints as C
    >>> scores = [[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]]
    >>> trellis = Trellis.from_emissions(scores, [[0.0, 0.0], [0.0, 0.0]], labels=["title", "author"])
    >>> examples = [ScoredExample(trellis, ("title", "author", "author"))] * 4
    >>> rules = RuleSet((C.at_most_runs("title", 1, penalty=0.2, name="one title"),))
    >>> learnt = WeightLearner().fit(examples, rules)
    >>> learnt
    LearntWeights(perceptron, start 2, 1 of 1 rules kept)
    >>> learnt.rules.rules
    [Rule('one title', penalty=0.7)]
    """

    update: str | None = None
    measure: str = "all"
    folds: int = 5
    rate: float | None = None
    epochs: int | None = None
    start: float | None = None
    margin: float = 1.0
    prune: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_measure(self.measure)
        whole(self.folds, "folds", 2)
        self._update(self.update or "counts")

    def _update(self, name: str, usual: Mapping[str, Any] | None = None, **settings: Any) -> Update:
        given = {"rate": self.rate, "epochs": self.epochs, "start": self.start}
        own = {setting: each for setting, each in given.items() if each is not None}
        made = {**(usual or {}), **own, **settings}
        return Update(name, **made, margin=self.margin, measure=self.measure, seed=self.seed)

    @property
    def _of_rules(self) -> dict[str, Update | None]:
        """What is tried for rules alone, always including no rules."""
        if self.update is not None:
            return {NONE: None, self.update: self._update(self.update)}
        few = self._update("perceptron", start=2.0)
        return {
            NONE: None,
            **{name: self._update(name) for name in ("counts", "perceptron")},
            FEW_LABELS: few,
        }

    @property
    def _of_all(self) -> dict[str, Update | None]:
        """What is tried for all features, always including what was trained apart."""
        names = ("perceptron", "margin") if self.update is None else (self.update,)
        return {APART: None, **{name: self._update(name, TOGETHER) for name in names}}

    def fits(self, sequences: int, what: Literal["rules", "all"] = "rules") -> int:
        """How often `advance` is called: after each fit without a fold, and once in the end.

        Parameters
        ----------
        sequences : int
            Number of sequences.
        what : {"rules", "all"}, default "rules"
            Whether rules alone or all features are learnt, for which a model is trained without each fold, too.

        Returns
        -------
        int
            Number of calls.
        """
        folds = min(self.folds, sequences) if sequences > 1 else 0
        return (len(self._of_rules) if what == "rules" else len(self._of_all) + 1) * folds + 1

    def fit(
        self,
        examples: Sequence[ScoredExample],
        rules: Rules,
        *,
        advance: Callable[[], None] = lambda: None,
    ) -> LearntWeights:
        """Learn the weights of a rule set alone.

        Parameters
        ----------
        examples : sequence of ScoredExample
            Sequences scored by models that were not trained on them.
        rules : Rules
            Rules with penalties, which are prior knowledge.
        advance : callable, optional
            Function that is called after each of the `fits`.

        Returns
        -------
        LearntWeights
            The rules with learnt penalties.

        Raises
        ------
        ValueError
            For no examples, labels or rules that do not fit, no soft rule or feature, and hard rules that nothing keeps.
        """
        data = TrainingSet(examples, learnable(rules))
        data.decode(np.zeros_like(data.given))
        if data.unlabelled == len(data):
            raise ValueError(
                "no sequence has a labelling that keeps the hard rules; remove rules, or give them penalties"
            )

        def fitted(update: Update | None, places: Sequence[int]) -> FittedWeights:
            none = FittedWeights.plain(np.zeros_like(data.given))
            result = none if update is None else update.fit(data, places)
            advance()
            return result

        updates, places = self._of_rules, list(range(len(data)))
        folds = make_folds(places, min(self.folds, len(data)), self.seed) if len(data) > 1 else []
        selection = None
        if folds:
            selection = select(
                updates,
                lambda update, fold: fitted(update, without(fold, len(data))),
                lambda made, fold: data.measure(made.weights, fold),
                folds,
                self._choose,
            )
        chosen = selection.chosen if selection else self.update or PREFERENCE[0]
        weights, at_cap, *_ = fitted(updates[chosen], places)
        trial = selection.trials[chosen] if selection else None
        result = verdicts(data, trial, folds, weights, chosen, self.measure, self.prune)
        return LearntWeights(
            data.with_weights(np.array([each.learnt for each in result]), _reasons(data, result)),
            chosen,
            tried(selection.trials, self._refused(selection.trials)) if selection else (),
            result,
            tuple(each.name for each, yes in zip(result, at_cap, strict=True) if yes and each.learnt),
            len(data),
            data.unlabelled,
        )

    def fit_model(
        self,
        pairs: Sequence[Labelled],
        train: Callable[[Sequence[Labelled]], Base],
        rules: Rules = (),
        *,
        advance: Callable[[], None] = lambda: None,
    ) -> LearntWeights:
        """Train a model, and correct its scores together with the penalties of rules.

        Corrections are learnt on scores of models that were trained without the sequence, one for each fold. On a fold, they are
        applied to the model that was trained without it; in the end, to the model of all sequences.

        Parameters
        ----------
        pairs : sequence of Labelled
            Tokens and labels of at least two sequences.
        train : callable
            Function that makes a model from labelled sequences, in the scheme of these labels.
        rules : Rules, optional
            Rules with their penalties; hard ones are kept.
        advance : callable, optional
            Function that is called after each of the `fits`.

        Returns
        -------
        LearntWeights
            The model and the rules; what is learnt apart where figures are equal.

        Raises
        ------
        ValueError
            For fewer than two sequences, and for anything that `train` or the rules refuse.
        """
        pairs, given = tokens_and_labels(pairs), stated(rules, "learning of all weights").rules
        number = min(self.folds, len(pairs))
        if number < 2:
            raise ValueError(
                f"{counted(len(pairs), 'labelled sequence')}; all weights are learnt on folds of at least 2: add sequences"
            )
        scorers = held_out_models(pairs, train, folds=number, seed=self.seed, advance=advance)
        names = dict.fromkeys(chain.from_iterable(labels for _, labels in pairs))
        counter = LabelCounter(LabelSet(tuple(names), scorers[0].labels.notation))

        def fit(update: Update | None, fold: Sequence[int]) -> tuple[Base | Chain, RuleSet]:
            seen, base = without(fold, len(pairs)), scorers[fold[0]]
            own = [pairs[place] for place in seen], base, given, [scorers[place] for place in seen]
            result = (base, given) if update is None else _learnt(update, AllFeatures(*own))
            advance()
            return result

        def score(learnt: tuple[Base | Chain, RuleSet], fold: Sequence[int]) -> Totals:
            found = predict(learnt[0], [pairs[place] for place in fold], learnt[1])
            return np.array([counter.count_names(each.predicted, each.gold).totals() for each in found])

        folds = make_folds(range(len(pairs)), number, self.seed)
        best = largest(lambda counts: value(counts, self.measure))
        selection = select(self._of_all, fit, score, folds, best if self.update is None else self._asked)
        base, update = train(pairs), self._of_all[selection.chosen]
        model: Base | Chain = base
        learnt, unproved, unscored = given, 0, 0
        if update is not None:
            task = AllFeatures(pairs, base, given, scorers)
            model, learnt = _learnt(update, task)
            unproved, unscored = task.unproved, len(pairs) - len(task.places)
        advance()
        return LearntWeights(
            learnt,
            selection.chosen,
            tried(selection.trials),
            sequences=len(pairs),
            model=model,
            unproved=unproved,
            unscored=unscored,
        )

    def _asked(self, trials: Mapping[str, Trial[Any]]) -> str:
        assert self.update is not None
        return self.update

    def _refused(self, trials: Mapping[str, Trial[Any]]) -> dict[str, str]:
        """Why each is no better than no rules."""
        none = trials[NONE].scores
        margin = MARGIN if len(none) < FEW_SEQUENCES else 0.0
        return {name: worse(trial.scores, none, margin) for name, trial in trials.items() if name != NONE}

    def _choose(self, trials: Mapping[str, Trial[Any]]) -> str:
        """The best for rules alone that is not refused, where it is clearly better than what is usual."""
        if self.update is not None:
            return self.update
        refused = self._refused(trials)
        allowed = {name: trial.scores for name, trial in trials.items() if not refused.get(name)}
        best = max(allowed, key=lambda name: value(allowed[name], self.measure))
        few = len(trials[NONE].scores) < FEW_SEQUENCES
        usual = next(name for name in PREFERENCE if name in allowed) if few else NONE
        gain, error = difference(allowed[usual], allowed[best], self.measure)
        return best if gain > MARGIN * error else usual


def _learnt(update: Update, task: AllFeatures) -> tuple[Chain, RuleSet]:
    weights = update.fit(task, task.places).weights
    return task.corrected(weights), task.rules(weights)


def learnable(rules: Rules) -> RuleSet:
    """The rule set of rules; ValueError where nothing in it has a weight to learn, or a rule is a Python function."""
    result = stated(rules, "learning of penalties").rules
    if not any(map(is_learnt, result)):
        raise ValueError("no soft rule and no feature: hard rules have no penalty to learn")
    return result


def _reasons(data: TrainingSet, result: Sequence[Verdict]) -> list[str]:
    said = []
    for item, verdict in zip(data.items, result, strict=True):
        own = f"learnt, {verdict.given:.3g} nats before: {verdict.reason}"
        said.append(f"{item.reason}; {own}" if item.reason else own)
    return said
