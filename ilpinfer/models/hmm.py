"""A first-order hidden Markov model, counted from labelled sequences."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet, Trellis
from ilpinfer.models.files import save_body

CLASSES: tuple[tuple[str, str], ...] = (
    ("year", r"(19|20)\d\d"),
    ("digit", r"\d"),
    ("digits-2", r"\d\d"),
    ("digits-3", r"\d{3}"),
    ("digits", r"\d+"),
    ("number-like", r"[^A-Za-z]*\d[^A-Za-z]*"),
    ("with-digit", r".*\d.*"),
    ("punctuation", r"[^\w\s]+|_+"),
    ("initial", r"[A-Z]"),
    ("capitals", r"[A-Z]+"),
    ("capitalised", r"[A-Z].*"),
    ("lower", r"[a-z]+"),
    ("other", r".*"),
)
"""Token classes, the first that matches; they stand in for words that training has not seen."""

_PATTERNS = [re.compile(pattern, re.DOTALL) for _, pattern in CLASSES]


def token_class(token: str) -> int:
    """Index into CLASSES."""
    return next(c for c, pattern in enumerate(_PATTERNS) if pattern.fullmatch(token))


@dataclass(frozen=True)
class HMM:
    """P(y) P(x | y) with smoothed counts (Stokman 2011, eq. 3-5 and 45-46).

    P(w | k) = (c(w, k) + n(k)·P(class of w | k)·P(w | its class)) / (c(k) + n(k)), where n(k) is one more than the
    number of different words that label k has had (Witten and Bell 1991): a seen word leans on its class where
    counts are few, and an unseen one, numbers among them, has nothing else. Classes are counted by different
    words. P(next | now), P(first | START) and P(END | last) are counts plus `smoothing`.

    Parameters
    ----------
    labels : K labels
    start, end : (K,) counts of first and last labels
    transitions : (K, K) counts [from, to]
    words : V words
    emissions : (V, K) counts
    smoothing : added to each transition count
    """

    labels: LabelSet
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    transitions: NDArray[np.float64]
    words: tuple[str, ...]
    emissions: NDArray[np.float64]
    smoothing: float = 0.1

    FORMAT: ClassVar = "ilpinfer-hmm"
    VERSION: ClassVar = 1

    @classmethod
    def train(
        cls,
        sequences: Iterable[tuple[Sequence[str], Sequence[str]]],
        *,
        scheme: str = "",
        smoothing: float = 0.1,
    ) -> "HMM":
        """Count tokens and labels of labelled sequences; ValueError where there are none."""
        pairs = list(sequences)
        if not pairs:
            raise ValueError("no sequences to train on")
        names = sorted({label for _, labels in pairs for label in labels})
        words = sorted({token for tokens, _ in pairs for token in tokens})
        label_id, word_id = ({name: i for i, name in enumerate(x)} for x in (names, words))
        K = len(names)
        start, end, transitions = np.zeros(K), np.zeros(K), np.zeros((K, K))
        emissions = np.zeros((len(words), K))
        for tokens, labels in pairs:
            y = np.array([label_id[label] for label in labels])
            start[y[0]] += 1
            end[y[-1]] += 1
            np.add.at(transitions, (y[:-1], y[1:]), 1)
            np.add.at(emissions, (np.array([word_id[token] for token in tokens]), y), 1)
        label_set = LabelSet(tuple(names), scheme)
        return cls(label_set, start, end, transitions, tuple(words), emissions, smoothing)

    @cached_property
    def _scores(self) -> tuple[NDArray[np.float64], ...]:
        """Log probabilities: start (K,), transitions (K, K), end (K,), words and then classes (V + C, K)."""
        K, a = len(self.labels), self.smoothing
        start = (self.start + a) / (self.start.sum() + a * K)
        leaving = self.transitions.sum(axis=1) + self.end + a * (K + 1)
        transitions = (self.transitions + a) / leaving[:, None]
        end = (self.end + a) / leaving
        return np.log(start), np.log(transitions), np.log(end), np.log(self._emission())

    def _emission(self) -> NDArray[np.float64]:
        C, K = len(CLASSES), len(self.labels)
        class_of = np.array([token_class(word) for word in self.words], np.int64)
        types = np.zeros((C, K))
        np.add.at(types, class_of, (self.emissions > 0).astype(float))
        class_given_label = (types + 0.5) / (types.sum(axis=0) + 0.5 * C)
        seen, of_class = self.emissions.sum(axis=1), np.zeros(C)
        np.add.at(of_class, class_of, seen + 1)
        word_given_class = np.concatenate([(seen + 1) / (of_class + 1)[class_of], 1 / (of_class + 1)])
        counts = np.concatenate([self.emissions, np.zeros((C, K))])
        escape = types.sum(axis=0) + 1
        backoff = class_given_label[np.concatenate([class_of, np.arange(C)])] * word_given_class[:, None]
        return (counts + escape * backoff) / (self.emissions.sum(axis=0) + escape)

    @cached_property
    def _row(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Joint log probabilities of tokens and labels, in nats."""
        if not tokens:
            raise ValueError("an empty sequence has no labelling: expected at least one token")
        start, transitions, end, emission = self._scores
        V = len(self.words)
        rows = [self._row[t] if t in self._row else V + token_class(t) for t in tokens]
        return Trellis.from_emissions(emission[rows], transitions, start, end, self.labels, tokens)

    def save(self, path: str | Path) -> None:
        """Write the counts as JSON, whole or not at all."""
        body = {
            "labels": list(self.labels.names),
            "scheme": self.labels.scheme,
            "smoothing": self.smoothing,
            "start": self.start.tolist(),
            "end": self.end.tolist(),
            "transitions": self.transitions.tolist(),
            "words": {w: _sparse(row) for w, row in zip(self.words, self.emissions, strict=True)},
        }
        save_body(path, self.FORMAT, self.VERSION, body)

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> "HMM":
        """From the plain values that `save` has written."""
        K = len(body["labels"])
        emissions = np.zeros((len(body["words"]), K))
        for row, counts in enumerate(body["words"].values()):
            for label, count in counts.items():
                emissions[row, int(label)] = count
        return cls(
            LabelSet(tuple(body["labels"]), body["scheme"]),
            np.array(body["start"], float),
            np.array(body["end"], float),
            np.array(body["transitions"], float).reshape(K, K),
            tuple(body["words"]),
            emissions,
            body["smoothing"],
        )


def _sparse(row: NDArray[np.float64]) -> dict[str, float]:
    return {str(k): float(row[k]) for k in np.flatnonzero(row)}
