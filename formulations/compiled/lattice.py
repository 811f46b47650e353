"""The lattice: node scores, a pool of edge scores, and which of the pool each step uses."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.grid import FORBIDDEN, Grid, add, is_forbidden


@dataclass(frozen=True)
class StepTable:
    """A small integer for each step: values[index[t], previous + 1, next], previous = -1 for START.

    Parameters
    ----------
    values : (P, K+1, K), or (P, 1, K) where the previous label does not matter
    index : (T,) which of the P tables token t uses
    """

    values: NDArray[np.int64]
    index: NDArray[np.int64]

    def at(self, t: int) -> NDArray[np.int64]:
        """(K+1, K) or (1, K) table of token t."""
        return self.values[self.index[t]]

    def along(self, path: NDArray[np.int64]) -> NDArray[np.int64]:
        """Values (T,) of the steps of a labelling."""
        if self.values.shape[1] == 1:
            return self.values[self.index, 0, path]
        before = np.concatenate([[0], path[:-1] + 1])
        return self.values[self.index, before, path]

    def map(self, function: NDArray[np.int64]) -> "StepTable":
        """The table with every value v replaced by function[v]."""
        return StepTable(function[self.values], self.index)


@dataclass(frozen=True)
class Lattice:
    """Scores on the grid, edges kept as a pool so that K = 136 needs no (T-1, K, K) array.

    Parameters
    ----------
    node : (T, K) score of label k at token t; start and end scores are included
    pool : (P, K, K) edge scores [previous, next]
    step : (T-1,) which of the pool leads from token t to t+1

    A second-order lattice has a state for each pair of labels: state (i + 1)·K + j for label j after label i, i = -1
    before token 0. There `node` is (T, (K+1)·K), and `pool` (P, (K+1)·K, K), since only pairs that begin with j can
    follow: edge b of state s leads to state `base[s] + b`.
    """

    node: Grid
    pool: Grid
    step: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, int]:
        """(T, K)."""
        return self.node.shape[0], self.node.shape[1]

    @property
    def base(self) -> NDArray[np.int64]:
        """(S,) the state that the first edge of each state leads to."""
        _, S, B = self.pool.shape
        return np.zeros(S, np.int64) if S == B else (np.arange(S) % B + 1) * B

    def score(self, path: NDArray[np.int64]) -> int:
        """Grid score of label ids (T,), `FORBIDDEN` where a step is."""
        parts = np.concatenate(
            [self.node[np.arange(len(path)), path], self.pool[self.step, path[:-1], path[1:]]]
        )
        return FORBIDDEN if is_forbidden(parts).any() else int(parts.sum())

    def plus_ends(self, start: Grid | None = None, end: Grid | None = None) -> "Lattice":
        """The lattice with scores (K,) added to the first and last label."""
        node = self.node.copy()
        if start is not None:
            node[0] = add(node[0], start)
        if end is not None:
            node[-1] = add(node[-1], end)
        return Lattice(node, self.pool, self.step)

    def plus(self, tables: Iterable[StepTable]) -> "Lattice":
        """The lattice with the tables' values, as grid scores, added to its steps.

        Tables that ignore the previous label go to the nodes; of the others, each combination that occurs
        becomes one entry of the pool.
        """
        node, edge = self.node.copy(), []
        for table in tables:
            if table.values.shape[1] == 1:
                node = add(node, table.values[table.index, 0])
            else:
                node[0] = add(node[0], table.at(0)[0])
                edge.append(table)
        if not edge or len(self.step) == 0:
            return Lattice(node, self.pool, self.step)
        keys = np.stack([self.step, *(table.index[1:] for table in edge)])
        combinations, step = np.unique(keys, axis=1, return_inverse=True)
        pool = self.pool[combinations[0]]
        for table, which in zip(edge, combinations[1:], strict=True):
            pool = add(pool, table.values[which, 1:])
        return Lattice(node, pool, step.reshape(-1).astype(np.int64))

    def edge_scores(self) -> Grid:
        """(T-1, K, K) score of each edge, the score of the token that it enters included."""
        return add(self.pool[self.step], self.node[1:, None, :])
