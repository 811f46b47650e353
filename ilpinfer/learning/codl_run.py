"""The state of constraint-driven learning: models, the labels of the pool, and the trace."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from formulations import LabelSet, Rule, RuleSet
from formulations import constraints as C
from formulations.dtypes import Integers
from formulations.labels.schemes import CLOSED
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning.codl_records import Cycle, Progress, Settings
from ilpinfer.learning.expectation import (
    NO_LABELLING,
    Estimate,
    Expectation,
    WeightedLabellings,
    most_confident,
)
from ilpinfer.learning.measures import Measures
from ilpinfer.models.mixture import Mixture, Part
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import predict


class Data(NamedTuple):
    """Labelled texts with the ids of their labels, the unlabelled ones, and rules."""

    labels: LabelSet
    texts: list[tuple[str, ...]]
    ids: list[Integers]
    pool: list[tuple[str, ...]]
    rules: RuleCompiler


class CODLState:
    """The loop under settings that are complete."""

    def __init__(
        self, codl: Settings, data: Data, held_out: Sequence[Labelled], progress: Progress | None
    ) -> None:
        labels, texts, ids, pool, rules = data
        self.codl, self.rules, self.held_out, self.progress = codl, rules, held_out, progress
        self.pool = dict(enumerate(pool, len(texts)))
        self.tokens = sum(map(len, texts))
        self.learner = codl.own_learner
        self.learn = self.learner.prepare(labels, [*texts, *pool])
        self.supervised = self.learn(WeightedLabellings.alike(place, y[None]) for place, y in enumerate(ids))
        self.model: Part | Mixture = self.supervised
        self.pool_model: Part | None = None
        own = (C.valid_scheme(name="labels keep to their scheme"),) if labels.scheme in CLOSED else ()
        used = _with_weight(rules.rules, codl.penalty_weight or 1.0) if codl.constrained else RuleSet(())
        self.scheme = RuleSet(own)
        self.used = compiler_of(replace(used, items=(*used.items, *own)))
        self.best = dict[int, Integers]()
        self.labelled = dict[int, WeightedLabellings]()
        self.broken = dict[int, dict[str, int]]()
        self.learnt = 0
        self.before = self._measures()
        self.trace: list[Cycle] = []

    def cycle(self) -> None:
        codl, number = self.codl, len(self.trace) + 1
        todo = {place: text for place, text in self.pool.items() if place not in self.labelled}
        expectation = Expectation(
            codl.e_step,
            codl.k,
            self.used,
            codl.budget,
            codl.samples,
            (codl.seed, number),
            codl.confidence < 1,
        )
        made, ways = expectation.estimates(self.model, todo, self._advance(number, len(todo)))
        if not made and not self.labelled:
            raise ValueError(
                "no sequence of the pool has a labelling that keeps the hard rules: give them penalties, or smooth the model"
            )
        chosen = self._choose(made)
        before, self.best = self.best, {p: each.best for p, each in {**self.labelled, **made}.items()}
        changed = [
            place
            for place, path in self.best.items()
            if place not in before or not np.array_equal(before[place], path)
        ]
        self.pool_model = self.learn(chosen.values())
        self.learnt = sum(len(self.pool[place]) for place in chosen)
        self._mix()
        broken = self._violations(changed)
        cycle = Cycle(
            number,
            len(chosen),
            len(changed) / len(self.pool),
            broken,
            ways.pop(NO_LABELLING, 0),
            dict(sorted(ways.items())),
            self._measures(),
        )
        self.trace.append(cycle)

    def _choose(self, made: Mapping[int, Estimate]) -> Mapping[int, Estimate]:
        codl = self.codl
        places = list(made)
        if codl.confidence < 1:
            places = most_confident(made, max(1, round(codl.confidence * len(self.pool))))
        if codl.relabel:
            return {place: made[place] for place in places}
        new = {place: made[place] for place in places}
        self.labelled |= {place: each for place, each in new.items() if isinstance(each, WeightedLabellings)}
        return dict(sorted(self.labelled.items()))

    def _mix(self) -> None:
        assert self.pool_model is not None
        gamma = (
            self.tokens / (self.tokens + self.learnt) if self.codl.gamma is None else float(self.codl.gamma)
        )
        self.model = self.learner.mix(self.supervised, self.pool_model, gamma, self.codl.mixing)

    def _violations(self, changed: Collection[int]) -> dict[str, int]:
        """How often the labels of the pool break each rule; only changed labels are counted again."""
        for place in self.best.keys() & ({*changed} | (self.best.keys() - self.broken.keys())):
            problem = self.rules.quietly(self.supervised.trellis(self.pool[place]))
            path = self.best[place]
            self.broken[place] = {rule.name: int(rule.violations(path)) for rule in problem.rules}
        result = dict[str, int]()
        for place in self.best:
            for name, violations in self.broken[place].items():
                result[name] = result.get(name, 0) + violations
        return result

    def _measures(self) -> dict[str, Measures]:
        if not self.held_out:
            return {}
        predicted = self.predictions(self.held_out)
        return {name: Measures.of(evaluate(pairs)) for name, pairs in predicted.items()}

    def predictions(self, held_out: Sequence[Labelled]) -> dict[str, list[Pair]]:
        rules = {"without rules": self.scheme}
        if self.rules.rules.items:
            known = self.rules.rules
            rules["with rules"] = replace(known, items=(*known.items, *self.scheme.items))
        return {name: predict(self.model, held_out, each) for name, each in rules.items()}

    def _advance(self, number: int, total: int) -> Callable[[], None]:
        done = count(1)
        return lambda: None if self.progress is None else self.progress(number, next(done), total)


def _with_weight(rules: RuleSet, weight: float) -> RuleSet:
    items = (
        replace(item, penalty=weight * item.penalty) if isinstance(item, Rule) else item
        for item in rules.items
    )
    return rules if weight == 1 else replace(rules, items=tuple(items))
