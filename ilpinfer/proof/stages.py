"""Stages of a leaf: further machines read what the machines before have left."""

from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden
from ilpinfer.proof.edges import UNIQUE, values_along
from ilpinfer.proof.meter import MOST_CELLS, Meter
from ilpinfer.proof.product import Product, Steps
from ilpinfer.proof.readers import Reader

LARGEST_KEY = 2**62


def trie(excluded: tuple[tuple[int, ...], ...], K: int, meter: Meter) -> Integers:
    """(N + 1, K): the node after a node and a label, -1 where no excluded labelling continues so; the last row is for -1."""
    size = K * (1 + sum(map(len, excluded)))
    meter.make(size, f"{len(excluded)} labellings are excluded")
    meter.spend(size)
    children = np.full((size // K + 1, K), -1)
    count = 1
    for path in excluded:
        node = 0
        for label in path:
            if children[node, label] < 0:
                children[node, label], count = count, count + 1
            node = int(children[node, label])
    children[count] = -1
    return children[: count + 1]


@dataclass(frozen=True)
class Graph:
    """The part of a product or graph that machines have not pruned.

    Parameters
    ----------
    layers : T
    best : for t = 0 to T, (N,) the best that can follow each node
    """

    layers: list[Steps]
    best: list[Grid]

    def ahead(self, t: int) -> Grid:
        """The best that can follow each node before token t."""
        return self.best[t]

    def steps(self, t: int, nodes: Integers) -> Steps:
        """The steps of some nodes, by their places."""
        every = self.layers[t]
        begin, end = (np.searchsorted(every.source, nodes, side) for side in ("left", "right"))
        place = np.repeat(np.arange(len(nodes)), end - begin)
        at = np.arange(len(place)) - np.repeat(np.cumsum(end - begin) - end, end - begin)
        return replace(every.only(at), source=place)

    def prune(self, limit: int) -> "Graph":
        """Without the steps through which no labelling passes the limit."""
        reached, layers = np.zeros(1, np.int64), []
        for steps, best in zip(self.layers, self.best[1:], strict=True):
            value = add(reached[steps.source], steps.score)
            kept = add(value, best[steps.target]) > limit
            reached = np.full(len(best), FORBIDDEN)
            np.maximum.at(reached, steps.target[kept], value[kept])
            layers.append(steps.only(kept))
        return Graph(layers, self.best)


@dataclass(frozen=True)
class StagePass:
    """A forward pass over a product or graph with further machines, which merges prefixes with equal keys.

    The key of a prefix: node, node of the trie of excluded labellings, state of each machine, and the cost so far of each
    rule that counts once for several machines.

    Parameters
    ----------
    base : what is followed, sums charged
    lattice : whose edges the steps take
    readers, worths, potentials : the machines; what a unit of its sum is charged, if it is; and the best that each can
        still add
    constant : what is given back for the other sums charged
    limit : what a prefix must be able to pass
    children : the trie
    meter : what it may cost
    """

    base: Product | Graph
    lattice: Lattice
    readers: list[Reader]
    worths: list[tuple[StepTable, int] | None]
    potentials: list[list[Grid]]
    constant: int
    limit: int
    children: Integers
    meter: Meter

    @property
    def shared(self) -> list[int]:
        """The rules that count once for several of the machines."""
        return sorted({reader.shared for reader in self.readers if reader.shared is not None})

    def start(self) -> Integers:
        """(1, N) the prefix of no token: node, node of the trie, machines, and what rules have paid."""
        return np.zeros((1, 2 + len(self.readers) + len(self.shared)), np.int64)

    def graph(self) -> Graph:
        """The graph of all prefixes that can pass the limit."""
        rows, value = self.start(), np.zeros(1, np.int64)
        T, layers = len(self.lattice.node), list[Steps]()
        for t in range(T):
            steps, rows, value = self.extend(t, rows, value)
            self.meter.keep(len(vars(steps)) * len(value))
            rows, value, which = _merge(rows, value)
            layers.append(replace(steps, target=which))
        ends = [potential[T][q] for potential, q in zip(self.potentials, rows.T[2:], strict=False)]
        best = [add(self.base.ahead(T)[rows[:, 0]], *ends)]
        for t in range(T - 1, -1, -1):
            self.meter.spend(UNIQUE * len(layers[t].source))
            ahead = np.full(layers[t - 1].target.max(initial=0) + 1 if t else 1, FORBIDDEN)
            np.maximum.at(ahead, layers[t].source, add(layers[t].score, best[-1][layers[t].target]))
            best.append(ahead)
        return Graph(layers, best[::-1]).prune(self.limit - self.constant)

    def extend(self, t: int, rows: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """The steps to prefixes longer by token t that can still pass the limit, these prefixes, and their values."""
        degree = self.lattice.pool.shape[2]
        chunks = len(rows) * degree // (MOST_CELLS // 16) + 1
        result, left = [], 0
        for at in np.array_split(np.arange(len(rows)), chunks):
            self.meter.spend(len(at) * degree * (UNIQUE + rows.shape[1]))
            result.append(self._extend(t, rows[at], value[at], int(at[0]) if len(at) else 0))
            left += len(result[-1][2])
            self.meter.make(2 * left * rows.shape[1], f"{left} prefixes are left at token {t}")
        pieces, grown, values = zip(*result, strict=True)
        steps = Steps(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
        return steps, np.concatenate(grown), np.concatenate(values)

    def _extend(
        self, t: int, rows: Integers, value: Grid, begin: int
    ) -> tuple[tuple[Integers, ...], Integers, Grid]:
        """As `extend`, for some rows, the first of which is at place `begin`."""
        steps, last = self.base.steps(t, rows[:, 0]), t == len(self.lattice.node) - 1
        if not any(self.worths):
            reach = value[steps.source] + steps.score + self.base.ahead(t + 1)[steps.target]
            steps = steps.only(reach + self.constant > self.limit)
        before = rows[steps.source]
        gain, charge, rest = (
            steps.score,
            steps.charge,
            add(self.base.ahead(t + 1)[steps.target], np.array(self.constant)),
        )
        columns = [steps.target, self.children[before[:, 1], steps.column % self.children.shape[1]]]
        paid = dict(zip(self.shared, before.T[2 + len(self.readers) :], strict=True))
        for reader, worth, potential, q in zip(
            self.readers, self.worths, self.potentials, before.T[2:], strict=False
        ):
            symbol = values_along(reader.steps, t, self.lattice)[steps.state, steps.column]
            after, own = reader.after[q, symbol], reader.gain[q, symbol]
            if worth:
                gain = add(
                    gain, worth[1] * values_along(worth[0], t, self.lattice)[steps.state, steps.column]
                )
            if reader.shared is not None:
                own = np.minimum(own, reader.final[after]) if last else own
                so_far = paid[reader.shared]
                paid[reader.shared] = np.minimum(so_far, own)
                own = paid[reader.shared] - so_far
            gain, charge, rest = add(gain, own), add(charge, own), add(rest, potential[t + 1][after])
            columns.append(after)
        value = add(value[steps.source], gain)
        bound = add(value, rest)
        kept = (bound > self.limit) & ~is_forbidden(bound) & ((columns[1] < 0) | (not last))
        grown = np.stack([column[kept] for column in (*columns, *paid.values())], axis=1)
        steps = replace(steps, source=begin + steps.source, score=gain, charge=charge).only(kept)
        return tuple(vars(steps).values()), grown, value[kept]


def _merge(rows: Integers, value: Grid) -> tuple[Integers, Grid, Integers]:
    """Rows that differ, each with its largest value; and which of them each row is."""
    which = row_keys(rows)
    count = int(which.max(initial=-1)) + 1
    first, best = np.zeros(count, np.int64), np.full(count, FORBIDDEN)
    first[which[::-1]] = np.arange(len(which))[::-1]
    np.maximum.at(best, which, value)
    return rows[first], best, which


def row_keys(rows: Integers) -> Integers:
    """A number (N,) for each row, equal for equal rows, from 0 and below N."""
    key, kinds = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        least = column.min(initial=0)
        more = int(column.max(initial=0) - least) + 1
        if kinds * more > LARGEST_KEY:
            _, key = np.unique(key, return_inverse=True)
            kinds = len(rows)
        key, kinds = key * more + (column - least), kinds * more
    result: Integers = np.unique(key, return_inverse=True)[1]
    return result
