"""Fits ways to the labelled sequences outside a fold, and scores the labellings of the fold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from formulations import RuleSet, join_rules
from formulations.time_limits import check
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.counts import Totals
from ilpinfer.learning.all_features import AllFeatures
from ilpinfer.learning.mining import RuleMiner
from ilpinfer.learning.rules_to_learn import keep_scheme, many_rules, mined
from ilpinfer.learning.task import SECONDS, TOP, WITHIN
from ilpinfer.learning.training_set import TrainingSet, is_learnt
from ilpinfer.learning.updates import FittedWeights
from ilpinfer.learning.ways import GIVEN, MINED, Way
from ilpinfer.models.chain import Base, Chain
from ilpinfer.models.crf import CRF
from ilpinfer.models.hmm import HMM
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import without
from ilpinfer.pipelines.trellises import ScoredExample

SECONDS_MINED = 1.0
"""Time limit per sequence under mined rules; there may be hundreds of rules."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Rule weights of a training set; or a corrected model, its rules, and the sequences and moves that its learning left out."""

    data: TrainingSet
    weights: FittedWeights
    model: Base | Chain | None = None
    rules: RuleSet | None = None
    unproved: int = 0
    unscored: int = 0


class Fitting:
    """Fits ways to sequences scored by models that have not seen them; `scorers` are these models, and `train` makes a model."""

    def __init__(
        self,
        examples: Sequence[ScoredExample],
        given: RuleSet,
        scorers: Sequence[SequenceModel] = (),
        train: Callable[[Sequence[Labelled]], SequenceModel] | None = None,
    ) -> None:
        self.data = TrainingSet(examples, given)
        self.scorers, self.train, self.given = scorers, train, given
        self.pairs: list[Labelled] = [
            (trellis.tokens or [""] * len(gold), gold)
            for trellis, gold in zip(self.data.trellises, self.data.gold, strict=True)
        ]
        known = zip(self.pairs, self.data.known, strict=True)
        self.labelled: list[tuple[Any, Any]] = [
            (tokens, [name if yes else None for name, yes in zip(gold, is_known, strict=True)])
            for (tokens, gold), is_known in known
        ]
        self.scheme = self.data.labels.notation
        self._known: dict[tuple[bool, tuple[int, ...]], RuleSet] = {}
        """Mined rules, of the usual miner or many, by the sequences that they were mined from."""

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def corrects(self) -> bool:
        """Whether the scores of the models can be corrected."""
        return bool(self.scorers) and all(can_be_corrected(scorer) for scorer in self.scorers)

    def fit(self, way: Way, fold: Sequence[int]) -> Fitted:
        """Learn from the sequences outside a fold; from all if it is empty."""
        seen = without(fold, len(self))
        if way.together:
            return self._together(way, fold, seen)
        if MINED in way.sources:
            return self._mined(way, seen)
        data = self.data
        if not way.sources:
            return Fitted(data, FittedWeights.plain(np.zeros_like(data.given)))
        fitted = FittedWeights.plain(data.given) if way.update is None else way.update.fit(data, seen)
        return Fitted(data, fitted)

    def score(self, fitted: Fitted, fold: Sequence[int]) -> Totals:
        """(n, 6) counts of the best labellings of the n sequences of a fold."""
        if fitted.model is None:
            return fitted.data.measure(fitted.weights.weights, fold)
        assert fitted.rules is not None
        decoder = Decoder(fitted.rules, model=fitted.model, time_limit=SECONDS)
        found = decoder.decode_texts(self.pairs[place][0] for place in fold)
        result = []
        for place, solution in zip(fold, found, strict=True):
            check()
            labels = solution.labels if solution.has_labelling else None
            result.append(self.data.counts_of_names(place, labels))
        return np.array(result)

    def _together(self, way: Way, fold: Sequence[int], seen: Sequence[int]) -> Fitted:
        assert self.train is not None
        assert way.update is not None
        base = cast(Base, self.scorers[fold[0]] if fold else self.train(self.labelled))
        # A completion may have a label that occurs only in the fold.
        names, gold, all_seen = {*base.labels.names}, self.data.gold, len(seen)
        seen = [place for place in seen if {*gold[place]} <= names]
        scorers = cast(list[Base], [self.scorers[place] for place in seen])
        pairs, known = [self.pairs[place] for place in seen], [self.data.known[place] for place in seen]
        task = AllFeatures(pairs, base, self.given, scorers, known)
        learnt = way.update.fit(task, task.places)
        model, rules = task.corrected(learnt.weights), task.rules(learnt.weights)
        return Fitted(self.data, learnt, model, rules, task.unproved, all_seen - len(task.places))

    def _mined(self, way: Way, seen: Sequence[int]) -> Fitted:
        """Weights of rules mined from the sequences outside the fold, with the given rules if these are a source."""
        rules, update = self._rules(way.many, seen), way.update
        if way.many:
            self._base.add_best(seen, TOP, WITHIN)
        given = self.given if GIVEN in way.sources else self._hard
        data = self._base.with_rules(join_rules([given, self._valid, rules]))
        data.limit = SECONDS_MINED
        if update is None or not rules.items:
            return Fitted(data, FittedWeights.plain(data.given))
        known = sum(map(is_learnt, given))
        start = np.where(np.arange(len(data.items)) < known, data.started(update.start), 0.0)
        return Fitted(data, update.fit(data, seen, start))

    def _rules(self, many: bool, seen: Sequence[int]) -> RuleSet:
        key = many, tuple(seen)
        if key not in self._known:
            own = [self.pairs[place] for place in seen]
            self._known[key] = many_rules(own, self.scheme) if many else mined(RuleMiner(), own, self.scheme)
        return self._known[key]

    @cached_property
    def _hard(self) -> RuleSet:
        """The given rules whose weights are not learnt."""
        return self.data.with_weights(np.zeros_like(self.data.given))

    @cached_property
    def _valid(self) -> RuleSet:
        return keep_scheme(self.pairs, self.scheme)

    @cached_property
    def _base(self) -> TrainingSet:
        """Training set under hard rules alone, with the best labellings of the sequences learnt from so far."""
        return self.data.with_rules(join_rules([self._hard, self._valid]))


def can_be_corrected(model: SequenceModel) -> bool:
    """Whether a model is a first-order HMM or a CRF with a template."""
    return isinstance(model, HMM) or (isinstance(model, CRF) and model.template is not None)
