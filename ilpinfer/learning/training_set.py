"""Scored sequences with gold labels: counts of rules and features in labellings, and decoding under given weights."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from formulations import Feature, LabelSet, Rule, RuleSet, Trellis
from formulations.dtypes import Floats, Integers, LabelIds
from formulations.grid import UNITS_PER_NAT
from formulations.labels.reading import Reading
from formulations.messages import counted
from formulations.problem.compiled_rules import CompiledRules, compile_rules, unique_names
from formulations.problem.problem import Problem
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.counts import LabelCounter, Totals
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.rule_trials import is_counted, violations

MOST_GROUND = 500_000
"""Ground rules that are kept; beyond, they are stated again for each new labelling."""
SMALLEST = 1e-4
"""Nats: a penalty below is 0, and its rule is left out."""


@dataclass(frozen=True, eq=False)
class ScoredExample:
    """A labelled sequence, scored by a model that was not trained on it.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens.
    gold : tuple of str
        T label names in the scheme of the trellis; the model may lack some of them.

    Examples
    --------
    >>> from formulations import Trellis
    >>> ScoredExample(Trellis([0.0, 0.5], [], labels=["a", "b"]), ("a",)).gold
    ('a',)
    """

    trellis: Trellis
    gold: tuple[str, ...]


class TrainingSet:
    """Scored examples and the items whose weights are learnt; a labelling's score is the model's plus weights · activations."""

    def __init__(
        self, examples: Sequence[ScoredExample], rules: RuleSet, advance: Callable[[], None] = lambda: None
    ) -> None:
        _check(examples)
        self.examples, self.rules, self.advance = list(examples), rules, advance
        pairs = list(zip(unique_names(rules), rules, strict=True))
        self.items = [item for _, item in pairs if _is_learnt(item)]
        self.names = [name for name, item in pairs if _is_learnt(item)]
        names = (name for e in examples for name in (*e.trellis.labels.names, *e.gold))
        self.labels = LabelSet(tuple(dict.fromkeys(names)), examples[0].trellis.labels.scheme)
        self.optional_labels = self.labels.with_optional_fields(rules.fields)
        self.label_counter = LabelCounter(self.labels)
        self._slow = [j for j, item in enumerate(self.items) if not _is_in_arrays(item, self.labels)]
        self._gold = [self.label_counter.labelling(example.gold) for example in examples]
        self._counters: dict[LabelSet, Counter] = {}
        self._problems: dict[int, tuple[Problem, list[Problem]]] = {}
        self._counts: list[dict[bytes, list[int]]] = [{} for _ in examples]
        self._seen: list[dict[bytes, LabelIds]] = [{} for _ in examples]
        self._trials: dict[int, Integers] = {}
        none = Pool(np.zeros(0), np.zeros((0, len(self.items))), np.zeros((0, 6), np.int64))
        self._pools = [none] * len(examples)

    def __len__(self) -> int:
        return len(self.examples)

    @cached_property
    def given(self) -> Floats:
        """(R,) the penalties and weights of the rule set, nats."""
        return np.array(
            [item.weight if isinstance(item, Feature) else item.penalty for item in self.items], float
        )

    @cached_property
    def signed(self) -> Floats:
        """(R,) the least weight of each item: 0 for rules, -inf for features."""
        return np.array([-np.inf if isinstance(item, Feature) else 0.0 for item in self.items])

    def with_weights(self, weights: Floats, reasons: Sequence[str] = ()) -> RuleSet:
        """The rule set with other penalties and weights, and R reasons where given; items of weight 0 are left out."""
        values = iter(weights.tolist())
        said = iter(reasons or [item.reason for item in self.items])
        result: list[Rule | Feature] = []
        for item in self.rules:
            if not _is_learnt(item):
                result.append(item)
                continue
            weight, reason = next(values), next(said)
            if abs(weight) >= SMALLEST:
                result.append(
                    replace(item, weight=weight, reason=reason)
                    if isinstance(item, Feature)
                    else replace(item, penalty=weight, reason=reason)
                )
        return replace(self.rules, items=tuple(result))

    def decode(self, weights: Floats, places: Iterable[int] | None = None) -> list[LabelIds | None]:
        """The best labelling of each example, or of those at some places; None where hard rules leave none."""
        decoder = Decoder(self.with_weights(weights))
        chosen = list(range(len(self)) if places is None else places)
        together = sorted(chosen, key=self._models.__getitem__)
        best: dict[int, LabelIds | None] = {}
        solutions = decoder.decode_many(self.examples[i].trellis for i in together)
        for place, solution in zip(together, solutions, strict=True):
            ids = solution.ids if solution.has_labelling else None
            if ids is not None:
                self._seen[place].setdefault(ids.tobytes(), ids)
            best[place] = ids
            self.advance()
        return [best[place] for place in chosen]

    @cached_property
    def _models(self) -> list[int]:
        """A number for the transitions of each example: those of one model are decoded together, which is faster."""
        numbers: dict[bytes, int] = {}
        pools = (example.trellis.lattice.pool for example in self.examples)
        return [numbers.setdefault(pool.tobytes() if len(pool) == 1 else b"", len(numbers)) for pool in pools]

    def add_best(self, places: Sequence[int], top: int, within: float) -> None:
        """Add to pools the best few labellings under the hard rules alone, as far as they are within some nats of the best one."""
        decoder = Decoder(self.with_weights(np.zeros_like(self.given)))
        lists = decoder.best_labellings((self.examples[place].trellis for place in places), top)
        for place, few in zip(places, lists, strict=True):
            for ids, score in zip(few.ids, few.scores, strict=True):
                if score >= few.scores[0] - within:
                    self._seen[place].setdefault(ids.tobytes(), ids)
            self.advance()

    def pool(self, place: int) -> "Pool":
        """The labellings of one example that any weights have led to, in the order in which they were met."""
        return self.pools([place])[0]

    def pools(self, places: Sequence[int]) -> list["Pool"]:
        """The same of several examples, which is faster at once."""
        new = [
            (place, list(self._seen[place].values())[len(self._pools[place].scores) :]) for place in places
        ]
        rows = self._activations([(place, ids) for place, some in new for ids in some])
        end = 0
        for place, some in new:
            begin, end = end, end + len(some)
            if some:
                trellis = self.examples[place].trellis
                more = Pool(
                    np.array([trellis.score(ids) for ids in some]),
                    rows[begin:end],
                    np.array([self.counts(place, ids) for ids in some]),
                )
                self._pools[place] = self._pools[place].extended(more)
        return [self._pools[place] for place in places]

    def activations(self, place: int, ids: Integers) -> Floats:
        """(R,) activations of the items in a labelling of one example."""
        row: Floats = self._activations([(place, ids)])[0]
        return row

    def _activations(self, labellings: Sequence[tuple[int, Integers]]) -> Floats:
        """(n, R) the same of labellings of several examples."""
        trellises = [self.examples[place].trellis for place, _ in labellings]
        named = zip(trellises, labellings, strict=True)
        own = [self.labels.ids([trellis.labels.names[k] for k in ids]) for trellis, (_, ids) in named]
        result = self._in_arrays([place for place, _ in labellings], own)
        if self._slow:
            for row, trellis, (place, ids) in zip(result, trellises, labellings, strict=True):
                counter = self._counter(trellis.labels)
                row[self._slow] = counter.count(trellis, ids, self._problem(place))
        return result

    def _in_arrays(self, places: Sequence[int], labellings: Sequence[Integers]) -> Floats:
        """(n, R) activations of the items that arrays count, of ids in `labels`; 0 for the others."""
        result = np.zeros((len(places), len(self.items)))
        if places:
            texts = [self.examples[place].trellis.tokens for place in places]
            table = LabelArrays.of(self.optional_labels, texts, labellings)
            for j in sorted({*range(len(self.items))} - {*self._slow}):
                item: Any = self.items[j]
                broken = violations(table, item.statement)
                result[:, j] = -(np.minimum(broken, 1) if item.distance == "binary" else broken)
        return result

    @property
    def unlabelled(self) -> int:
        """How many examples had no labelling whenever they were decoded."""
        return sum(not seen for seen in self._seen)

    def concerned(self, place: int) -> list[int]:
        """Items that some labelling of an example activates, of those that were counted so far."""
        return [int(j) for j in np.flatnonzero(self.pool(place).activations.any(axis=0))]

    def gold_trials(self, place: int) -> Integers:
        """(R, 2) whether each rule is at stake in the gold labelling of one example, and whether that breaks it; 0 for features."""
        if place not in self._trials:
            example = self.examples[place]
            reading = Reading(example.gold, example.trellis.tokens, self.optional_labels)
            trials = [[] if isinstance(item, Feature) else item.trials(reading) for item in self.items]
            self._trials[place] = np.array(
                [[bool(t), any(one.amount for one in t)] for t in trials], np.int64
            )
        return self._trials[place]

    @cached_property
    def gold_activations(self) -> Floats:
        """(N, R) the same for the gold labellings."""
        result = self._in_arrays(range(len(self)), [gold.ids for gold in self._gold])
        if self._slow:
            counter, K = self._counter(self.labels), len(self.labels)
            for row, example, gold in zip(result, self.examples, self._gold, strict=True):
                zeros = np.zeros((len(example.gold), K)), np.zeros((K, K))
                trellis = Trellis.from_emissions(*zeros, labels=self.labels, tokens=example.trellis.tokens)
                row[self._slow] = counter.count(trellis, gold.ids, counter.problems(trellis))
        return result

    def counts(self, place: int, ids: LabelIds | None) -> list[int]:
        """The counts of `COLUMNS` for a labelling of one example."""
        key = b"" if ids is None else ids.tobytes()
        known = self._counts[place]
        if key not in known:
            names = self.examples[place].trellis.labels.names
            predicted = None if ids is None else self.label_counter.labelling([names[k] for k in ids])
            known[key] = self.label_counter.count(predicted, self._gold[place]).totals()
        return known[key]

    def measure(self, weights: Floats, places: Iterable[int] | None = None) -> Totals:
        """(n, 6) the counts of the best labellings under weights."""
        chosen = list(range(len(self)) if places is None else places)
        labellings = self.decode(weights, chosen)
        return np.array([self.counts(i, ids) for i, ids in zip(chosen, labellings, strict=True)])

    def _counter(self, labels: LabelSet) -> "Counter":
        if labels not in self._counters:
            slow = tuple(self.items[j] for j in self._slow)
            self._counters[labels] = Counter(replace(self.rules, items=slow), labels)
        return self._counters[labels]

    def _problem(self, place: int) -> tuple[Problem, list[Problem]]:
        known = self._problems.get(place)
        if known is None:
            trellis = self.examples[place].trellis
            known = self._counter(trellis.labels).problems(trellis)
            if len(self) * len(self._slow) <= MOST_GROUND:
                self._problems[place] = known
        return known


@dataclass(frozen=True, eq=False)
class Pool:
    scores: Floats
    activations: Floats  # (n, R)
    counts: Totals

    def extended(self, other: "Pool") -> "Pool":
        return Pool(
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.activations, other.activations]),
            np.concatenate([self.counts, other.counts]),
        )

    def best(self, weights: Floats) -> int:
        """The place of the best labelling under weights (R,)."""
        return int(np.argmax(self.scores + self.activations @ weights))


class Counter:
    def __init__(self, rules: RuleSet, labels: LabelSet) -> None:
        self.items = list(rules)
        self.rules = compile_rules(replace(rules, items=tuple(rules.rules)), labels)
        features = [replace(item, weight=1.0) for item in rules if isinstance(item, Feature)]
        self.features = [compile_rules(replace(rules, items=(each,)), labels) for each in features]

    def problems(self, trellis: Trellis) -> tuple[Problem, list[Problem]]:
        def quiet(compiled: CompiledRules) -> Problem:
            return compiled.problem(trellis, quiet=True)

        return quiet(self.rules), [quiet(each) for each in self.features]

    def count(self, trellis: Trellis, ids: Integers, problems: tuple[Problem, list[Problem]]) -> Floats:
        rules, features = problems
        ground, each_feature = iter(rules.rules), iter(features)
        result = []
        for item in self.items:
            if isinstance(item, Feature):
                one = next(each_feature)
                result.append((one.lattice.score(ids) - one.model.score(ids)) / UNITS_PER_NAT)
                continue
            result.append(-float(next(ground).violations(ids)))
        return np.array(result)


def _is_learnt(item: Rule | Feature) -> bool:
    return isinstance(item, Feature) or not item.hard


def _is_in_arrays(item: Rule | Feature, labels: LabelSet) -> bool:
    """Whether arrays count a rule: one of the templates that are mined, which stands for itself alone."""
    if isinstance(item, Feature) or item.distance == "hamming" or not is_counted(item.statement):
        return False
    return item.statements(labels.field_names) == [item.statement]


def _check(examples: Sequence[ScoredExample]) -> None:
    if not examples:
        raise ValueError("no labelled sequences to learn from: expected at least one")
    scheme = examples[0].trellis.labels.scheme
    for place, example in enumerate(examples):
        trellis = example.trellis
        if len(example.gold) != len(trellis):
            raise ValueError(
                f"sequence {place}: {counted(len(example.gold), 'gold label')} for {counted(len(trellis), 'token')}; expected one for each"
            )
        if trellis.labels.scheme != scheme:
            raise ValueError(
                f"sequence {place}: labels of the scheme {trellis.labels.scheme}, but those of sequence 0 are {scheme}; "
                "score all by one model, or name the scheme"
            )
