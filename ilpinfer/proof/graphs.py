"""Graphs of the labellings that a claim leaves: nodes token by token, steps between them, and products with machines."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from formulations.automata.lattice import Lattice, at_targets
from formulations.dtypes import Booleans, Integers
from formulations.grid import FORBIDDEN, Grid, is_forbidden
from ilpinfer.proof.machines import Machine, add
from ilpinfer.proof.meter import MOST_CELLS, SORT, Meter


class Steps(NamedTuple):
    """Steps (E,) into one token by source; `arc` is (1 + label before) · K + label, `penalty` what machines cost of the score."""

    source: Integers
    target: Integers
    score: Grid
    arc: Integers
    penalty: Grid

    def only(self, places: Any) -> "Steps":
        return Steps(*(array[places] for array in self))


def joined(parts: Iterable[Steps]) -> Steps:
    return Steps(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


class Graph(NamedTuple):
    """Steps of all T tokens; `best` has, for t = 0 to T, the largest score from each node before token t to the end."""

    layers: list[Steps]
    best: list[Grid]

    @property
    def length(self) -> int:
        return len(self.layers)

    @property
    def sizes(self) -> list[int]:
        """The number of steps into each token."""
        return [len(steps.arc) for steps in self.layers]

    def ahead(self, t: int) -> Grid:
        return self.best[t]

    def places(self, t: int, nodes: Integers) -> tuple[Integers, Integers]:
        """The steps out of some nodes: for each, the place of its node among these, and its own in the layer."""
        begin, end = (np.searchsorted(self.layers[t].source, nodes, side) for side in ("left", "right"))
        count = end - begin
        owner = np.repeat(np.arange(len(nodes)), count)
        return owner, np.arange(len(owner)) + np.repeat(begin - np.cumsum(count) + count, count)

    def steps(self, t: int, nodes: Integers) -> Steps:
        """The steps out of some nodes, with the places of these as sources."""
        owner, at = self.places(t, nodes)
        return self.layers[t].only(at)._replace(source=owner)


NOTHING = Graph([], [np.array([FORBIDDEN])])


class Marginals:
    """The best prefix and the best completion of every state of a lattice, (T, S) each, worked out once for all leaves."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice

    def request(self, meter: Meter) -> "Marginals":
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
            layers += [steps.only(slice(*pair)) for pair in pairwise(ends.tolist())]
        return Graph(layers, best)


class Product:
    """A graph times machines. Node n · Q + q is a node n of the graph and a joint state q of the Q at its token."""

    def __init__(self, graph: Graph, machines: Sequence[Machine], meter: Meter) -> None:
        self.graph = graph
        self.kinds, self.moves = list[Integers](), list[tuple[Integers, Grid]]()
        moves, reads, here = Moves(machines, meter), Reads(machines, meter), np.zeros(1, np.int64)
        for t, steps in enumerate(graph.layers):
            symbols, kind = reads.of(t, steps.arc)
            meter.make(
                len(here) * len(steps.arc), f"the machines inside have {len(here)} joint states at token {t}"
            )
            meter.keep(len(kind) + 2 * len(here) * symbols.shape[1])
            reached, gain = moves.of(here, symbols)
            here, after = np.unique(reached, return_inverse=True)
            self.kinds.append(kind)
            self.moves.append((after.reshape(gain.shape), gain))
        states = moves.states[:, here]
        final = np.zeros(states.shape[1], np.int64)
        for machine, q in zip(machines, states, strict=True):
            final = add(final, machine.final[q])
        self.best = [add(graph.best[-1][:, None], final)]
        for t in range(len(graph.layers) - 1, -1, -1):
            (after, gain), kind, steps = self.moves[t], self.kinds[t], graph.layers[t]
            meter.spend(len(kind) * len(after))
            meter.keep(len(graph.best[t]) * len(after))
            score = add(steps.score[:, None], gain.T[kind])
            worth = add(score, self.best[-1][steps.target[:, None], after.T[kind]])
            self.best.append(largest_of(steps.source, worth, len(graph.best[t])))
        self.best.reverse()

    @property
    def length(self) -> int:
        return self.graph.length

    def ahead(self, t: int) -> Grid:
        return self.best[t].reshape(-1)

    def steps(self, t: int, nodes: Integers) -> Steps:
        """As of a graph."""
        node, joint = np.divmod(nodes, self.best[t].shape[1])
        owner, at = self.graph.places(t, node)
        steps, (after, gain) = self.graph.layers[t].only(at), self.moves[t]
        q, kind = joint[owner], self.kinds[t][at]
        target = steps.target * self.best[t + 1].shape[1] + after[q, kind]
        return Steps(owner, target, add(steps.score, gain[q, kind]), steps.arc, gain[q, kind])


