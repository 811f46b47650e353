"""The lattice: node scores, a pool of edge scores, and the pool entry of each step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import time_limits
from formulations.blocks import mapped
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden
from formulations.messages import counted


@dataclass(frozen=True)
class StepTable:
    """An integer for each step: values[index[t], previous + 1, next], where previous = -1 is START."""

    values: Integers  # (P, K+1, K), or (P, 1, K) if the previous label does not matter
    index: Integers  # (T,) which of the P tables token t uses

    def at(self, t: int) -> Integers:
        table: Integers = self.values[self.index[t]]
        return table

    def of(self, t: int, before: int, label: int) -> int:
        """The value of the step into token t between two labels; -1 is START."""
        table = self.at(t)
        return int(table[before + 1 if len(table) > 1 else 0, label])

    def along(self, path: LabelIds) -> Integers:
        before = 0 if self.values.shape[1] == 1 else np.concatenate([[0], path[:-1] + 1])
        values: Integers = self.values[self.index, before, path]
        return values

    def map(self, function: Integers) -> "StepTable":
        return StepTable(mapped(function.__getitem__, self.values), self.index)


@dataclass(frozen=True)
class Lattice:
    """Scores on the grid. Edges are a pool of tables, so that K = 136 needs no (T-1, K, K) array.

    States are labels, S = K. A second-order lattice has a state for each pair of labels, S = (K+1)·K: state (i + 1)·K + j
    for label j after label i, i = -1 before token 0. Only pairs that begin with j can follow it: edge b of state s leads to
    state `base[s] + b`. The value of a `StepTable` then depends on the entered state only. Rules and labellings refer to
    labels; only the lattice and its kernels use states.
    """

    node: Grid  # (T, S) score of each state at token t; start and end scores are included
    pool: Grid  # (P, S, K) edge scores [previous state, next label]
    step: Integers  # (T-1,) pool entry of the step from token t to t+1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Lattice):
            return NotImplemented
        pairs = zip((self.node, self.pool, self.step), (other.node, other.pool, other.step), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        T, K = self.shape
        order = "" if self.order == 1 else ", second order"
        return f"Lattice({counted(T, 'token')}, {counted(K, 'label')}, {len(self.pool)} edge tables{order})"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.node), int(self.pool.shape[2])

    @property
    def states(self) -> int:
        """S: K, or (K+1)·K for second order."""
        return int(self.node.shape[1])

    @property
    def order(self) -> int:
        """The number of previous labels that a score depends on, 1 or 2."""
        return 1 if self.states == self.pool.shape[2] else 2

    @property
    def base(self) -> Integers:
        """(S,) the state that the first edge of each state leads to."""
        S, (_, K) = self.states, self.shape
        return (np.arange(S) % K + 1) * K if self.order == 2 else np.zeros(S, np.int64)

    def states_of(self, path: LabelIds) -> Integers:
        return states_of(path, self.shape[1], self.states)

    def labels_of(self, states: Integers) -> Integers:
        return states % self.shape[1] if self.order == 2 else states

    def on_states(self, table: StepTable) -> StepTable:
        """The table on the lattice's states, (P, 1, S), for second order; the same table for first order."""
        if table.values.shape[2] == self.states:
            return table
        P, K = len(table.values), self.shape[1]
        values = np.broadcast_to(table.values, (P, K + 1, K)).reshape(P, 1, self.states)
        return StepTable(values, table.index)

    def at_targets(self, values: Grid) -> Grid:
        return at_targets(values, self.shape[1])

    def score(self, path: LabelIds) -> int:
        """Grid score of label ids (T,), `FORBIDDEN` if a step is forbidden."""
        states = self.states_of(path)
        edges = self.pool[self.step, states[:-1], path[1:]]
        components = np.concatenate([self.node[np.arange(len(path)), states], edges])
        return FORBIDDEN if is_forbidden(components).any() else int(components.sum())

    def plus(self, tables: Iterable[StepTable]) -> "Lattice":
        """Add tables to the steps; tables that ignore the previous label are added to the nodes."""
        node, edge = self.node.copy(), []
        for table in map(self.on_states, tables):
            time_limits.check()
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
            time_limits.check()
            pool = add(pool, table.values[which, 1:])
        return Lattice(node, pool, step.reshape(-1).astype(np.int64))

    def only(self, labels: Mapping[int, Sequence[int]]) -> "Lattice":
        """Restrict the labels of some tokens, by position."""
        node, (_, K) = self.node.copy(), self.shape
        of_state = np.arange(self.states) % K
        for t, allowed in labels.items():
            node[t, ~np.isin(of_state, allowed)] = FORBIDDEN
        return Lattice(node, self.pool, self.step)

    def without(self, labels: Integers) -> "Lattice":
        """Forbid labels at all tokens."""
        if not len(labels):
            return self
        node = self.node.copy()
        node[:, np.isin(np.arange(self.states) % self.shape[1], labels)] = FORBIDDEN
        return Lattice(node, self.pool, self.step)

    def terms(self) -> list[tuple[str, Grid, int | Grid]]:
        """The scores as terms of `check_total`: the highest score at each token, and edges with their numbers of uses."""
        T, K = self.shape
        uses = np.bincount(self.step, minlength=len(self.pool)).astype(np.int64)
        node = self.node.reshape(T, self.states // K, K).max(axis=1)
        return [("node", node, np.ones(T, np.int64)), ("edge", self.pool, uses)]

    def edge_scores(self) -> Grid:
        """(T-1, S, K) score of each edge, including the score of the entered token."""
        return add(self.pool[self.step], self.at_targets(self.node[1:]))


def states_of(path: LabelIds, labels: int, states: int) -> Integers:
    """The states (T,) of label ids (T,) in a lattice of K labels and S states."""
    return path if states == labels else np.append(0, path[:-1] + 1) * labels + path


def at_targets(values: NDArray[Any], labels: int) -> NDArray[Any]:
    """Map values (…, S) of states to values (…, S or 1, K) of edges, by the state that each edge enters."""
    *leading, states = values.shape
    if states == labels:
        return values[..., None, :]
    return np.tile(values[..., labels:].reshape(*leading, labels, labels), (labels + 1, 1))


def pair_lattice(node: Grid, first: Grid, later: Grid, step: Integers) -> Lattice:
    """A second-order lattice: nodes (T, K), the step (K, K) into token 1, then scores (P, K, K, K) chosen by `step` (T-2,)."""
    T, K = node.shape
    nodes = np.tile(node, (1, K + 1))
    nodes[:1, K:] = nodes[1:, :K] = FORBIDDEN
    pool = np.full((1 + len(later), (K + 1) * K, K), FORBIDDEN)
    pool[0, :K] = first
    pool[1:, K:] = later.reshape(-1, K * K, K)
    return Lattice(nodes, pool, np.append(0, step + 1)[: max(T - 1, 0)])
