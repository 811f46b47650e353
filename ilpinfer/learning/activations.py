"""Activations of labellings: minus the number of violations of a rule, the number of places of a feature."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from formulations import Feature, LabelSet, Rule, RuleSet, Trellis
from formulations.dtypes import Floats, Integers
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.problem import Problem
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.rule_trials import is_counted, violations

MOST_GROUND = 500_000
"""Largest number of ground rules in memory; above it, rules are grounded again for each new labelling."""


class Activations:
    """Counts the activations of R items of a rule set in labellings of N trellises, by arrays where a rule allows it.

    `labels` are the labels of all trellises and of gold.
    """

    def __init__(
        self, trellises: Sequence[Trellis], rules: RuleSet, items: Sequence[Rule | Feature], labels: LabelSet
    ) -> None:
        self.trellises, self.rules, self.items, self.labels = trellises, rules, items, labels
        self.optional_labels = labels.with_optional_fields(rules.fields)
        self._slow = [j for j, item in enumerate(items) if not _is_in_arrays(item, labels)]
        self._counters: dict[LabelSet, Counter] = {}
        self._problems: dict[int, tuple[Problem, list[Problem]]] = {}

    def of(self, labellings: Sequence[tuple[int, Integers]]) -> Floats:
        """(n, R) activations of labellings, each given with the index of its trellis."""
        trellises = [self.trellises[place] for place, _ in labellings]
        named = zip(trellises, labellings, strict=True)
        own = [self.labels.ids([trellis.labels.names[k] for k in ids]) for trellis, (_, ids) in named]
        result = self._in_arrays([place for place, _ in labellings], own)
        if self._slow:
            for row, trellis, (place, ids) in zip(result, trellises, labellings, strict=True):
                row[self._slow] = self._counter(trellis.labels).count(ids, self._problem(place))
        return result

    def of_gold(self, labellings: Sequence[Integers]) -> Floats:
        """(N, R) activations of one labelling per trellis, as ids in `labels`."""
        result = self._in_arrays(range(len(self.trellises)), labellings)
        if self._slow:
            counter, K = self._counter(self.labels), len(self.labels)
            for row, known, ids in zip(result, self.trellises, labellings, strict=True):
                zeros = np.zeros((len(ids), K)), np.zeros((K, K))
                trellis = Trellis.from_emissions(*zeros, labels=self.labels, tokens=known.tokens)
                row[self._slow] = counter.count(ids, counter.problems(trellis))
        return result

    def _in_arrays(self, places: Sequence[int], labellings: Sequence[Integers]) -> Floats:
        """(n, R) activations of the items that arrays count, 0 for the others; labellings are ids in `labels`."""
        result = np.zeros((len(places), len(self.items)))
        if places:
            texts = [self.trellises[place].tokens for place in places]
            table = LabelArrays.of(self.optional_labels, texts, labellings)
            for j in sorted({*range(len(self.items))} - {*self._slow}):
                item: Any = self.items[j]
                broken = violations(table, item.statement)
                result[:, j] = -(np.minimum(broken, 1) if item.distance == "binary" else broken)
        return result

    def _counter(self, labels: LabelSet) -> "Counter":
        if labels not in self._counters:
            slow = tuple(self.items[j] for j in self._slow)
            self._counters[labels] = Counter(replace(self.rules, items=slow), labels)
        return self._counters[labels]

    def _problem(self, place: int) -> tuple[Problem, list[Problem]]:
        known = self._problems.get(place)
        if known is None:
            trellis = self.trellises[place]
            known = self._counter(trellis.labels).problems(trellis)
            if len(self.trellises) * len(self._slow) <= MOST_GROUND:
                self._problems[place] = known
        return known


class Counter:
    """Counts activations of items by their ground rules."""

    def __init__(self, rules: RuleSet, labels: LabelSet) -> None:
        self.items = list(rules)
        self.rules = compile_rules(replace(rules, items=tuple(rules.rules)), labels)
        features = [replace(item, weight=1.0) for item in rules if isinstance(item, Feature)]
        self.features = [compile_rules(replace(rules, items=(each,)), labels) for each in features]

    def problems(self, trellis: Trellis) -> tuple[Problem, list[Problem]]:
        """The problem with all rules, and one problem per feature."""
        compiled = [self.rules, *self.features]
        rules, *features = [each.problem(trellis, quiet=True) for each in compiled]
        return rules, features

    def count(self, ids: Integers, problems: tuple[Problem, list[Problem]]) -> Floats:
        """(R,) activations of a labelling of the trellis that the problems were made for."""
        rules, features = problems
        ground, each_feature = iter(rules.rules), iter(features)
        result = list[float]()
        for item in self.items:
            if isinstance(item, Feature):
                one = next(each_feature)
                result.append((one.lattice.score(ids) - one.model.score(ids)) / UNITS_PER_NAT)
            else:
                result.append(-float(next(ground).violations(ids)))
        return np.array(result)


def _is_in_arrays(item: Rule | Feature, labels: LabelSet) -> bool:
    """Whether arrays count a rule: a mined template that does not expand to other rules."""
    if isinstance(item, Feature) or item.distance == "hamming" or not is_counted(item.statement):
        return False
    return item.statements(labels.field_names) == [item.statement]
