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
from ilpinfer.models.hmm.model import TENTH, CountedHMM, check_tokens
from ilpinfer.models.hmm.smoothing import Smoothing, smooth
from ilpinfer.models.hmm.vocabulary import Vocabulary


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


@dataclass(frozen=True, eq=False, repr=False)
class HMM(CountedHMM):
    """P(y) P(x | y) of smoothed counts (Stokman 2011, eq. 3-5 and 45-46).

    Parameters
    ----------
    labels, start, emissions, smoothing : as in `CountedHMM`
    end : (K,) counts of last labels, one more outcome of each transition; None for a model without an end, as the
        thesis's
    transitions : (K, K) counts [from, to]
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
        sequences : tokens and as many labels
        scheme, labels : as in `ilpinfer.models.sequences.encode`
        emissions, transitions : how counts become probabilities, a `Smoothing` or the name of one
        vocabulary : which tokens are one word, and what words lean on: a `Vocabulary`, or what it goes `by`
        ends : whether the end of a sequence is an outcome of its last label

        Raises
        ------
        ValueError
            for sequences that cannot be counted (`ilpinfer.models.sequences.encode`), and names that do not exist.

        Examples
        --------
        >>> hmm = HMM.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
        >>> hmm.trellis(["Grace", "1906"]).labels.names
        ('name', 'year')
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
        check_tokens(tokens)
        return self.token_scores.trellis(tokens)

    @cached_property
    def token_scores(self) -> TokenScores:
        """The same for single tokens."""
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
