"""Scores of single tokens and of steps that are independent of the sequence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from formulations.arguments import texts
from formulations.automata.lattice import Lattice
from formulations.caches import MOST_LABEL_SETS, Recent
from formulations.dtypes import Floats, Integers
from formulations.grid import Grid, snap_scores
from formulations.labels.label_set import LabelSet
from formulations.problem.score_arrays import with_ends
from formulations.problem.trellis import Trellis
from formulations.score_numbers import one_notice


def empty_trellis(labels: LabelSet) -> Trellis:
    """The trellis of an empty sequence, whose only labelling is empty."""
    K = len(labels)
    return Trellis.from_emissions(np.zeros((0, K)), np.zeros((K, K)), labels=labels)


@dataclass(frozen=True, eq=False)
class TokenScores:
    """Scores, nats, of a first-order model whose token scores depend only on the text of the token."""

    labels: LabelSet
    emissions: Callable[[Sequence[str]], Floats]  # T texts to (T, K)
    transitions: Floats  # (K, K), from and to
    start: Floats | None = None  # (K,)
    end: Floats | None = None  # (K,)

    def __post_init__(self) -> None:
        if self.labels.never:
            object.__setattr__(self, "emissions", _Without(self.emissions, self.labels.never_ids))

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """The trellis of a sequence; scores are computed at first access."""
        words = texts(tokens, "tokens")
        if not words:
            return empty_trellis(self.labels)
        return Trellis._of(token_scores=self, labels=self.labels, tokens=words)

    def of(self, labels: LabelSet) -> "TokenScores":
        """The scores for labels with further `never` labels; equal labels give the same object."""
        return self._of_labels.find(
            lambda one: one.labels == labels,
            lambda: replace(self, labels=labels),
        )

    @cached_property
    def _of_labels(self) -> "Recent[TokenScores]":
        return Recent(MOST_LABEL_SETS)

    @one_notice
    def lattice(self, tokens: Sequence[str]) -> Lattice:
        """The lattice of T tokens; lattices share the transitions."""
        node = snap_scores(self.emissions(tokens), "emissions")
        ends = {name: x for name, x in zip(("start", "end"), self.ends, strict=True) if x is not None}
        node = with_ends(node, {"transitions": self.pool[0], **ends})
        return Lattice(node, self.pool, np.zeros(len(node) - 1, np.int64))

    @cached_property
    def pool(self) -> Grid:
        return snap_scores(self.transitions, "transitions")[None]

    @cached_property
    def ends(self) -> tuple[Grid | None, Grid | None]:
        """(K,) start and end on the grid; None if there are none."""
        start = None if self.start is None else snap_scores(self.start, "start")
        return start, None if self.end is None else snap_scores(self.end, "end")


@dataclass(frozen=True)
class _Without:
    """Scores of tokens with forbidden labels."""

    emissions: Callable[[Sequence[str]], Floats]
    forbidden: Integers

    def __call__(self, tokens: Sequence[str]) -> Floats:
        scores = np.array(self.emissions(tokens), float)
        scores[:, self.forbidden] = -np.inf
        return scores
