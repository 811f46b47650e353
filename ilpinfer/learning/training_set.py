"""Scored sequences with gold labels: activations of labellings, and decoding under given weights."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress
from typing import cast

import numpy as np

from formulations import Feature, LabelSet, Rule, RuleSet, Trellis
from formulations.dtypes import Booleans, Floats, Integers, LabelIds
from formulations.labels.reading import Reading
from formulations.problem.compiled_rules import unique_names
from formulations.time_limits import check
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.checking import smoothed_penalty
from ilpinfer.evaluation.counts import LabelCounter, LabelRuns, Totals
from ilpinfer.learning.activations import Activations
from ilpinfer.learning.completion import completed
from ilpinfer.learning.task import LARGEST, SECONDS, TOP, WITHIN, Move, Pool
from ilpinfer.pipelines.trellises import ScoredExample

SMALLEST = 1e-4
"""Nats: a smaller penalty counts as 0, and its rule is left out."""


class TrainingSet:
    """Scored examples and the items to learn; the score of a labelling is the model score plus weights · activations.

    Gold labels that are None are completed once, under the given rules; errors are counted at tokens whose label is `known`.
    """

    limit: float = SECONDS
    """Seconds for each decoded sequence."""

    def __init__(
        self, examples: Sequence[ScoredExample], rules: RuleSet, known: Sequence[Booleans] | None = None
    ) -> None:
        if known is None:
            examples, known = completed(examples, rules)
        self.examples, self.known, self.rules = examples, known, rules
        self.trellises = [cast(Trellis, example.trellis) for example in examples]
        self.gold = [cast(tuple[str, ...], example.gold) for example in examples]
        pairs = list(zip(self.trellises, self.gold, strict=True))
        named = [each for each in zip(unique_names(rules), rules, strict=True) if is_learnt(each[1])]
        self.names, self.items = [name for name, _ in named], [item for _, item in named]
        names = (name for trellis, gold in pairs for name in (*trellis.labels.names, *gold))
        self.labels = LabelSet(tuple(dict.fromkeys(names)), self.trellises[0].labels.notation)
        self.label_counter = LabelCounter(self.labels)
        self._activations = Activations(self.trellises, rules, self.items, self.labels)
        self._gold = [self._runs(place, labels) for place, labels in enumerate(self.gold)]
        self._counts: list[dict[bytes, list[int]]] = [{} for _ in pairs]
        self._seen: list[dict[bytes, LabelIds]] = [{} for _ in pairs]
        self._trials: dict[int, Integers] = {}
        none = Pool(np.zeros(0), np.zeros((0, len(self.items))), np.zeros((0, 6), np.int64), np.zeros(0))
        self._pools = [none] * len(pairs)

    def __len__(self) -> int:
        return len(self.trellises)

    def with_rules(self, rules: RuleSet) -> "TrainingSet":
        """The same examples with other rules; the new pools start with the labellings of these pools."""
        result = TrainingSet(self.examples, rules, self.known)
        result._counts, result._seen = self._counts, [dict(seen) for seen in self._seen]
        return result

    @cached_property
    def given(self) -> Floats:
        """(R,) the penalties and weights of the rule set, nats."""
        return np.array(
            [item.weight if isinstance(item, Feature) else item.penalty for item in self.items], float
        )

    @cached_property
    def least(self) -> Floats:
        """(R,) the least weight of each item: 0 for rules."""
        return np.array([-LARGEST if isinstance(item, Feature) else 0.0 for item in self.items])

    @cached_property
    def most(self) -> Floats:
        return np.full(len(self.items), LARGEST)

    def started(self, factor: float) -> Floats:
        """(R,) penalties times the factor, within the cap; features keep their weights. All are 0 with the factor 0."""
        if not factor:
            return np.zeros_like(self.given)
        return np.where(self.least == 0, np.minimum(factor * self.given, LARGEST), self.given)

    def counted(self, places: Sequence[int]) -> Floats:
        """(R,) penalties from `smoothed_penalty`; features keep their weights (Learning plus Inference)."""
        applicable, broken = sum(
            (self.gold_trials(place) for place in places), np.zeros((len(self.items), 2), np.int64)
        ).T
        trials = zip(self.items, self.given.tolist(), broken.tolist(), applicable.tolist(), strict=True)
        return np.array(
            [
                weight if isinstance(item, Feature) else smoothed_penalty(b, n, weight)
                for item, weight, b, n in trials
            ]
        )

    def with_weights(self, weights: Floats, reasons: Sequence[str] = ()) -> RuleSet:
        """The rule set with other penalties and weights, and R reasons where given; items of weight 0 are left out."""
        values = iter(weights.tolist())
        said = iter(reasons or [item.reason for item in self.items])
        result: list[Rule | Feature] = []
        for item in self.rules:
            if not is_learnt(item):
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
        """The best labelling of each example, or of the examples at `places`; None if hard rules exclude all."""
        decoder = Decoder(self.with_weights(weights), time_limit=self.limit)
        chosen = list(range(len(self)) if places is None else places)
        together = sorted(chosen, key=self._models.__getitem__)
        best: dict[int, LabelIds | None] = {}
        solutions = decoder.decode_many(self._each(together))
        for place, solution in zip(together, solutions, strict=True):
            ids = solution.ids if solution.has_labelling else None
            if ids is not None:
                self.see(place, ids)
            best[place] = ids
        return [best[place] for place in chosen]

    def _each(self, places: Iterable[int]) -> Iterator[Trellis]:
        """Trellises, with a check of the time limit before each."""
        for place in places:
            check()
            yield self.trellises[place]

    @cached_property
    def _models(self) -> list[int]:
        """A number for the transitions of each example; examples with equal transitions are decoded together, which is faster."""
        numbers: dict[bytes, int] = {}
        pools = (trellis.lattice.pool for trellis in self.trellises)
        return [numbers.setdefault(pool.tobytes() if len(pool) == 1 else b"", len(numbers)) for pool in pools]

    def prepare(self, start: Floats, places: Sequence[int], margin: float) -> None:
        """Decode with the start weights and with zero weights; with a margin, also add the best few labellings."""
        for weights in {each.tobytes(): each for each in (start, np.zeros_like(start))}.values():
            self.decode(weights, places)
        if margin:
            self.add_best(places, TOP, WITHIN)

    def grow(self, weights: Floats, places: Sequence[int]) -> bool:
        """Decode with weights; whether any labelling is new."""
        before = sum(len(self._seen[place]) for place in places)
        self.decode(weights, places)
        return sum(len(self._seen[place]) for place in places) > before

    def move(self, place: int, weights: Floats, margin: float) -> Move | None:
        """The move from the best labelling of the pool, by score plus margin times wrong tokens, to gold.

        None if the best labelling has all known labels or the same activations as gold.
        """
        pool = self.pool(place)
        if not len(pool.scores):
            return None
        values = pool.scores + pool.activations @ weights + margin * pool.wrong
        best, gold = int(np.argmax(values)), self.gold_activations[place]
        if not pool.wrong[best]:
            return None
        change = gold - pool.activations[best]
        where = np.flatnonzero(change)
        behind = float(values[best] - self._gold_scores[place] - gold @ weights) if margin else 0.0
        return Move(where, change[where], behind) if len(where) else None

    @cached_property
    def _gold_scores(self) -> list[float]:
        """The model score of each gold labelling; inf if the model lacks a label, so that every margin is reached."""
        return [
            trellis.score(gold) if {*gold} <= {*trellis.labels.names} else np.inf
            for trellis, gold in zip(self.trellises, self.gold, strict=True)
        ]

    def see(self, place: int, ids: LabelIds) -> None:
        """Add a labelling to the pool of an example."""
        self._seen[place].setdefault(ids.tobytes(), ids)

    def labellings(self, place: int) -> list[LabelIds]:
        return list(self._seen[place].values())

    def add_best(self, places: Sequence[int], top: int, within: float) -> None:
        """Add to pools the best `top` labellings under the hard rules alone, at most `within` nats below the best."""
        decoder = Decoder(self.with_weights(np.zeros_like(self.given)), time_limit=self.limit)
        lists = decoder.decode_many(self._each(places), top=top)
        for place, few in zip(places, lists, strict=True):
            for each in few:
                if each.score >= few[0].score - within:
                    self.see(place, each.ids)

    def pool(self, place: int) -> Pool:
        """All labellings of one example found so far, in the order of discovery."""
        return self.pools([place])[0]

    def pools(self, places: Sequence[int]) -> list[Pool]:
        """The pools of several examples, computed together, which is faster."""
        new = [
            (place, list(self._seen[place].values())[len(self._pools[place].scores) :]) for place in places
        ]
        rows = self._activations.of([(place, ids) for place, some in new for ids in some])
        end = 0
        for place, some in new:
            begin, end = end, end + len(some)
            if some:
                trellis = self.trellises[place]
                more = Pool(
                    np.array([trellis.score(ids) for ids in some]),
                    rows[begin:end],
                    np.array([self.counts(place, ids) for ids in some]),
                    np.array([self._wrong(place, ids) for ids in some], float),
                )
                self._pools[place] = self._pools[place].extended(more)
        return [self._pools[place] for place in places]

    def _wrong(self, place: int, ids: LabelIds) -> int:
        """Number of labels that differ from known gold labels."""
        names = self.trellises[place].labels.names
        each = zip(ids, self.gold[place], self.known[place], strict=True)
        return sum(names[k] != y for k, y, known in each if known)

    def activations(self, place: int, ids: Integers) -> Floats:
        """(R,) activations of a labelling of one example."""
        row: Floats = self._activations.of([(place, ids)])[0]
        return row

    @property
    def unlabelled(self) -> int:
        """Number of examples for which no decoding found a labelling."""
        return sum(not seen for seen in self._seen)

    def concerned(self, place: int) -> list[int]:
        """Items that are activated by some labelling in the pool of an example."""
        return [int(j) for j in np.flatnonzero(self.pool(place).activations.any(axis=0))]

    def gold_trials(self, place: int) -> Integers:
        """(R, 2) whether each rule applies to the gold labelling of one example, and whether gold breaks it; 0 for features."""
        if place not in self._trials:
            tokens = self.trellises[place].tokens
            reading = Reading(self.gold[place], tokens, self._activations.optional_labels)
            trials = [[] if isinstance(item, Feature) else item.trials(reading) for item in self.items]
            self._trials[place] = np.array(
                [[bool(t), any(one.amount for one in t)] for t in trials], np.int64
            )
        return self._trials[place]

    @cached_property
    def gold_activations(self) -> Floats:
        """(N, R) activations of the gold labellings."""
        return self._activations.of_gold([self.labels.ids(labels) for labels in self.gold])

    def counts(self, place: int, ids: LabelIds | None) -> list[int]:
        """The counts of `COLUMNS` for a labelling of one example."""
        key = b"" if ids is None else ids.tobytes()
        known = self._counts[place]
        if key not in known:
            names = self.trellises[place].labels.names
            known[key] = self.counts_of_names(place, None if ids is None else [names[k] for k in ids])
        return known[key]

    def counts_of_names(self, place: int, names: Sequence[str] | None) -> list[int]:
        """The counts of `COLUMNS` over the tokens with a known label, as if they were the whole sequence."""
        predicted = None if names is None else self._runs(place, names)
        return self.label_counter.count(predicted, self._gold[place]).totals()

    def _runs(self, place: int, names: Sequence[str]) -> LabelRuns:
        return self.label_counter.labelling(list(compress(names, self.known[place])))

    def measure(self, weights: Floats, places: Iterable[int] | None = None) -> Totals:
        """(n, 6) counts of the best labellings under weights."""
        chosen = list(range(len(self)) if places is None else places)
        labellings = self.decode(weights, chosen)
        return np.array([self.counts(i, ids) for i, ids in zip(chosen, labellings, strict=True)])


def is_learnt(item: Rule | Feature) -> bool:
    return isinstance(item, Feature) or not item.hard
