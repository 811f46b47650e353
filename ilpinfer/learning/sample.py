"""Labelled sequences to mine, and words in them that indicate a field (Liao et al. 2009, rules 1 and 2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from formulations import Rule
from formulations import constraints as C
from formulations.dtypes import Booleans, Floats, Integers
from formulations.labels.schemes import OUTSIDE
from formulations.tokens.token_pattern import TokenClass
from ilpinfer.learning.evidence import FoldCounts, Thresholds, gains, survives
from ilpinfer.learning.labellings import LabelArrays

Candidates = Iterator[tuple[Rule, float]]
"""Rules, and the share of their trials at which they would hold by chance."""
MOST_WORDS = 100
"""Largest number of words of a rule, those with the largest gain."""
RAISES = (1, 2, 4, 8, 16)
"""Multiples of the least number of trials of a word that are tried."""
SHAPES: tuple[TokenClass, ...] = ("capitalised", "uppercase")
"""Classes of the token before a word."""


@dataclass(frozen=True, eq=False)
class WordMiner:
    table: LabelArrays
    fold: Integers  # (M,)
    names: Sequence[str]
    thresholds: Thresholds

    @cached_property
    def targets(self) -> list[str]:
        return [*self.names, *([OUTSIDE] if OUTSIDE in self.table.labels.names else [])]

    @property
    def _nested(self) -> bool:
        return self.table.labels.scheme == "paths"

    @cached_property
    def _spelled(self) -> Booleans:
        """(N,) which tokens have a text."""
        spelled: Booleans = np.array([bool(word) for word in self.table.words.words])[self.table.words.ids]
        return spelled

    @cached_property
    def words(self) -> tuple[list[str], Integers]:
        """The different words without their case, and that of each token."""
        index: dict[str, int] = {}
        of_word = [index.setdefault(word.lower(), len(index)) for word in self.table.words.words]
        return list(index), np.array(of_word, np.int64)[self.table.words.ids]

    def tokens(self) -> Candidates:
        """Words that lie in a field, and classes of tokens that do."""
        everywhere = np.flatnonzero(self._spelled)
        chosen = self._choose(everywhere, self.words[1][everywhere])
        for field, numbers in chosen.items():
            yield C.tag_at(field, words=self._spelt(numbers)), self._share(field, everywhere)
        for token_class in C.TOKEN_CLASSES:
            places = np.flatnonzero(self.table.matching(C.tokens(token_class=token_class)))
            for field in self._choose(places, np.zeros(len(places), np.int64)):
                yield C.tag_at(field, token_class=token_class), self._share(field, everywhere)

    def before(self) -> Candidates:
        """Words that follow a token of a field, for any token and for capitalised or upper-case ones."""
        followed = np.flatnonzero(~self.table.closes & np.append(self._spelled[1:], False))
        of_next = self.words[1]
        plain = self._choose(followed, of_next[followed + 1])
        for field, numbers in plain.items():
            yield C.right_before(field, words=self._spelt(numbers)), self._share(field, followed)
        for shape in SHAPES:
            fits = self.table.matching(C.tokens(token_class=shape))[followed]
            places = followed[fits]
            for field, numbers in self._choose(places, of_next[places + 1]).items():
                more = [number for number in numbers if number not in plain.get(field, ())]
                if more:
                    following = C.tokens(self._spelt(more))
                    yield C.tag_at(field, token_class=shape, following=following), self._share(field, places)

    def _spelt(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(sorted(self.words[0][number] for number in numbers))

    def _share(self, field: str, places: Integers) -> float:
        member = self.table.field(field).member[places]
        return float(member.mean()) if len(member) else 0.0

    def _choose(self, places: Integers, keys: Integers) -> dict[str, list[int]]:
        """For each field the numbers, of those given at each place, that show it and no part of it."""
        if not len(places):
            return {}
        folds = int(self.fold.max()) + 1
        cells = self.fold[self.table.sequence[places]] * (keys.max() + 1) + keys
        size = folds * (int(keys.max()) + 1)
        fired = np.bincount(cells, minlength=size).reshape(folds, -1)
        fits: dict[str, Booleans] = {}
        weight = {}
        for field in self.targets:
            member = self.table.field(field).member[places]
            held = np.bincount(cells[member], minlength=size).reshape(folds, -1)
            counts = FoldCounts(held, fired - held)
            fits[field], weight[field] = self._reach(counts, self._share(field, places))
        result = {}
        for field in self.targets:
            parts = [fits[part] for part in self.names if self._nested and part.startswith(field + "/")]
            numbers = np.flatnonzero(fits[field] & ~np.any([~fired.any(axis=0), *parts], axis=0))
            best = sorted(numbers.tolist(), key=lambda k: (-weight[field][k], k))[:MOST_WORDS]
            if best:
                result[field] = best
        return result

    def _reach(self, counts: FoldCounts, base: float) -> tuple[Booleans, Floats]:
        """(W,) which words reach the thresholds, more trials being asked for until held-out folds keep the confidence; and their gain."""
        t = self.thresholds
        held, broken = counts.held.sum(axis=0), counts.broken.sum(axis=0)
        weight = gains(held, broken, base)
        enough = (held >= t.confidence * (held + broken)) & (weight >= t.gain)
        if len(counts.held) == 1:
            return enough & (held + broken >= t.word_support), weight
        for factor in RAISES:
            support = factor * t.word_support
            if counts.pooled(support, t.confidence, t.gain, base) >= t.confidence:
                stable = survives(*counts.held_out(support, t.confidence))
                return enough & stable & (held + broken >= support), weight
        return np.zeros_like(enough), weight


@dataclass(frozen=True, eq=False)
class Sample:
    table: LabelArrays
    fold: Integers  # (M,)
    thresholds: Thresholds

    @cached_property
    def names(self) -> list[str]:
        """The fields that occur but `O`, sorted."""
        fields = sorted(field.name for field in self.table.labels.each_field)
        return [name for name in fields if self.table.field(name).present.any()]

    @cached_property
    def nested(self) -> bool:
        return self.table.labels.scheme == "paths"

    @cached_property
    def words(self) -> WordMiner:
        return WordMiner(self.table, self.fold, self.names, self.thresholds)

    def related(self, a: str, b: str) -> bool:
        """Whether two fields are the same, or one is a part of the other."""
        return a == b or (self.nested and (a.startswith(b + "/") or b.startswith(a + "/")))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Ordered pairs of unrelated fields."""
        return [(a, b) for a, b in permutations(self.names, 2) if not self.related(a, b)]

    @cached_property
    def runs(self) -> tuple[Integers, Integers, Integers, Integers]:
        """The field, sequence, first and last token of the runs of all fields."""
        tables = [self.table.field(name) for name in self.names]
        owner = np.repeat(np.arange(len(tables)), [len(t.start) for t in tables])
        columns = [(t.run_sequence, t.start, t.end) for t in tables]
        sequence, start, end = (np.concatenate(column) for column in zip(*columns, strict=True))
        return owner, sequence, start, end

    def of_others(self, name: str) -> Booleans:
        """Which of all runs belong to fields that are unrelated to this one."""
        others = np.array([not self.related(name, other) for other in self.names])
        result: Booleans = others[self.runs[0]]
        return result
