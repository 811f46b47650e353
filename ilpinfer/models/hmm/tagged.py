"""A hidden Markov model whose states are a label and a tag, such as a part of speech."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.messages import suggestion
from ilpinfer.models.hmm.first_order import HMM
from ilpinfer.models.sequences import encode

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
                raise ValueError(f"sequence {number} has {len(tags)} tags for {len(tokens)} tokens")
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
                f"{len(tags)} tags are given for {len(tokens)} tokens; expected one for each, and a token"
            )
        K, G = len(self.labels), len(self.tags)
        states = np.array([self._tag(tag, t) for t, tag in enumerate(tags)])[:, None] + G * np.arange(K)
        p = self.joint.parameters
        scores = np.take_along_axis(self.joint.emissions.scores(tokens), states, axis=1)
        if p.end is not None:
            scores[-1] += p.end[states[-1]]
        edges = p.transitions[states[:-1, :, None], states[1:, None]] + scores[1:, None]
        return Trellis(p.start[states[0]] + scores[0], edges, self.labels, tokens)

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
