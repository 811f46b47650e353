"""The best few labellings of a sequence as arrays."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ilpinfer.core.solution import Solution


@dataclass(frozen=True, eq=False)
class Labellings:
    """The best labellings of T tokens as arrays, best first; equal scores are ordered by label ids.

    Parameters
    ----------
    ids : NDArray[np.int64]
        (k, T) label ids; k is 0 if no labelling is feasible or none was found in time.
    scores : NDArray[np.float64]
        (k,) nats.
    names : tuple of str, optional
        Names of the label ids.
    make : callable, optional
        Function that makes the solutions when they are first requested.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> [best] = ilpinfer.Decoder([]).best_labellings([trellis], 2)
    >>> best.labels, best.scores.tolist()
    ([['a', 'a'], ['b', 'b']], [0.0, -0.5])
    """

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    names: tuple[str, ...] = field(repr=False)
    make: Callable[[], list[Solution]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def solutions(self) -> list[Solution]:
        """Each labelling with its status and its proof, as `ilpinfer.decode` returns them."""
        return self.make()

    @property
    def labels(self) -> list[list[str]]:
        """Label names: k lists of T."""
        return [[self.names[j] for j in row] for row in self.ids.tolist()]

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the R rules, in the order of `violations`; none where there is no labelling."""
        return tuple(self.solutions[0].violations) if self.solutions else ()

    @property
    def violations(self) -> NDArray[np.int64]:
        """How often each labelling breaks each rule, (k, R)."""
        counts = [list(solution.violations.values()) for solution in self.solutions]
        return np.array(counts, np.int64).reshape(len(self), len(self.rules))

    @property
    def penalties(self) -> NDArray[np.float64]:
        """Cost of the violations of each labelling, (k,) nats."""
        return np.array([solution.penalty for solution in self.solutions], np.float64)


def labellings_of(solutions: list[Solution], T: int, names: tuple[str, ...]) -> Labellings:
    """The labellings of solutions, all of which have one."""
    ids = np.array([solution.ids for solution in solutions], np.int64).reshape(len(solutions), T)
    scores = np.array([solution.score for solution in solutions], np.float64)
    return Labellings(ids, scores, names, lambda: solutions)
