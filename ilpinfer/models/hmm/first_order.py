"""A first-order hidden Markov model, counted from labelled sequences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from formulations import Trellis
from formulations.dtypes import Floats, Integers
from formulations.problem.token_scores import TokenScores
from ilpinfer.models import plain_values
from ilpinfer.models.hmm.model import TENTH, CountedHMM
from ilpinfer.models.hmm.smoothing import Smoothing, smooth
from ilpinfer.models.hmm.vocabulary import Vocabulary


@dataclass(frozen=True)
class Parameters:
    """Log probabilities in nats (Stokman 2011, section 3.1: π and A)."""

    start: Floats  # (K,)
    transitions: Floats  # (K, K)
    end: Floats | None  # (K,)


@dataclass(frozen=True, eq=False, repr=False)
class HMM(CountedHMM):
    """A hidden Markov model of first order with smoothed counts (Stokman 2011, eq. 3-5 and 45-46).

    It scores P(y) P(x | y), nats.

    Parameters
    ----------
    labels : LabelSet
        K labels.
    start : ndarray of float, shape (K,)
        Counts of first labels.
    end : ndarray of float, shape (K,), or None
        Counts of last labels, one more outcome of each transition; None for a model without an end, as in the
        thesis.
    transitions : ndarray of float, shape (K, K)
        Counts of steps [from, to].
    emissions : Emissions
        Counts of words and labels.
    smoothing : Smoothing
        Method that turns counts of transitions into probabilities.

    Examples
    --------
    >>> hmm = HMM.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> hmm.labels.names, hmm.transitions.tolist()
    (('name', 'year'), [[0.0, 2.0], [0.0, 0.0]])
    """

    FORMAT: ClassVar[str] = "ilpinfer-hmm"
    VERSION: ClassVar[int] = 2

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
        sequences : iterable of tuple of (sequence of str, sequence of str)
            Tokens and as many labels.
        scheme, labels : str or sequence of str, optional
            Scheme and names of the labels; see `ilpinfer.models.sequences.encode`.
        emissions, transitions : Smoothing or str, optional
            Smoothings, which turn counts into probabilities; a `Smoothing` or the name of one.
        vocabulary : Vocabulary or str, default "classes"
            Grouping of tokens into words; a `Vocabulary`, or its parameter `by`.
        ends : bool, default True
            Whether a sequence's end is an outcome of its last label.

        Returns
        -------
        HMM
            The model.

        Raises
        ------
        ValueError
            For sequences that cannot be counted (`ilpinfer.models.sequences.encode`), and unknown names of
            smoothings.
        """
        return cls._count(sequences, scheme, labels, emissions, transitions, vocabulary, ends)

    @staticmethod
    def shape(K: int) -> tuple[int, ...]:
        return K, K

    @staticmethod
    def steps(ids: Integers) -> tuple[Integers, ...]:
        return ids[:-1], ids[1:]

    @cached_property
    def parameters(self) -> Parameters:
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
        return self.token_scores.trellis(tokens)

    @cached_property
    def token_scores(self) -> TokenScores:
        """The scores of `trellis` for single tokens."""
        p = self.parameters
        return TokenScores(self.labels, self.emissions.scores, p.transitions, p.start, p.end)

    def _transitions_body(self) -> list[Any]:
        return list(self.transitions.tolist())

    @classmethod
    def _read_transitions(cls, value: Any, K: int) -> Floats:
        return plain_values.counts(value, (K, K), "transitions")

    @classmethod
    def _read_end(cls, value: Any, K: int) -> Floats | None:
        return None if value is None else super()._read_end(value, K)
