"""The common base of hidden Markov models of first and second order: counts, files and words."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.arguments import whole
from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from ilpinfer.models import plain_values
from ilpinfer.models.files import ModelFile
from ilpinfer.models.hmm.emissions import Emissions, words_of
from ilpinfer.models.hmm.smoothing import Smoothing, as_smoothing, read_smoothing
from ilpinfer.models.hmm.unknown_labels import Weighted, maximised
from ilpinfer.models.hmm.vocabulary import WordClasses, as_vocabulary
from ilpinfer.models.sequences import UNKNOWN, PartlyLabelled, encode

KEYS = ("labels", "scheme", "smoothing", "start", "end", "transitions", "emissions")
"""The keys of a model file."""
TENTH = Smoothing("additive", 0.1)


@dataclass(frozen=True, eq=False)
class CountedHMM(ModelFile):
    """P(y) P(x | y) of smoothed counts; `HMM` and `SecondOrderHMM` define the transitions."""

    labels: LabelSet
    _: KW_ONLY
    start: Floats  # (K,)
    end: Floats | None  # (K,)
    transitions: Floats
    emissions: Emissions
    smoothing: Smoothing = TENTH

    TRANSITIONS: ClassVar[Smoothing]

    @classmethod
    def train(
        cls,
        sequences: Iterable[PartlyLabelled],
        *,
        scheme: str = "",
        labels: Sequence[str] | None = None,
        emissions: Smoothing | str = "witten-bell",
        transitions: Smoothing | str | None = None,
        vocabulary: WordClasses | str = "classes",
        ends: bool = True,
        iterations: int = 3,
    ) -> Self:
        """Count tokens and labels of labelled sequences.

        None is an unknown label. Unknown labels have expected counts under the previous model, given the known labels
        (expectation-maximisation; Dempster, Laird, Rubin 1977). The first model counts known labels only.

        Parameters
        ----------
        sequences : iterable of tuple of (sequence of str, sequence of str or None)
            Tokens and their labels.
        scheme, labels : str or sequence of str, optional
            Scheme and names of the labels; see `ilpinfer.models.sequences.encode`.
        emissions, transitions : Smoothing or str, optional
            Smoothing methods or their names. By default, transitions have 0.1 added to each
            count; for second order, they are smoothed by Witten-Bell.
        vocabulary : Vocabulary or str, default "classes"
            Grouping of tokens into words; a `WordClasses`, or its parameter `by`.
        ends : bool, default True
            Whether the end of the sequence is an outcome of its last label; always true for second order.
        iterations : int, default 3
            Largest number of iterations if labels are unknown. Iterations stop when the mean log-likelihood of a token, in
            sequences with unknown labels, gains less than 0.0001 nats. More iterations raise the likelihood, but often lower the
            accuracy (Merialdo 1994).

        Returns
        -------
        CountedHMM
            The model.

        Raises
        ------
        ValueError
            For sequences that cannot be counted (`ilpinfer.models.sequences.encode`), and unknown names of
            smoothings.

        Examples
        --------
        >>> from ilpinfer.models.hmm import HMM
        >>> hmm = HMM.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", None])])
        >>> hmm.transitions.round(2).tolist()
        [[0.0, 2.0], [0.0, 0.0]]
        """
        label_set, texts, ids = encode(sequences, scheme, labels, partly=True)
        whole(iterations, "iterations", 0)
        K = len(label_set)
        smoothing = cls.TRANSITIONS if transitions is None else as_smoothing(transitions)
        if any((y == UNKNOWN).any() for y in ids):
            words, rows = words_of(texts, as_vocabulary(vocabulary))
            empty = Emissions(words, np.zeros((0, 0)), as_smoothing(emissions), as_vocabulary(vocabulary))
            return maximised(
                lambda weighted: of_weights(cls, label_set, empty, weighted, smoothing, ends=ends),
                cls,
                texts,
                rows,
                ids,
                K,
                iterations,
            )
        start, end, counts = np.zeros(K), np.zeros(K), np.zeros(cls.shape(K))
        for y in ids:
            start[y[0]] += 1
            end[y[-1]] += 1
            np.add.at(counts, cls.steps(y), 1)
        counted_words = Emissions.count(texts, ids, K, as_smoothing(emissions), as_vocabulary(vocabulary))
        return cls(
            label_set,
            start=start,
            end=end if ends else None,
            transitions=counts,
            emissions=counted_words,
            smoothing=smoothing,
        )

    @staticmethod
    @abstractmethod
    def shape(K: int) -> tuple[int, ...]:
        """Shape of the table of transition counts.

        Parameters
        ----------
        K : int
            Number of labels.

        Returns
        -------
        tuple of int
            (K, K), or (K+1, K, K) for second order.
        """

    @staticmethod
    @abstractmethod
    def steps(ids: Integers) -> tuple[Integers, ...]:
        """Index arrays of the steps of a labelling in the table of transition counts.

        Parameters
        ----------
        ids : ndarray of int, shape (T,)
            Label ids.

        Returns
        -------
        tuple of ndarray of int
            T-1 labels on each axis of the table.
        """

    @abstractmethod
    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Joint log probabilities of tokens and labels, in nats.

        Parameters
        ----------
        tokens : sequence of str
            T texts.

        Returns
        -------
        Trellis
            The trellis, with emissions and transitions stored apart.
        """

    @abstractmethod
    def _transitions_body(self) -> list[Any]: ...
    @classmethod
    @abstractmethod
    def _read_transitions(cls, value: Any, K: int) -> Floats: ...
    @property
    def words(self) -> tuple[str, ...]:
        """Words of the training data."""
        return self.emissions.words

    @property
    def size(self) -> str:
        """Such as `120 words`."""
        return counted(len(self.words), "word")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self.labels), 'label')}, {self.labels.notation}, {self.size})"

    def body(self) -> dict[str, Any]:
        return {
            "labels": list(self.labels.names),
            "scheme": self.labels.notation,
            "smoothing": [self.smoothing.method, self.smoothing.amount],
            "start": self.start.tolist(),
            "end": None if self.end is None else self.end.tolist(),
            "transitions": self._transitions_body(),
            "emissions": self.emissions.body(),
        }

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        plain_values.table(body, KEYS, "the model")
        labels = plain_values.label_set(body)
        K = len(labels)
        return cls(
            labels,
            start=plain_values.counts(body["start"], (K,), "start"),
            end=None if body["end"] is None else plain_values.counts(body["end"], (K,), "end"),
            transitions=cls._read_transitions(body["transitions"], K),
            emissions=Emissions.from_body(body["emissions"], K),
            smoothing=read_smoothing(body["smoothing"], "smoothing"),
        )


Counted = TypeVar("Counted", bound=CountedHMM)


def of_weights(
    kind: type[Counted],
    labels: LabelSet,
    words: Emissions,
    weighted: Iterable[Weighted],
    smoothing: Smoothing,
    *,
    ends: bool = True,
) -> Counted:
    """The model of weighted counts: for each sequence words (T,), weights of labels (T, K), and of steps. Counts in `words` are replaced."""
    K = len(labels)
    start, end, transitions = np.zeros(K), np.zeros(K), np.zeros(kind.shape(K))
    counts = np.zeros((len(words.words), K))
    for rows, nodes, steps in weighted:
        start += nodes[0]
        end += nodes[-1]
        transitions += steps
        np.add.at(counts, rows, nodes)
    return kind(
        labels,
        start=start,
        end=end if ends else None,
        transitions=transitions,
        emissions=replace(words, counts=counts),
        smoothing=smoothing,
    )
