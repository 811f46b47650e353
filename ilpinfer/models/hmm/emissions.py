"""Emissions of a hidden Markov model: P(word | label), for words of the training data and for unknown words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from ilpinfer.models import plain_values
from ilpinfer.models.hmm.smoothing import Smoothing, read_smoothing, smooth
from ilpinfer.models.hmm.vocabulary import CLASSES, UNSEEN, WordClasses, named_place, named_word

_HALF = Smoothing("additive", 0.5)
_FINER = Smoothing("witten-bell")


def words_of(
    texts: Sequence[Sequence[str]], vocabulary: WordClasses
) -> tuple[tuple[str, ...], list[Integers]]:
    """The distinct words of texts, sorted, and the index of each token's word (T,)."""
    read = [[vocabulary.word(token) for token in text] for text in texts]
    words = tuple(sorted({word for text in read for word in text}))
    row = {word: i for i, word in enumerate(words)}
    return words, [np.array([row[word] for word in text], np.int64) for text in read]


@dataclass(frozen=True, eq=False)
class Emissions:
    """P(w | k), smoothed with the back-off P(class of w | k)·P(w | its class) and, in between, keys that refine the class.

    Words of a class share its probability in proportion to their counts plus one; one unseen word has count 0. The probabilities of
    all words and of one unseen word for each place add up to 1 for each label.
    """

    words: tuple[str, ...]
    counts: Floats  # (V, K)
    smoothing: Smoothing
    vocabulary: WordClasses

    @classmethod
    def count(
        cls,
        texts: Sequence[Sequence[str]],
        labels: Sequence[Integers],
        K: int,
        smoothing: Smoothing,
        vocabulary: WordClasses,
    ) -> "Emissions":
        words, rows = words_of(texts, vocabulary)
        counts = np.zeros((len(words), K))
        np.add.at(counts, (np.concatenate(rows), np.concatenate(labels)), 1)
        return cls(words, counts, smoothing, vocabulary)

    def __repr__(self) -> str:
        return f"Emissions({counted(len(self.words), 'word')}, {self.smoothing.method}, {self.vocabulary.by})"

    def rows(self, tokens: Sequence[str]) -> Integers:
        return np.array([self._row(self.vocabulary.word(token)) for token in tokens], np.int64)

    def scores(self, tokens: Sequence[str]) -> Floats:
        """(T, K) log P(token | label), nats."""
        return self.log_probabilities[self.rows(tokens)]

    @cached_property
    def log_probabilities(self) -> Floats:
        """(V + U, K) nats: the words, then an unseen word for each place of the ladder, finest first."""
        probabilities = self._coarsest()
        for depth in range(1, len(self._places)):
            place, parents = self._places[depth], self._places[depth - 1]
            counts = np.zeros((len(place), self.counts.shape[1]))
            np.add.at(counts, self._place_of_word[depth], self._type_counts)
            different = np.bincount(self._place_of_word[depth], minlength=len(place)).astype(float)
            parent = np.array([parents[keys[:-1]] for keys in place])
            probabilities = _refine(probabilities, parent, different, counts, _FINER)
        often = self.counts.sum(axis=1) if self._places else np.zeros(len(self.words))
        parent = self._place_of_word[-1] if self._places else np.zeros(len(self.words), np.int64)
        with np.errstate(divide="ignore"):
            return np.log(_refine(probabilities, parent, often, self.counts, self.smoothing))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the rows of `log_probabilities`, as in `Vocabulary.attributes`."""
        unseen = [named_place(keys) for places in reversed(self._places) for keys in places] or [UNSEEN]
        return (*map(named_word, self.words), *unseen)

    def body(self) -> dict[str, Any]:
        return {
            "smoothing": [self.smoothing.method, self.smoothing.amount],
            "vocabulary": vars(self.vocabulary),
            "words": {
                word: {str(k): float(row[k]) for k in np.flatnonzero(row)}
                for word, row in zip(self.words, self.counts, strict=True)
            },
        }

    @classmethod
    def from_body(cls, body: dict[str, Any], K: int) -> "Emissions":
        plain_values.table(body, ("smoothing", "vocabulary", "words"), "emissions")
        vocabulary = WordClasses.from_body(body["vocabulary"])
        words = body["words"]
        if not isinstance(words, dict) or not words:
            raise ValueError("words: expected an object with at least one word")
        plain_values.check_room("words", len(words), K)
        columns = {str(k): k for k in range(K)}
        counts = np.zeros((len(words), K))
        for row, (word, seen) in enumerate(words.items()):
            what = f"words: {word!r:.60}"
            if not isinstance(seen, dict) or not seen.keys() <= columns.keys():
                raise ValueError(f"{what}: expected an object of counts, by numbers of labels below {K}")
            for label, count in seen.items():
                counts[row, columns[label]] = plain_values.count(count, what)
        return cls(
            tuple(words), counts, read_smoothing(body["smoothing"], "emissions: smoothing"), vocabulary
        )

    def _coarsest(self) -> Floats:
        """(C, K) P(class | label); (1, K) ones without classes."""
        if not self._places:
            return np.ones((1, self.counts.shape[1]))
        types = np.zeros((len(CLASSES), self.counts.shape[1]))
        np.add.at(types, self._place_of_word[0], self._type_counts)
        return smooth([types.T], np.full(len(CLASSES), 1 / len(CLASSES)), _HALF).T

    @cached_property
    def _type_counts(self) -> Floats:
        """(V, K) what each word adds to the counts of its class: its own counts up to 1, or only those of singletons."""
        if self.vocabulary.singletons:
            return np.where(np.round(self.counts.sum(axis=1, keepdims=True)) <= 1, self.counts, 0)
        return np.minimum(self.counts, 1.0)

    @cached_property
    def _places(self) -> list[dict[tuple[str, ...], int]]:
        """Numbered places of the ladder at each depth: the classes, then the finer keys in the training data."""
        ladders = [self.vocabulary.ladder(word) for word in self.words]
        depths = [dict.fromkeys(keys[:depth] for keys in ladders) for depth in range(1, len(ladders[0]) + 1)]
        if depths:
            depths[0] = dict.fromkeys((name,) for name, _ in CLASSES)
        return [{keys: i for i, keys in enumerate(depth)} for depth in depths]

    @cached_property
    def _place_of_word(self) -> list[Integers]:
        ladders = [self.vocabulary.ladder(word) for word in self.words]
        return [
            np.array([place[keys[: depth + 1]] for keys in ladders], np.int64)
            for depth, place in enumerate(self._places)
        ]

    @cached_property
    def _word_row(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def _row(self, word: str) -> int:
        if word in self._word_row:
            return self._word_row[word]
        row, keys = 0, self.vocabulary.ladder(word)
        for depth, place in enumerate(self._places):
            row = place.get(keys[: depth + 1], len(place) + row)
        return len(self.words) + row


def _refine(coarse: Floats, parent: Integers, size: Floats, counts: Floats, by: Smoothing) -> Floats:
    """Probabilities of n finer outcomes, then of an unseen outcome in each of R coarser outcomes."""
    places = len(coarse)
    total = np.bincount(parent, size + 1, minlength=places) + 1
    share = np.concatenate([(size + 1) / total[parent], 1 / total])
    lower = coarse[np.concatenate([parent, np.arange(places)])] * share[:, None]
    return smooth([np.concatenate([counts, np.zeros_like(coarse)]).T], lower.T, by).T
