"""A second-order hidden Markov model, on the exact pair trellis, and the thesis's estimates around one labelling."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.arguments import one_of, whole
from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from formulations.problem.token_scores import empty_trellis
from ilpinfer.models import plain_values
from ilpinfer.models.hmm.model import CountedHMM
from ilpinfer.models.hmm.smoothing import Smoothing, smooth

READINGS = ("printed", "first-order")
"""Two readings of eq. 48, for `SecondOrderHMM.estimate`."""


@dataclass(frozen=True)
class PairParameters:
    start: Floats  # (K,)
    transitions: Floats  # (K+1, K, K)
    stay: Floats  # (K,)
    end: Floats  # (K,)

    def trellis(self, scores: Floats, labels: LabelSet, tokens: Sequence[str]) -> Trellis:
        """The trellis on pairs of labels, from the (T, K) scores of tokens."""
        steps = self.transitions + self.stay[:, None]
        first = steps[0] if len(tokens) > 1 else None
        return Trellis.from_emissions(
            scores, steps[1:], start=self.start, end=self.end, labels=labels, tokens=tokens, first=first
        )


@dataclass(frozen=True, eq=False, repr=False)
class SecondOrderHMM(CountedHMM):
    """A hidden Markov model of second order (Stokman 2011, section 4.1; Brants 2000).

    It scores P(y) P(x | y), nats, where each label depends on the two labels before it. A sequence ends with a probability
    that depends on its last label only. The probabilities of all sequences therefore add up to 1. Parameters as for `HMM`, but
    `end` is never None.

    Parameters
    ----------
    transitions : ndarray of float, shape (K+1, K, K)
        Counts [before, now, next]; before is START in row 0.

    Examples
    --------
    >>> hmm = SecondOrderHMM.train([(["Ada", "K", "1815"], ["name", "name", "year"])])
    >>> hmm.trellis(["Alan", "M", "1912"]).order
    2
    """

    FORMAT: ClassVar[str] = "ilpinfer-hmm2"
    VERSION: ClassVar[int] = 1
    TRANSITIONS: ClassVar[Smoothing] = Smoothing("witten-bell")

    def __post_init__(self) -> None:
        if self.end is None:
            raise ValueError("end is None; a model of second order counts last labels")

    @staticmethod
    def shape(K: int) -> tuple[int, ...]:
        return K + 1, K, K

    @staticmethod
    def steps(ids: Integers) -> tuple[Integers, ...]:
        return np.append(0, ids[:-2] + 1)[: len(ids) - 1], ids[:-1], ids[1:]

    @cached_property
    def parameters(self) -> PairParameters:
        assert self.end is not None
        K = len(self.labels)
        pairs = self.transitions.sum(axis=0)
        ending = np.stack([pairs.sum(axis=1), self.end], axis=1)
        uniform = np.full(K, 1 / K)
        with np.errstate(divide="ignore"):
            start = np.log(smooth([self.start], uniform, self.smoothing))
            levels = [self.transitions, pairs, pairs.sum(axis=0)]
            transitions = np.log(smooth(levels, uniform, self.smoothing))
            stay, end = np.log(smooth([ending, ending.sum(axis=0)], np.full(2, 0.5), self.smoothing)).T
        return PairParameters(start, transitions, stay, end)

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        if not len(tokens):
            return empty_trellis(self.labels)
        return self.parameters.trellis(self.emissions.scores(tokens), self.labels, tokens)

    def estimate(self, tokens: Sequence[str], around: Sequence[object], reading: str) -> Trellis:
        """A first-order trellis with earlier labels fixed to a labelling ŷ (Stokman 2011, eq. 47-48).

        - printed: P(y_t | ŷ_{t-1}, ŷ_{t-2}) P(x_t | y_t), eq. 48 as printed: it scores single tokens
        - first-order: P(y_t | y_{t-1}, ŷ_{t-2}) P(x_t | y_t), eq. 48 corrected to score edges

        Labels before the first token are START; the end is scored as in `trellis`. The score of ŷ is
        exact under both.

        Parameters
        ----------
        tokens : sequence of str
            T tokens.
        around : sequence of object
            T labels ŷ, names or ids, such as the model's own best.
        reading : str
            A name from `READINGS`.

        Returns
        -------
        Trellis
            A first-order trellis.

        Raises
        ------
        ValueError
            For another reading, and labels that do not fit.
        """
        one_of(reading, "reading", READINGS)
        scores, p = self.emissions.scores(tokens), self.parameters
        best = self.labels.ids(around)
        T, K = scores.shape
        if len(best) != T:
            raise ValueError(f"the labelling has {counted(len(best), 'label')} for {counted(T, 'token')}")
        if not T:
            return empty_trellis(self.labels)
        steps = (p.transitions + p.stay[:, None])[np.append(0, best[:-2] + 1)[: T - 1]]
        if reading == "printed":
            steps = np.repeat(steps[np.arange(T - 1), best[:-1]][:, None], K, axis=1)
        edges = steps + scores[1:, None]
        start = p.start + scores[0]
        if T > 1:
            edges[-1] += p.end
        return Trellis(start if T > 1 else start + p.end, edges, self.labels, tokens=tokens)

    def _transitions_body(self) -> list[Any]:
        places = np.argwhere(self.transitions > 0).tolist()
        return [[*place, float(self.transitions[tuple(place)])] for place in places]

    @classmethod
    def _read_transitions(cls, value: Any, K: int) -> Floats:
        """(K+1, K, K) counts of a list of [before, now, next, count]."""
        plain_values.check_room("transitions", K + 1, K, K)
        transitions = np.zeros((K + 1, K, K))
        if not isinstance(value, list):
            raise ValueError("transitions: expected a list of [before, now, next, count]")
        for number, entry in enumerate(value):
            what = f"transitions[{number}]"
            if not isinstance(entry, list) or len(entry) != 4:
                raise ValueError(f"{what}: expected [before, now, next, count]")
            at = tuple(
                whole(k, what, 0, size - 1, plain_values.kind_of)
                for k, size in zip(entry[:3], transitions.shape, strict=True)
            )
            transitions[at] = plain_values.count(entry[3], what)
        return transitions
