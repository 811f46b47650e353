"""The edges of a lattice, token by token: scores, targets, table values, and max-marginals."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, Grid, add
from ilpinfer.proof.meter import Meter

UNIQUE = 8
"""Steps for each number of an array that is sorted."""


def edges_into(lattice: Lattice, t: int) -> tuple[Grid, Integers]:
    """Scores and targets (R, B) of the edges into token t: from the one state START, or from each state."""
    _, S, B = lattice.pool.shape
    target = np.arange(S)[None] if t == 0 else lattice.base[:, None] + np.arange(B)
    score = lattice.node[t][target]
    return (score if t == 0 else add(score, lattice.pool[lattice.step[t - 1]])), target


def values_along(steps: StepTable, t: int, lattice: Lattice) -> Integers:
    """A table's values (R, B) on the edges into token t; the label of a state is its number modulo K."""
    _, S, K = lattice.pool.shape
    table = steps.at(t)
    before = np.zeros(1, np.int64) if t == 0 else 1 + np.arange(S) % K
    label = np.arange(S if t == 0 else K) % K
    values: Integers = table[before[:, None] if len(table) > 1 else np.zeros_like(before)[:, None], label]
    return values


def distinct_columns(columns: Integers) -> tuple[Integers, Integers]:
    """The different columns of (M, N), and which of them each column is."""
    result, which = np.unique(columns, axis=1, return_inverse=True)
    return result, which.reshape(-1)


def max_marginals(lattice: Lattice) -> Grid:
    """(T, S) the best through each state.

    Scores that are not forbidden add up to less than 2^57 along every path, so that forbidden prefixes stay recognisable while
    they are only kept from overflow.
    """
    reach, ahead = lattice.node.copy(), np.zeros_like(lattice.node)
    for t, entry in enumerate(lattice.step.tolist(), 1):
        arrived = _best_into(lattice, reach[t - 1][:, None] + lattice.pool[entry])
        np.maximum(arrived + lattice.node[t], FORBIDDEN, out=reach[t])
    for t in range(len(lattice.step) - 1, -1, -1):
        after = np.maximum(lattice.node[t + 1] + ahead[t + 1], FORBIDDEN)
        best = (lattice.pool[lattice.step[t]] + lattice.at_targets(after)).max(axis=1)
        np.maximum(best, FORBIDDEN, out=ahead[t])
    return add(reach, ahead)


def _best_into(lattice: Lattice, values: Grid) -> Grid:
    """(S,) the largest of the values (S, K) of the edges into each state."""
    S, K = values.shape
    if lattice.order == 1:
        return np.asarray(values.max(axis=0))
    return np.append(np.full(K, FORBIDDEN), values.reshape(S // K, K * K).max(axis=0))


@dataclass(frozen=True, eq=False)
class FoldedProblem:
    """A lattice into which rules have folded; its max-marginals are computed once for all leaves with this lattice."""

    lattice: Lattice

    @cached_property
    def _max_marginals(self) -> Grid:
        return max_marginals(self.lattice)

    def prune(self, limit: int, meter: Meter) -> Lattice:
        """The lattice without the states through which no labelling passes the limit, rules apart (max-marginals)."""
        lattice = self.lattice
        edges = lattice.states * lattice.pool.shape[2]
        meter.spend(2 * len(lattice.step) * edges, 2 * len(lattice.node))
        meter.keep(2 * lattice.node.size)
        node = np.where(self._max_marginals <= limit, FORBIDDEN, lattice.node)
        return Lattice(node, lattice.pool, lattice.step)
