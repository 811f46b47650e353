"""The loop of constraint-driven learning: models, the labels of the pool, and figures of each cycle."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from formulations import LabelSet, RuleSet
from formulations import constraints as C
from formulations.dtypes import Integers
from formulations.labels.schemes import CLOSED
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.evaluation.counts import LabelCounter, Totals
from ilpinfer.evaluation.evaluation import evaluate
from ilpinfer.learning.expectation import NO_LABELLING, Expectation, WeightedLabellings
from ilpinfer.learning.learners import Learner
from ilpinfer.learning.measures import Measures
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import predict

Progress = Callable[[int, int, int], None]
"""Receives the cycle (from 1), the sequences labelled in it and their total; or 0, the models of the trials on folds and their total."""


@dataclass(frozen=True)
class Cycle:
    """Figures of one cycle.

    Parameters
    ----------
    number : int
        Number of the cycle, from 1.
    changed : float
        Share of the unlabelled sequences whose labels differ from their labels in the previous cycle.
    violations : dict of str to int
        Number of violations of each rule by the labels of the unlabelled sequences.
    left_out : int
        Number of sequences for which no labelling keeps the hard rules.
    ways : dict of str to int
        Number of sequences by E-step; more than one E-step if some sequences have too many joint states.
    held_out : dict of str to Measures
        Measures "without rules" and "with rules"; empty without held-out sequences.

    Examples
    --------
    >>> Cycle(1, 0.5, {"one title": 2}, 0, {"top-k": 10}, {}).changed
    0.5
    """

    number: int
    changed: float
    violations: dict[str, int]
    left_out: int
    ways: dict[str, int]
    held_out: dict[str, Measures]


class Data(NamedTuple):
    """Labelled texts with label ids, unlabelled texts, rules, learner of models, and seed of samples."""

    labels: LabelSet
    texts: list[tuple[str, ...]]
    ids: list[Integers]
    pool: list[tuple[str, ...]]
    rules: RuleCompiler
    learner: Learner
    seed: int
    known: list[dict[int, int]]
    """Known label ids of each unlabelled text, by position."""

    def named(self, ids: Integers) -> list[str]:
        return [self.labels.names[k] for k in ids]


class Loop:
    """Models and labels of the pool, cycle by cycle."""

    def __init__(
        self,
        data: Data,
        e_step: str,
        k: int,
        gamma: float,
        held_out: Sequence[Labelled] = (),
        progress: Progress | None = None,
    ) -> None:
        self.data, self.e_step, self.k, self.gamma = data, e_step, k, gamma
        self.held_out, self.progress = held_out, progress
        self.pool = dict(enumerate(data.pool, len(data.texts)))
        self.known = {place: ids for place, ids in enumerate(data.known, len(data.texts)) if ids}
        self.learn = data.learner.prepare(data.labels, [*data.texts, *data.pool])
        self.supervised = self.learn(
            WeightedLabellings.alike(place, y[None]) for place, y in enumerate(data.ids)
        )
        self.model = self.supervised
        own = (C.valid_scheme(name="labels keep to their scheme"),) if data.labels.scheme in CLOSED else ()
        known = data.rules.rules
        self.scheme, self.used = RuleSet(own), replace(known, items=(*known.items, *own))
        self.compiled = compiler_of(self.used)
        self.best = dict[int, Integers]()
        self.broken = dict[int, dict[str, int]]()
        self.before = self._measures()
        self.trace: list[Cycle] = []

    def cycle(self) -> None:
        number = len(self.trace) + 1
        expectation = Expectation(self.e_step, self.k, self.compiled, (self.data.seed, number), self.known)
        made, ways = expectation.estimates(self.model, self.pool, self._advance(number))
        if not made:
            raise ValueError(
                "no sequence of the pool has a labelling that keeps the hard rules: give them penalties, or smooth the model"
            )
        before, self.best = self.best, {place: each.best for place, each in made.items()}
        changed = {
            place
            for place, path in self.best.items()
            if place not in before or not np.array_equal(before[place], path)
        }
        gamma, of_pool = self.gamma, self.learn(made.values())
        if gamma == 1:
            self.model = self.supervised
        else:
            self.model = self.data.learner.mix(self.supervised, of_pool, gamma) if gamma else of_pool
        self.trace.append(
            Cycle(
                number,
                len(changed) / len(self.pool),
                self._violations(changed),
                ways.pop(NO_LABELLING, 0),
                dict(sorted(ways.items())),
                self._measures(),
            )
        )

    def _violations(self, changed: Collection[int]) -> dict[str, int]:
        """Number of violations of each rule by the labels of the pool; only changed labels are counted again."""
        result = dict[str, int]()
        for place, path in self.best.items():
            if place in changed:
                problem = self.data.rules.quietly(self.supervised.trellis(self.pool[place]))
                self.broken[place] = {rule.name: int(rule.violations(path)) for rule in problem.rules}
            for name, violations in self.broken[place].items():
                result[name] = result.get(name, 0) + violations
        return result

    def _measures(self) -> dict[str, Measures]:
        if not self.held_out:
            return {}
        ends = {"without rules": self.scheme}
        if self.data.rules.rules.items:
            ends["with rules"] = self.used
        return {
            name: Measures.of(evaluate(predict(self.model, self.held_out, rules)))
            for name, rules in ends.items()
        }

    def counts(self, pairs: Sequence[Labelled]) -> Totals:
        """(n, 6) counts of labellings under the rules."""
        counter = LabelCounter(self.data.labels)
        found = predict(self.model, pairs, self.used)
        return np.array([counter.count_names(each.predicted, each.gold).totals() for each in found])

    def _advance(self, number: int) -> Callable[[], None]:
        done = count(1)
        return lambda: None if self.progress is None else self.progress(number, next(done), len(self.pool))
