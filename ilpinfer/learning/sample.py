"""Labelled sequences to mine, measures of trials, and words that indicate a field (Liao et al. 2009, rules 1 and 2)."""

import math
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
from ilpinfer.learning.labellings import LabelArrays


@dataclass(frozen=True)
class Thresholds:
    support: int
    confidence: float
    gain: float
    word_support: int


@dataclass(frozen=True)
class FoldCounts:
    held: Integers  # (F,)
    broken: Integers  # (F,)

    def held_out(self, support: int, confidence: float) -> tuple[Integers, Integers]:
        """Number of folds in which a rule learnt from the other folds holds, and in which it applies."""
        fired = self.held + self.broken
        rest, rest_held = fired.sum(axis=0) - fired, self.held.sum(axis=0) - self.held
        share = (len(fired) - 1) / len(fired)
        taught = (rest >= share * support) & (rest_held >= confidence * rest)
        holds = taught & (fired > 0) & (self.held >= confidence * fired)
        return holds.sum(axis=0), (fired > 0).sum(axis=0)

    def pooled(self, support: int, confidence: float, least_gain: float, base: float) -> float:
        """Share of held-out trials that keep the rules learnt from the other folds; 0 without trials."""
        rest_held, rest_broken = self.held.sum(axis=0) - self.held, self.broken.sum(axis=0) - self.broken
        rest, share = rest_held + rest_broken, (len(self.held) - 1) / len(self.held)
        taught = (rest >= share * support) & (rest_held >= confidence * rest)
        taught &= gains(rest_held, rest_broken, base) >= share * least_gain
        fired = (self.held + self.broken)[taught].sum()
        return float(self.held[taught].sum() / fired) if fired else 0.0


def survives(holds: Integers, applies: Integers) -> Booleans:
    """Whether a rule holds in at least half of the folds in which it applies, and in at least one."""
    result: Booleans = (holds > 0) & (2 * holds >= applies)
    return result


def gain(held: int, broken: int, base: float) -> float:
    """The log-likelihood ratio of held and broken trials against a base rate, nats; 0 if the base rate is higher."""
    return float(gains(np.array([held]), np.array([broken]), base)[0])


def gains(held: Integers, broken: Integers, base: float) -> Floats:
    """`gain` of each of several counts."""
    base = min(max(base, 1e-9), 1 - 1e-9)
    total = np.maximum(held + broken, 1)
    share = held / total
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.where(held > 0, held * np.log(share / base), 0.0)
        result += np.where(broken > 0, broken * np.log((1 - share) / (1 - base)), 0.0)
    above: Floats = np.where(share > base, np.maximum(result, 0.0), 0.0)
    return above


def cost(held: int, broken: int, smoothing: float) -> float:
    """The penalty -log((broken + a) / (held + broken + 2 a)) in nats; Fersini et al. 2014, eq. 30, with a corrected sign."""
    return -math.log((broken + smoothing) / (held + broken + 2 * smoothing))


Candidates = Iterator[tuple[Rule, float]]
"""Rules, and the share of trials that would keep them by chance."""
MOST_WORDS = 100
"""Largest number of words of a rule; the words of largest gain are kept."""
RAISES = (1, 2, 4, 8, 16)
"""Factors of the least number of trials per word that are tried."""
SHAPES: tuple[TokenClass, ...] = ("capitalised", "uppercase")
"""Classes of the previous token."""


