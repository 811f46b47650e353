"""First-order hidden Markov models, counted from labelled sequences."""

from collections.abc import Sequence
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


@dataclass(frozen=True)
class ChainParameters:
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
        Counts of last labels, an additional outcome of each transition; None for a model without an end, as in the thesis.
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
    TRANSITIONS: ClassVar[Smoothing] = TENTH

    @staticmethod
    def shape(K: int) -> tuple[int, ...]:
        return K, K

    @staticmethod
    def steps(ids: Integers) -> tuple[Integers, ...]:
        return ids[:-1], ids[1:]

    @cached_property
    def parameters(self) -> ChainParameters:
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
        return ChainParameters(start, leaving[:, :K], None if self.end is None else leaving[:, K])

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        return self.token_scores.trellis(tokens)

    @cached_property
    def token_scores(self) -> TokenScores:
        """The scores of `trellis` by token."""
        p = self.parameters
        return TokenScores(self.labels, self.emissions.scores, p.transitions, p.start, p.end)

    def _transitions_body(self) -> list[Any]:
        return list(self.transitions.tolist())

    @classmethod
    def _read_transitions(cls, value: Any, K: int) -> Floats:
        return plain_values.counts(value, (K, K), "transitions")
