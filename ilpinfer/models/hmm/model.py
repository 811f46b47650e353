"""The common base of hidden Markov models of first and second order: counts, files and words."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats, Integers
from ilpinfer.models import plain_values
from ilpinfer.models.files import save_body
from ilpinfer.models.hmm.emissions import Emissions
from ilpinfer.models.hmm.smoothing import Smoothing, as_smoothing, read_smoothing
from ilpinfer.models.hmm.vocabulary import Vocabulary, as_vocabulary
from ilpinfer.models.sequences import encode

KEYS = ("labels", "scheme", "smoothing", "start", "end", "transitions", "emissions")
"""The keys of a model file."""
TENTH = Smoothing("additive", 0.1)


@dataclass(frozen=True, eq=False)
class CountedHMM(ABC):
    """P(y) P(x | y) of smoothed counts; `HMM` and `SecondOrderHMM` define the transitions."""

    labels: LabelSet
    start: Floats  # (K,)
    end: Floats | None  # (K,)
    transitions: Floats
    emissions: Emissions
    smoothing: Smoothing = TENTH

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]

    @classmethod
    def _count(
        cls,
        sequences: Iterable[tuple[Sequence[str], Sequence[str]]],
        scheme: str,
        labels: Sequence[str] | None,
        emissions: Smoothing | str,
        transitions: Smoothing | str,
        vocabulary: Vocabulary | str,
        ends: bool = True,
    ) -> Self:
        label_set, texts, ids = encode(sequences, scheme, labels)
        K = len(label_set)
        start, end, counts = np.zeros(K), np.zeros(K), np.zeros(cls.shape(K))
        for y in ids:
            start[y[0]] += 1
            end[y[-1]] += 1
            np.add.at(counts, cls.steps(y), 1)
        words = Emissions.count(texts, ids, K, as_smoothing(emissions), as_vocabulary(vocabulary))
        return cls(label_set, start, end if ends else None, counts, words, as_smoothing(transitions))

    @staticmethod
    @abstractmethod
    def shape(K: int) -> tuple[int, ...]:
        """The shape of `transitions`."""

    @staticmethod
    @abstractmethod
    def steps(ids: Integers) -> tuple[Integers, ...]:
        """The places in `transitions` of the T-1 steps of a labelling (T,)."""

    @abstractmethod
    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Joint log probabilities of tokens and labels, in nats; ValueError where there is no token."""

    @abstractmethod
    def _transitions_body(self) -> list[Any]:
        """The counts of transitions as plain values."""

    @classmethod
    @abstractmethod
    def _read_transitions(cls, value: Any, K: int) -> Floats:
        """The counts that `_transitions_body` has written; ValueError for other values."""

    @property
    def words(self) -> tuple[str, ...]:
        """V words that training has seen."""
        return self.emissions.words

    @property
    def size(self) -> str:
        """How much it holds."""
        return f"{len(self.words)} words"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.labels)} labels, {self.labels.scheme}, {self.size})"

    def save(self, path: str | Path) -> None:
        """Write the counts as JSON. The file appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        save_body(path, self.FORMAT, self.VERSION, self.body())

    def body(self) -> dict[str, Any]:
        """The counts as plain values.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        return {
            "labels": list(self.labels.names),
            "scheme": self.labels.scheme,
            "smoothing": [self.smoothing.method, self.smoothing.amount],
            "start": self.start.tolist(),
            "end": None if self.end is None else self.end.tolist(),
            "transitions": self._transitions_body(),
            "emissions": self.emissions.body(),
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """The model of the values that `body` returns.

        Parameters
        ----------
        body : dict of str to object
            The values.

        Returns
        -------
        CountedHMM
            The model.

        Raises
        ------
        ValueError
            For other values.
        """
        plain_values.table(body, KEYS, "the model")
        labels = plain_values.label_set(body)
        K = len(labels)
        return cls(
            labels,
            plain_values.counts(body["start"], (K,), "start"),
            cls._read_end(body["end"], K),
            cls._read_transitions(body["transitions"], K),
            Emissions.from_body(body["emissions"], K),
            read_smoothing(body["smoothing"], "smoothing"),
        )

    @classmethod
    def _read_end(cls, value: Any, K: int) -> Floats | None:
        return plain_values.counts(value, (K,), "end")
