"""Scores that belong to single tokens and to steps between labels, the same for every sequence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from formulations.dtypes import Floats
from formulations.grid import Grid, snap
from formulations.labels.label_set import LabelSet
from formulations.problem.score_arrays import factored
from formulations.problem.trellis import Trellis


@dataclass(frozen=True, eq=False)
class TokenScores:
    """Scores of a first-order model whose token scores depend on the token's text alone.

    Parameters
    ----------
    labels : LabelSet
        K labels.
    emissions : callable
        (T, K) nats of T texts.
    transitions : ndarray of float, shape (K, K)
        Nats, from and to.
    start, end : ndarray of float, shape (K,), optional
        Nats of the first and the last label, or None.
    """

    labels: LabelSet
    emissions: Callable[[Sequence[str]], Floats]
    transitions: Floats
    start: Floats | None = None
    end: Floats | None = None

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """The scores of one sequence; all sequences share the transitions."""
        lattice = factored(self.emissions(tokens), self.transitions, self.start, self.end, None)
        return Trellis._from(replace(lattice, pool=self.pool), self.labels, tokens, "")

    @cached_property
    def pool(self) -> Grid:
        """(1, K, K) transitions on the grid."""
        return snap(self.transitions, "transitions")[None]

    @property
    def ends(self) -> tuple[Grid | None, Grid | None]:
        """(K,) start and end on the grid, None where there are none."""
        start = None if self.start is None else snap(self.start, "start")
        return start, None if self.end is None else snap(self.end, "end")
