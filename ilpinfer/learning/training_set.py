"""Scored sequences with gold labels: counts of rules and features in labellings, and decoding under given weights."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from formulations import Feature, LabelSet, Rule, RuleSet, Trellis
from formulations.dtypes import Floats, Integers, LabelIds
from formulations.grid import UNITS_PER_NAT
from formulations.labels.reading import Reading
from formulations.problem.compiled_rules import CompiledRules, compile_rules, unique_names
from formulations.problem.problem import Problem
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.counts import LabelCounter, Totals

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
        self._gold = [self.label_counter.labelling(example.gold) for example in examples]
        self._counters: dict[LabelSet, Counter] = {}
        self._problems: dict[int, tuple[Problem, list[Problem]]] = {}
        self._counts: list[dict[bytes, list[int]]] = [{} for _ in examples]
        self._seen: list[dict[bytes, LabelIds]] = [{} for _ in examples]
        self._trials: dict[int, Integers] = {}
        self._pools: list[Pool | None] = [None] * len(examples)

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

    def pool(self, place: int) -> "Pool":
        """The labellings of one example that any weights have led to, in the order in which they were met."""
        known, seen = self._pools[place], self._seen[place]
        first = 0 if known is None else len(known.scores)
        if known is not None and first == len(seen):
            return known
        trellis = self.examples[place].trellis
        new = list(seen.values())[first:]
        more = Pool(
            np.array([trellis.score(ids) for ids in new]),
            np.array([self.activations(place, ids) for ids in new]).reshape(len(new), len(self.items)),
            np.array([self.counts(place, ids) for ids in new]).reshape(len(new), 6),
        )
        self._pools[place] = more if known is None else known.extended(more)
        return self.pool(place)

    def activations(self, place: int, ids: Integers) -> Floats:
        """(R,) activations of the items in a labelling of one example."""
        trellis = self.examples[place].trellis
        return self._counter(trellis.labels).count(trellis, ids, self._problem(place))

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
        counter = self._counter(self.labels)
        K = len(self.labels)
        rows = []
        for example, gold in zip(self.examples, self._gold, strict=True):
            zeros = np.zeros((len(example.gold), K)), np.zeros((K, K))
            trellis = Trellis.from_emissions(*zeros, labels=self.labels, tokens=example.trellis.tokens)
            rows.append(counter.count(trellis, gold.ids, counter.problems(trellis)))
        return np.array(rows).reshape(len(self), len(self.items))

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
            self._counters[labels] = Counter(self.rules, labels)
        return self._counters[labels]

    def _problem(self, place: int) -> tuple[Problem, list[Problem]]:
        known = self._problems.get(place)
        if known is None:
            trellis = self.examples[place].trellis
            known = self._counter(trellis.labels).problems(trellis)
            if len(self) * len(self.items) <= MOST_GROUND:
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
            rule = next(ground)
            if not item.hard:
                result.append(-float(rule.violations(ids)))
        return np.array(result)


def _is_learnt(item: Rule | Feature) -> bool:
    return isinstance(item, Feature) or not item.hard


def _check(examples: Sequence[ScoredExample]) -> None:
    if not examples:
        raise ValueError("no labelled sequences to learn from: expected at least one")
    scheme = examples[0].trellis.labels.scheme
    for place, example in enumerate(examples):
        trellis = example.trellis
        if len(example.gold) != len(trellis):
            raise ValueError(
                f"sequence {place}: {len(example.gold)} gold labels for {len(trellis)} tokens; expected one for each"
            )
        if trellis.labels.scheme != scheme:
            raise ValueError(
                f"sequence {place}: labels of the scheme {trellis.labels.scheme}, but those of sequence 0 are {scheme}; "
                "score all by one model, or name the scheme"
            )
