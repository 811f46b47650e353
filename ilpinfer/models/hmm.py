"""A first-order hidden Markov model, counted from labelled sequences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats
from formulations.problem.token_scores import TokenScores
from ilpinfer.models import plain
from ilpinfer.models.counting import encode
from ilpinfer.models.emissions import Emissions
from ilpinfer.models.files import save_body
from ilpinfer.models.smoothing import Smoothing, named, smooth
from ilpinfer.models.words import Vocabulary, vocabulary_named

KEYS = ("labels", "scheme", "smoothing", "start", "end", "transitions", "emissions")
"""What a model file holds."""
TENTH = Smoothing("additive", 0.1)


@dataclass(frozen=True)
class Parameters:
    """Log probabilities in nats (Stokman 2011, section 3.1: π and A).

    Parameters
    ----------
    start : (K,) log P(first label)
    transitions : (K, K) log P(next | now) [now, next]
    end : (K,) log P(END | last), or None where the model has no end
    """

    start: Floats
    transitions: Floats
    end: Floats | None


@dataclass(frozen=True, eq=False)
class HMM:
    """P(y) P(x | y) of smoothed counts (Stokman 2011, eq. 3-5 and 45-46).

    Parameters
    ----------
    labels : K labels; begin and inside are states of their own where the labels are BIO
    start : (K,) counts of first labels
    end : (K,) counts of last labels, one more outcome of each transition; None for a model without an end, as the
        thesis's
    transitions : (K, K) counts [from, to]
    emissions : counts of words, with their smoothing
    smoothing : of start and transitions. Shorter contexts are the next label alone, and then all labels alike
    """

    labels: LabelSet
    start: Floats
    end: Floats | None
    transitions: Floats
    emissions: Emissions
    smoothing: Smoothing = TENTH

    FORMAT: ClassVar = "ilpinfer-hmm"
    VERSION: ClassVar = 2

    @classmethod
    def train(
        cls,
        sequences: Iterable[tuple[Sequence[str], Sequence[str]]],
        *,
        scheme: str = "",
        labels: Sequence[str] | None = None,
        emissions: Smoothing | str = "witten-bell",
        transitions: Smoothing | str = TENTH,
        vocabulary: Vocabulary | str = "classes",
        ends: bool = True,
    ) -> "HMM":
        """Count tokens and labels of labelled sequences.

        Parameters
        ----------
        sequences : tokens and as many labels
        scheme, labels : as in `counting.encode`
        emissions, transitions : how counts become probabilities, a `Smoothing` or the name of one
        vocabulary : which tokens are one word, and what words lean on: a `Vocabulary`, or what it goes `by`
        ends : whether the end of a sequence is an outcome of its last label

        Raises
        ------
        ValueError
            for sequences that cannot be counted (`counting.encode`), and names that do not exist.
        """
        label_set, texts, ids = encode(sequences, scheme, labels)
        K = len(label_set)
        start, end, counts = np.zeros(K), np.zeros(K), np.zeros((K, K))
        for y in ids:
            start[y[0]] += 1
            end[y[-1]] += 1
            np.add.at(counts, (y[:-1], y[1:]), 1)
        read = vocabulary_named(vocabulary)
        words = Emissions.count(texts, ids, K, named(emissions), read)
        return cls(label_set, start, end if ends else None, counts, words, named(transitions))

    @property
    def words(self) -> tuple[str, ...]:
        """V words that training has seen."""
        return self.emissions.words

    @cached_property
    def parameters(self) -> Parameters:
        """Log probabilities of start, transitions and end."""
        K = len(self.labels)
        counts = self.transitions
        if self.end is not None:
            counts = np.concatenate([counts, self.end[:, None]], axis=1)
        outcomes = counts.shape[1]
        with np.errstate(divide="ignore"):
            start = np.log(smooth([self.start], np.full(K, 1 / K), self.smoothing))
            leaving = np.log(
                smooth([counts, counts.sum(axis=0)], np.full(outcomes, 1 / outcomes), self.smoothing)
            )
        return Parameters(start, leaving[:, :K], None if self.end is None else leaving[:, K])

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Joint log probabilities of tokens and labels, in nats; ValueError where there is no token."""
        if not tokens:
            raise ValueError("an empty sequence has no labelling: expected at least one token")
        return self.token_scores.trellis(tokens)

    @cached_property
    def token_scores(self) -> TokenScores:
        """The same for single tokens."""
        p = self.parameters
        return TokenScores(self.labels, self.emissions.scores, p.transitions, p.start, p.end)

    @property
    def size(self) -> str:
        """How much it holds."""
        return f"{len(self.words)} words"

    def save(self, path: str | Path) -> None:
        """Write the counts as JSON, whole or not at all."""
        body = {
            "labels": list(self.labels.names),
            "scheme": self.labels.scheme,
            "smoothing": [self.smoothing.method, self.smoothing.amount],
            "start": self.start.tolist(),
            "end": None if self.end is None else self.end.tolist(),
            "transitions": self.transitions.tolist(),
            "emissions": self.emissions.body(),
        }
        save_body(path, self.FORMAT, self.VERSION, body)

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> "HMM":
        """From the plain values that `save` has written; ValueError for others."""
        plain.table(body, KEYS, "the model")
        labels = plain.label_set(body)
        K = len(labels)
        return cls(
            labels,
            plain.counts(body["start"], (K,), "start"),
            None if body["end"] is None else plain.counts(body["end"], (K,), "end"),
            plain.counts(body["transitions"], (K, K), "transitions"),
            Emissions.from_body(body["emissions"], K),
            plain.smoothing(body["smoothing"], "smoothing"),
        )
