"""Graphs of the labellings that a claim leaves: nodes token by token, and steps between them, made from a lattice by max-marginals."""

from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from formulations.automata.lattice import Lattice, at_targets
from formulations.dtypes import Booleans, Integers
from formulations.grid import FORBIDDEN, Grid
from ilpinfer.proof.machines import add
from ilpinfer.proof.meter import MOST_CELLS, Meter


class Steps(NamedTuple):
    """Steps (E,) into one token by source; `arc` is (1 + label before) · K + label, `cost` what machines add to the score."""

    source: Integers
    target: Integers
    score: Grid
    arc: Integers
    cost: Grid

    def only(self, which: Booleans) -> "Steps":
        places = np.flatnonzero(which)
        return Steps(*(array[places] for array in self))

    def out_of(self, nodes: Integers) -> tuple[Integers, "Steps"]:
        """The places of the steps out of some nodes; and these steps, with the places of their nodes among those given."""
        begin, end = (np.searchsorted(self.source, nodes, side) for side in ("left", "right"))
        count = end - begin
        owner = np.repeat(np.arange(len(nodes)), count)
        at = np.arange(len(owner)) + np.repeat(begin - np.cumsum(count) + count, count)
        return at, Steps(owner, self.target[at], self.score[at], self.arc[at], self.cost[at])


def joined(parts: Iterable[Steps]) -> Steps:
    return Steps(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Graph(NamedTuple):
    """Steps of all T tokens, none where nothing is left; `best` has, for t = 0 to T, the largest score from each node before token t on."""

    layers: list[Steps]
    best: list[Grid]

    def of(self, t: int, nodes: Integers) -> tuple[Integers, Steps]:
        """The steps into token t out of some nodes, and their places in its layer."""
        return self.layers[t].out_of(nodes)


NOTHING = Graph([], [np.array([FORBIDDEN])])


def largest_of(group: Integers, values: Grid, count: int) -> Grid:
    """The largest of the values (N, …) of each group from 0 to count - 1; the groups (N,) ascend."""
    result = np.full((count, *values.shape[1:]), FORBIDDEN)
    if len(group):
        begins = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        result[group[begins]] = np.maximum.reduceat(values, begins)
    return result


class MaxMarginals:
    """The best prefix and the best completion of every state of a lattice, (T, S) each, worked out once for all leaves."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice

    def request(self, meter: Meter) -> "MaxMarginals":
        """Request the steps and the memory of its passes."""
        lattice = self.lattice
        meter.spend(2 * len(lattice.step) * lattice.states * lattice.pool.shape[2], 2 * len(lattice.node))
        meter.keep(2 * lattice.node.size)
        return self

    @cached_property
    def reach(self) -> Grid:
        (S, K), pool, order = self.lattice.pool.shape[1:], self.lattice.pool, self.lattice.order
        reach = self.lattice.node.copy()
        for t, entry in enumerate(self.lattice.step.tolist(), 1):
            into = reach[t - 1][:, None] + pool[entry]
            if order == 2:
                reach[t, :K] = FORBIDDEN
                into = into.reshape(S // K, K * K)
            own = reach[t, S - into.shape[1] :]
            np.maximum(into.max(axis=0) + own, FORBIDDEN, out=own)
        return reach

    @cached_property
    def ahead(self) -> Grid:
        node, pool, K = self.lattice.node, self.lattice.pool, self.lattice.pool.shape[2]
        ahead = np.zeros_like(node)
        for t, entry in zip(range(len(node) - 2, -1, -1), self.lattice.step[::-1].tolist(), strict=True):
            after = at_targets(np.maximum(node[t + 1] + ahead[t + 1], FORBIDDEN), K)
            np.maximum((pool[entry] + after).max(axis=1), FORBIDDEN, out=ahead[t])
        return ahead

    @cached_property
    def best(self) -> int:
        return int(add(self.lattice.node[0], self.ahead[0]).max())

    @cached_property
    def through(self) -> Grid:
        return add(self.reach, self.ahead)

    def without(self, limit: int) -> Lattice:
        """The lattice without the states through which nothing passes the limit."""
        node = np.where(self.through <= limit, FORBIDDEN, self.lattice.node)
        return Lattice(node, self.lattice.pool, self.lattice.step)

    def graph(self, limit: int, meter: Meter) -> Graph:
        """The steps on paths above the limit, and the states that these pass."""
        if self.best <= limit:
            return NOTHING
        lattice, reach, ahead, K = self.lattice, self.reach, self.ahead, self.lattice.pool.shape[2]
        kept = self.through > limit
        number = np.cumsum(kept, axis=1) - 1
        best = [np.array([self.best]), *(row[own] for row, own in zip(ahead, kept, strict=True))]
        first = np.flatnonzero(kept[0])
        none = np.zeros_like(first)
        layers = [Steps(none, number[0, first], lattice.node[0, first], first % K, none)]
        chunk = np.cumsum(kept[:-1].sum(axis=1) * K) // (MOST_CELLS // 16)
        for tokens in np.split(np.arange(len(chunk)), np.flatnonzero(np.diff(chunk)) + 1):
            t, s = np.nonzero(kept[tokens])
            t = tokens[t]
            meter.spend(len(t) * K, 0)
            target = lattice.base[s][:, None] + np.arange(K)
            score = lattice.pool[lattice.step[t], s] + lattice.node[t[:, None] + 1, target]
            above = reach[t, s][:, None] + score + ahead[t[:, None] + 1, target] > limit
            row, label = np.nonzero(above)
            meter.keep(4 * len(row))
            t, s, target = t[row], s[row], number[t[row] + 1, target[row, label]]
            arc, none = (s % K + 1) * K + label, np.broadcast_to(none[:1], t.shape)
            steps = Steps(number[t, s], target, score[row, label], arc, none)
            ends = np.searchsorted(t, [*tokens, len(chunk)])
            layers += [
                Steps(*(array[begin:end] for array in steps)) for begin, end in pairwise(ends.tolist())
            ]
        return Graph(layers, best)
