"""Rules, penalties and model scores learnt from labelled sequences, selected on held-out folds or as requested."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from formulations import RuleSet
from formulations.arguments import items, one_of, positive, whole
from formulations.messages import counted
from ilpinfer.core.rule_compiler import Rules, stated
from ilpinfer.learning.choice import choose, refusals, usual
from ilpinfer.learning.fitting import Fitted, Fitting
from ilpinfer.learning.held_out import held_out_models
from ilpinfer.learning.learnt_weights import LearntWeights
from ilpinfer.learning.measures import check_measure
from ilpinfer.learning.selection import CandidateTrial, Selection, select, tried
from ilpinfer.learning.training_set import TrainingSet, is_learnt
from ilpinfer.learning.updates import Update
from ilpinfer.learning.verdicts import RuleVerdict, verdicts
from ilpinfer.learning.ways import GIVEN, MINED, TOGETHER, WAYS, Way, ways_of
from ilpinfer.models.labelled_sequences import tokens_and_labels
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds
from ilpinfer.pipelines.trellises import ScoredExample

Advance = Callable[[], None]
FOLDS, FEW_FOLDS, MANY_SEQUENCES = 5, 3, 1000
"""Number of folds, and of folds from `MANY_SEQUENCES` sequences on, two thirds of which are enough to learn from."""


@dataclass(frozen=True)
class WeightLearner:
    """Learn rules and penalties from labelled sequences, alone or with all weights of a model, selected by cross-validation.

    The candidates are no rules, given rules, given rules with learnt penalties, mined rules, and all weights of a model and of rules
    together (Stokman 2011, section 7.1). Learning and mining leave out the fold on which a candidate is tried. From 50 sequences on,
    rules are chosen only if they are better than no rules by two standard errors; with fewer than 100, given rules with penalties
    near twice the given penalties are chosen unless another way is better by two standard errors.

    Labels that are None are unknown. They are completed once, by the best labelling under the given rules that has the known labels.
    Errors are counted only at tokens with known labels, on held-out folds too.

    Parameters
    ----------
    update : str, optional
        A name from `UPDATES`: besides no rules, only ways that learn with this update are tried, and one of them is chosen.
    measure : str, default "all"
        Measure that is maximised: "tokens", "spans", "sequences", "all", or an F measure of spans such as "f0.5", which
        weights precision above recall (Trompper 2016).
    folds : int, optional
        Number of folds; if not given, 5, or 3 from 1000 sequences on.
    ways : collection of str, optional
        Alternatives to no rules, names from `WAYS`; if not given, all possible ones.
    quick : bool, default False
        Whether only given rules are tried, as they are and with one update, and neither mined rules nor all weights.
    seconds : float or None, default 60.0
        Seconds of processor time for each way on all folds, plus the time that earlier ways left; a way that needs more is tried
        on fewer folds. None for no limit.
    rate, epochs : float or int, optional
        Largest step in nats, and number of passes of "perceptron" and "margin": 0.3 and 20 for rules alone, 0.1 and 10 for all
        weights.
    start : float, optional
        Factor of the given penalties at which "perceptron", "margin" and "risk" start; if not given, each way has its own.
    margin : float, default 1.0
        Margin of "margin" per wrong token, nats.
    prune : bool, default True
        Whether given rules that learnt penalties make useless are removed.
    seed : int, default 0
        Seed of folds and of the order of sequences.

    Raises
    ------
    ValueError
        For unknown names, numbers out of range, and choices that leave nothing to try.

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
    LearntWeights(given: perceptron, start 2, 1 of 1 rules kept)
    >>> learnt.rules.rules
    [Rule('one title', penalty=0.7)]
    """

    update: str | None = None
    measure: str = "all"
    folds: int | None = None
    ways: Collection[str] | None = None
    quick: bool = False
    seconds: float | None = 60.0
    rate: float | None = None
    epochs: int | None = None
    start: float | None = None
    margin: float = 1.0
    prune: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_measure(self.measure)
        if self.folds is not None:
            whole(self.folds, "folds", 2)
        if self.seconds is not None:
            positive(self.seconds, "seconds")
        if self.ways is not None:
            chosen = tuple(items(self.ways, "ways", "names"))
            for name in chosen:
                one_of(name, "way", WAYS)
            object.__setattr__(self, "ways", chosen)
        Update(self.update or "counts", **self._settings)
        self._ways(given=True, together=True)

    @property
    def _settings(self) -> dict[str, Any]:
        given = {"rate": self.rate, "epochs": self.epochs, "start": self.start}
        own = {name: each for name, each in given.items() if each is not None}
        return {**own, "margin": self.margin, "measure": self.measure, "seed": self.seed}

    def _ways(self, given: bool, together: bool) -> dict[str, Way]:
        """The ways by name; ValueError if there is no alternative to no rules."""
        groups = {*(WAYS if self.ways is None else self.ways)} - ({TOGETHER} if not together else set())
        result = ways_of(groups, given, self.update, self.quick, self._settings)
        if len(result) == 1:
            lacking = {"rules with a penalty": given, "a model whose scores can be corrected": together}
            without = " and ".join(name for name, there in lacking.items() if not there)
            chosen = " or ".join(name for name in ("update", "ways", "quick") if getattr(self, name))
            raise ValueError(
                f"nothing to try{f' without {without}' if without else ''}: leave {chosen} out{f', or give {without}' if without else ''}"
            )
        return result

    def fits(self, sequences: int, rules: Rules = (), together: bool = False, trained: bool = False) -> int:
        """Largest number of calls of `advance`: one after each fit without a fold, and one at the end.

        Parameters
        ----------
        sequences : int
            Number of sequences.
        rules, together
            Given rules, and whether there is a model with scores that can be corrected.
        trained : bool, default False
            Whether a model is also trained without each fold.

        Returns
        -------
        int
            Number of calls.
        """
        folds = folds_of(self, sequences) if sequences > 1 else 0
        given = stated(rules, "learning of penalties").rules
        return (len(candidates(self, given, together)) + trained) * folds + 1

    def fit(
        self, examples: Sequence[ScoredExample], rules: Rules = (), *, advance: Advance = lambda: None
    ) -> LearntWeights:
        """Learn rules and their weights for fixed scores.

        Parameters
        ----------
        examples : sequence of ScoredExample
            Sequences scored by models that were not trained on them.
        rules : Rules, optional
            Rules with penalties, which are prior knowledge; hard rules are kept.
        advance : callable, optional
            Function that is called after each of the `fits`.

        Returns
        -------
        LearntWeights
            The rules with learnt penalties.

        Raises
        ------
        ValueError
            For no examples, labels or rules that do not fit, nothing to try, and hard rules that no labelling keeps.
        """
        given = stated(rules, "learning of penalties").rules
        if self.ways is not None and MINED not in self.ways:
            learnable(given)
        return self._learn(Fitting(examples, given), advance)

    def fit_model(
        self,
        pairs: Sequence[Labelled],
        train: Callable[[Sequence[Labelled]], TrainedModel],
        rules: Rules = (),
        *,
        advance: Advance = lambda: None,
    ) -> LearntWeights:
        """Train a model, and learn rules and their weights, or all weights together.

        Each sequence is scored by a model trained without its fold. Corrections of all weights are learnt on these scores. On a fold,
        they are applied to the model trained without it; at the end, to the model of all sequences.

        Parameters
        ----------
        pairs : sequence of Labelled
            Tokens and labels of at least two sequences; None for unknown labels.
        train : callable
            Function that makes a model from labelled sequences, in the scheme of these labels. It gets unknown labels as they are.
        rules : Rules, optional
            Rules with their penalties; hard rules are kept.
        advance : callable, optional
            Function that is called after each of the `fits`.

        Returns
        -------
        LearntWeights
            The rules and the model, which is unchanged from `train` unless all weights were learnt.

        Raises
        ------
        ValueError
            For fewer than two sequences, known labels that hard rules exclude, and for anything that `train` or the rules refuse.
        """
        fitting = prepared(self, pairs, train, rules, advance)
        result = self._learn(fitting, advance)
        return result if result.model is not None else replace(result, model=train(fitting.labelled))

    def _learn(self, fitting: Fitting, advance: Advance) -> LearntWeights:
        data, ways = fitting.data, candidates(self, fitting.given, fitting.corrects)
        data.decode(np.zeros_like(data.given))
        if data.unlabelled == len(data):
            raise ValueError(
                "no sequence has a labelling that keeps the hard rules; remove rules, or give them penalties"
            )
        selected = selection(self, fitting, ways, advance)
        chosen, trials = selected.chosen, selected.trials
        way = ways[chosen]
        made = fitting.fit(way, [])
        advance()
        rules, items, capped = made.rules, tuple[RuleVerdict, ...](), tuple[str, ...]()
        if rules is None:
            items = self._verdicts(made, trials.get(chosen), chosen, way)
            learnt = np.array([each.learnt for each in items])
            said = _reasons(made.data, items) if way.update or not way.sources else ()
            rules = made.data.with_weights(learnt, said)
            at_cap = zip(items, made.weights.capped, strict=True)
            capped = tuple(each.name for each, yes in at_cap if yes and each.learnt)
        return LearntWeights(
            rules,
            chosen,
            tried(trials, refusals(trials)),
            items,
            capped,
            len(data),
            data.unlabelled,
            model=made.model,
            corrected=made.model is not None,
            unproved=made.unproved,
            unscored=made.unscored,
        )

    def _verdicts(
        self, made: Fitted, trial: CandidateTrial[Fitted] | None, chosen: str, way: Way
    ) -> tuple[RuleVerdict, ...]:
        """The effect of each item on held-out sequences; unknown for mined rules, which differ between folds."""
        of_folds, folds, untried = None, list[list[int]](), "not tried"
        if MINED in way.sources:
            untried = "mined, and learnt with the others" if way.update else "as mined"
        elif way.group == GIVEN:
            untried = "as given"
        elif trial is not None:
            of_folds = [each.weights.weights for each in trial.fitted]
            number = folds_of(self, len(made.data))
            folds = make_folds(range(len(made.data)), number, self.seed)[: len(of_folds)]
        return verdicts(
            made.data,
            of_folds,
            folds,
            made.weights.weights,
            chosen,
            self.measure,
            self.prune,
            untried,
        )


def folds_of(learner: WeightLearner, sequences: int) -> int:
    """Number of folds; 1 for a single sequence, on which nothing can be tried."""
    return min(learner.folds or (FOLDS if sequences < MANY_SEQUENCES else FEW_FOLDS), sequences)


def candidates(learner: WeightLearner, rules: RuleSet, together: bool) -> dict[str, Way]:
    """The ways by name, the simplest first: of given rules if any has a weight, of all weights if `together`."""
    return learner._ways(any(map(is_learnt, rules)), together)


def prepared(
    learner: WeightLearner,
    pairs: Sequence[Labelled],
    train: Callable[[Sequence[Labelled]], TrainedModel],
    rules: Rules = (),
    advance: Advance = lambda: None,
) -> Fitting:
    """Sequences scored by models of the other folds; parameters as for `WeightLearner.fit_model`."""
    pairs, given = tokens_and_labels(pairs), stated(rules, "learning of all weights").rules
    number = folds_of(learner, len(pairs))
    if number < 2:
        raise ValueError(
            f"{counted(len(pairs), 'labelled sequence')}; all weights are learnt on folds of at least 2: add sequences"
        )
    scorers = held_out_models(pairs, train, folds=number, seed=learner.seed, advance=advance)
    examples = [
        ScoredExample(scorer.trellis(tuple(tokens)), tuple(gold))
        for scorer, (tokens, gold) in zip(scorers, pairs, strict=True)
    ]
    return Fitting(examples, given, scorers, train)


def selection(
    learner: WeightLearner, fitting: Fitting, ways: Mapping[str, Way], advance: Advance = lambda: None
) -> Selection[Fitted]:
    """The trials of all ways and the chosen way; no trials for a single sequence."""
    number = folds_of(learner, len(fitting))
    if number < 2:
        return Selection(usual(ways), {})

    def fit(way: Way, fold: Sequence[int]) -> Fitted:
        result = fitting.fit(way, fold)
        advance()
        return result

    folds = make_folds(range(len(fitting)), number, learner.seed)
    by = partial(choose, measure=learner.measure, asked=learner.update is not None)
    return select(ways, fit, fitting.score, folds, by, learner.seconds)


def learnable(rules: Rules) -> RuleSet:
    """The rule set of rules; ValueError if no item has a weight to learn, or a rule is a Python function."""
    result = stated(rules, "learning of penalties").rules
    if not any(map(is_learnt, result)):
        raise ValueError("no soft rule and no feature: hard rules have no penalty to learn")
    return result


def _reasons(data: TrainingSet, result: Sequence[RuleVerdict]) -> list[str]:
    said = []
    for item, verdict in zip(data.items, result, strict=True):
        own = f"learnt, {verdict.given:.3g} nats before: {verdict.reason}"
        said.append(f"{item.reason}; {own}" if item.reason else own)
    return said