@dataclass(frozen=True, eq=False)
class Sample:
    table: LabelArrays
    fold: Integers  # (M,)
    thresholds: Thresholds

    @cached_property
    def names(self) -> list[str]:
        """The fields that occur, sorted, without `O`."""
        fields = sorted(field.name for field in self.table.labels.each_field)
        return [name for name in fields if self.table.field(name).present.any()]

    @cached_property
    def nested(self) -> bool:
        return self.table.labels.scheme == "paths"

    def related(self, a: str, b: str) -> bool:
        """Whether two fields are equal or one is a part of the other."""
        return a == b or (self.nested and (a.startswith(b + "/") or b.startswith(a + "/")))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Ordered pairs of unrelated fields."""
        return [(a, b) for a, b in permutations(self.names, 2) if not self.related(a, b)]

    @cached_property
    def runs(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Field, sequence, first and last token of all runs."""
        tables = [self.table.field(name) for name in self.names]
        owner = np.repeat(np.arange(len(tables)), [len(t.start) for t in tables])
        columns = [(t.run_sequence, t.start, t.end) for t in tables]
        sequence, start, end = (np.concatenate(column) for column in zip(*columns, strict=True))
        return owner, sequence, start, end

    def of_others(self, name: str) -> Booleans:
        """Which of all runs belong to fields unrelated to this one."""
        others = np.array([not self.related(name, other) for other in self.names])
        result: Booleans = others[self.runs[0]]
        return result

    @cached_property
    def _targets(self) -> list[str]:
        return [*self.names, *([OUTSIDE] if OUTSIDE in self.table.labels.names else [])]

    @cached_property
    def spelled(self) -> Booleans:
        spelled: Booleans = np.array([bool(word) for word in self.table.words])[self.table.tokens]
        return spelled

    @cached_property
    def lower(self) -> tuple[list[str], Integers]:
        """The different lower-case words, and the index of each token's word."""
        index: dict[str, int] = {}
        of_word = [index.setdefault(word.lower(), len(index)) for word in self.table.words]
        return list(index), np.array(of_word, np.int64)[self.table.tokens]

    def word_rules(self) -> Candidates:
        """Words and token classes that indicate a field."""
        everywhere = np.flatnonzero(self.spelled)
        chosen = self.choose(everywhere, self.lower[1][everywhere])
        for field, numbers in chosen.items():
            yield C.tag_at(field, words=self.spelt(numbers)), self.share(field, everywhere)
        for token_class in C.TOKEN_CLASSES:
            places = np.flatnonzero(self.table.matching(C.tokens(token_class=token_class)))
            for field in self.choose(places, np.zeros(len(places), np.int64), everywhere):
                yield C.tag_at(field, token_class=token_class), self.share(field, everywhere)

    def next_word_rules(self) -> Candidates:
        """Words that follow a token of a field: any token, or a capitalised or upper-case one."""
        followed = np.flatnonzero(~self.table.closes & np.append(self.spelled[1:], False))
        of_next = self.lower[1]
        plain = self.choose(followed, of_next[followed + 1])
        for field, numbers in plain.items():
            yield C.right_before(field, words=self.spelt(numbers)), self.share(field, followed)
        for shape in SHAPES:
            fits = self.table.matching(C.tokens(token_class=shape))[followed]
            places = followed[fits]
            for field, numbers in self.choose(places, of_next[places + 1]).items():
                more = [number for number in numbers if number not in plain.get(field, ())]
                if more:
                    following = C.tokens(self.spelt(more))
                    yield C.tag_at(field, token_class=shape, following=following), self.share(field, places)

    def spelt(self, numbers: Sequence[int]) -> tuple[str, ...]:
        return tuple(sorted(self.lower[0][number] for number in numbers))

    def share(self, field: str, places: Integers) -> float:
        member = self.table.field(field).member[places]
        return float(member.mean()) if len(member) else 0.0

    def choose(self, places: Integers, keys: Integers, *among: Integers) -> dict[str, list[int]]:
        """For each field the keys that indicate it above its share in every group of `among`, and that indicate no part of it."""
        folds = int(self.fold.max()) + 1
        every, least = places, self.thresholds.word_support * (1 if folds == 1 else (folds - 1) / folds)
        frequent, keys = np.unique(keys, return_inverse=True)
        often = np.bincount(keys, minlength=len(frequent)) >= least  # all others reach no threshold
        if not often.any():
            return {}
        kept, number = often[keys], np.cumsum(often) - 1
        places, keys, frequent = places[kept], number[keys[kept]], frequent[often]
        cells = self.fold[self.table.sequence[places]] * (keys.max() + 1) + keys
        size = folds * (int(keys.max()) + 1)
        fired = np.bincount(cells, minlength=size).reshape(folds, -1)
        fits: dict[str, Booleans] = {}
        weight = {}
        for field in self._targets:
            member = self.table.field(field).member[places]
            held = np.bincount(cells[member], minlength=size).reshape(folds, -1)
            counts = FoldCounts(held, fired - held)
            base = max(self.share(field, each) for each in among or (every,))
            fits[field], weight[field] = self._reach(counts, base)
        result = {}
        for field in self._targets:
            parts = [fits[part] for part in self.names if self.nested and part.startswith(field + "/")]
            numbers = np.flatnonzero(fits[field] & ~np.any([~fired.any(axis=0), *parts], axis=0))
            best = sorted(numbers.tolist(), key=lambda k: (-weight[field][k], k))[:MOST_WORDS]
            if best:
                result[field] = frequent[best].tolist()
        return result

    def _reach(self, counts: FoldCounts, base: float) -> tuple[Booleans, Floats]:
        """(W,) words that reach the thresholds, with support raised until held-out folds keep the confidence; and their gain."""
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
