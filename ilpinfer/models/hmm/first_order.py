"""First-order hidden Markov models, counted from labelled sequences; states are labels, or a label and a tag."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats, Integers
from formulations.messages import counted, suggestion
from formulations.problem.token_scores import TokenScores
from ilpinfer.models import plain_values
from ilpinfer.models.hmm.model import TENTH, CountedHMM
from ilpinfer.models.hmm.smoothing import Smoothing, smooth
from ilpinfer.models.sequences import encode


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
        """The scores of `trellis` for single tokens."""
        p = self.parameters
        return TokenScores(self.labels, self.emissions.scores, p.transitions, p.start, p.end)

    def _transitions_body(self) -> list[Any]:
        return list(self.transitions.tolist())

    @classmethod
    def _read_transitions(cls, value: Any, K: int) -> Floats:
        return plain_values.counts(value, (K, K), "transitions")


BETWEEN = "|"


@dataclass(frozen=True, eq=False)
class TaggedHMM:
    """An HMM of label and tag, such as a part of speech, together (Stokman 2011, section 3.1)."""

    labels: LabelSet
    tags: tuple[str, ...]
    joint: HMM

    @classmethod
    def train(
        cls,
        sequences: Iterable[tuple[Sequence[str], Sequence[str], Sequence[str]]],
        *,
        scheme: str = "",
        **options: Any,
    ) -> "TaggedHMM":
        triples = [tuple(map(tuple, sequence)) for sequence in sequences]
        for number, (tokens, _, tags) in enumerate(triples):
            if len(tags) != len(tokens):
                raise ValueError(
                    f"sequence {number} has {counted(len(tags), 'tag')} for {counted(len(tokens), 'token')}"
                )
        labels, _, _ = encode([(tokens, names) for tokens, names, _ in triples], scheme)
        known = tuple(sorted({tag for _, _, tags in triples for tag in tags}))
        pairs = [f"{label}{BETWEEN}{tag}" for label in labels.names for tag in known]
        texts = [
            (tokens, [f"{label}{BETWEEN}{tag}" for label, tag in zip(names, tags, strict=True)])
            for tokens, names, tags in triples
        ]
        return cls(labels, known, HMM.train(texts, scheme="plain", labels=pairs, **options))

    def trellis(self, tokens: Sequence[str], tags: Sequence[str]) -> Trellis:
        """Log P(tokens, tags, labels) of each labelling, nats, where the tags are known; exact, and first-order."""
        if not tokens or len(tags) != len(tokens):
            raise ValueError(
                f"{counted(len(tags), 'tag')} for {counted(len(tokens), 'token')}; expected one for each, and a token"
            )
        K, G = len(self.labels), len(self.tags)
        states = np.array([self._tag(tag, t) for t, tag in enumerate(tags)])[:, None] + G * np.arange(K)
        p = self.joint.parameters
        scores = np.take_along_axis(self.joint.emissions.scores(tokens), states, axis=1)
        if p.end is not None:
            scores[-1] += p.end[states[-1]]
        edges = p.transitions[states[:-1, :, None], states[1:, None]] + scores[1:, None]
        return Trellis(p.start[states[0]] + scores[0], edges, self.labels, tokens=tokens)

    def joint_trellis(self, tokens: Sequence[str]) -> Trellis:
        """Log P(tokens, labels, tags) on plain labels `label|tag`, nats; rules on a label name its `group`."""
        return self.joint.trellis(tokens)

    def group(self, label: str) -> list[str]:
        """The pairs of a label, as rules on `joint_trellis` name it; ValueError for another label."""
        (k,) = self.labels.ids([label])
        G = len(self.tags)
        return list(self.joint.labels.names[k * G : (k + 1) * G])

    def split(self, pairs: Iterable[str]) -> tuple[list[str], list[str]]:
        result = self.joint.labels.ids(pairs)
        labels, tags = np.divmod(result, len(self.tags))
        return [self.labels.names[k] for k in labels], [self.tags[g] for g in tags]

    @cached_property
    def _index(self) -> dict[str, int]:
        return {tag: g for g, tag in enumerate(self.tags)}

    def _tag(self, tag: str, position: int) -> int:
        if tag not in self._index:
            raise ValueError(
                f"token {position}: training has no tag {tag!r}{suggestion(str(tag), self.tags)}"
            )
        return self._index[tag]
