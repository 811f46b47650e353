"""The best few labellings of a sequence as arrays."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ilpinfer.core.solution import Solution


@dataclass(frozen=True, eq=False)
class Labellings:
    """At most as many labellings of T tokens as were asked for, best first and equal scores by label ids.

    Parameters
    ----------
    ids : label ids (k, T); k is 0 where no labelling is feasible, or none was found in time
    scores : (k,) nats
    names : of the label ids
    make : makes the solutions; called when they are first asked for
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
        """What the violations of each labelling cost, (k,) nats."""
        return np.array([solution.penalty for solution in self.solutions], np.float64)


def labellings_of(solutions: list[Solution], T: int, names: tuple[str, ...]) -> Labellings:
    """The labellings of solutions, all of which have one."""
    ids = np.array([solution.ids for solution in solutions], np.int64).reshape(len(solutions), T)
    scores = np.array([solution.score for solution in solutions], np.float64)
    return Labellings(ids, scores, names, lambda: solutions)