class Reads:
    """What machines read at steps; tokens at which all of them read the same tables share the kinds of steps."""

    def __init__(self, machines: Sequence[Machine], meter: Meter) -> None:
        self.machines, self.meter = machines, meter
        self.places = [column.tobytes() for column in np.stack([m.steps.index for m in machines]).T]
        self.number = Counter(self.places)
        self.known: dict[bytes, tuple[Integers, Integers]] = {}

    def of(self, t: int, arcs: Integers) -> tuple[Integers, Integers]:
        """The symbols (M, C) of the different kinds of some steps into token t, and the kind of each step."""
        place, K = self.places[t], self.machines[0].steps.values.shape[2]
        if place not in self.known:
            every = np.arange((K + 1) * K)
            if self.number[place] * len(arcs) < len(every):
                return self._read(t, arcs)
            self.known[place] = self._read(t, every)
        self.meter.spend(SORT * len(arcs))
        symbols, kind = self.known[place]
        used, own = np.unique(kind[arcs], return_inverse=True)
        return symbols[:, used], own

    def _read(self, t: int, arcs: Integers) -> tuple[Integers, Integers]:
        self.meter.spend(SORT * (1 + len(self.machines)) * len(arcs))
        return distinct(np.stack([machine.symbols(t, arcs) for machine in self.machines]))


class Moves:
    """The joint states (M, N) of machines that were reached, and the moves from them, each of which is worked out once."""

    def __init__(self, machines: Sequence[Machine], meter: Meter) -> None:
        self.machines, self.meter = machines, meter
        self.states = np.zeros((len(machines), 1), np.int64)
        self.number: dict[bytes, int] = {}
        self.after, self.gain = np.full((1, 0), -1), np.zeros((1, 0), np.int64)

    def of(self, here: Integers, symbols: Integers) -> tuple[Integers, Grid]:
        """States and gains after each of some states (A,) and the symbols of each kind (M, C)."""
        numbers = (self.number.setdefault(column.tobytes(), len(self.number)) for column in symbols.T)
        columns = np.array(list(numbers), np.int64)
        more = len(self.number) - self.after.shape[1]
        self.after, self.gain = (
            np.pad(array, ((0, 0), (0, more)), constant_values=-1) for array in (self.after, self.gain)
        )
        at = np.ix_(here, columns)
        place, kind = np.nonzero(self.after[at] < 0)
        self.meter.spend(SORT * (len(here) * len(columns) + len(self.machines) * len(place)), 0)
        self.meter.make(len(place) * len(self.machines), f"{len(place)} moves of the machines inside are")
        if len(place):
            before, read = self.states[:, here[place]], symbols[:, kind]
            gain = np.zeros(len(place), np.int64)
            for machine, q, c in zip(self.machines, before, read, strict=True):
                gain = add(gain, machine.cost[q, c])
            pairs = zip(self.machines, before, read, strict=True)
            reached = np.stack([m.after[q, c] for m, q, c in pairs])
            reached[:, is_forbidden(gain)] = 0
            self._enter(here[place], columns[kind], reached, gain)
        return self.after[at], self.gain[at]

    def _enter(self, before: Integers, column: Integers, reached: Integers, gain: Grid) -> None:
        """Enter moves, and the states (M, N) that they reach; states keep their numbers."""
        M, N = self.states.shape
        self.meter.spend(SORT * M * (N + len(before)), 0)
        order, begins = groups(np.hstack([self.states, reached]))
        first = order[begins]
        number = np.where(first < N, first, 0)
        number[first >= N] = N + np.arange(int((first >= N).sum()))
        which = np.empty_like(order)
        which[order] = number[np.cumsum(begins) - 1]
        new = first[first >= N] - N
        self.states = np.hstack([self.states, reached[:, new]])
        self.after, self.gain = (
            np.pad(array, ((0, len(new)), (0, 0)), constant_values=-1) for array in (self.after, self.gain)
        )
        self.after[before, column], self.gain[before, column] = which[N:], gain


def largest_of(group: Integers, values: Grid, count: int) -> Grid:
    """The largest of the values (N, …) of each group from 0 to count - 1; the groups (N,) ascend."""
    result = np.full((count, *values.shape[1:]), FORBIDDEN)
    if len(group):
        begins = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        result[group[begins]] = np.maximum.reduceat(values, begins)
    return result


def distinct(columns: Integers) -> tuple[Integers, Integers]:
    """The different columns of (M, N), and which of them each column is."""
    order, begins = groups(columns)
    which = np.empty_like(order)
    which[order] = np.cumsum(begins) - 1
    return columns[:, order[begins]], which


def groups(columns: Integers) -> tuple[Integers, Booleans]:
    """An order of the columns of (M, N) in which equal ones follow each other, and where others begin in it."""
    key, kinds = np.zeros(columns.shape[1], np.int64), 1
    for row in columns:
        least = int(row.min(initial=0))
        more = int(row.max(initial=0)) - least + 1
        if kinds * more > LARGEST_KEY:
            key, kinds = np.unique(key, return_inverse=True)[1], len(key)
        key, kinds = key * more + (row - least), kinds * more
    order = np.argsort(key, kind="stable")
    key = key[order]
    return order, np.append(True, key[1:] != key[:-1])[: len(key)]


LARGEST_KEY = 2**62
"""Keys of columns, and penalties in fine units, stay below it, so that sums of two fit 64 bits."""
