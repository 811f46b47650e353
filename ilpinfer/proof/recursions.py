"""Passes over a lattice and machines that follow it: what a leaf of a proof is recomputed with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden
from formulations.problem.problem import GroundRule
from ilpinfer.proof.meter import MOST_CELLS, Meter
from ilpinfer.proof.meter import Rejected as Rejected

Labelling = tuple[int, ...]

LARGEST_KEY = 2**62
UNIQUE = 8
"""Steps for each number of an array that is sorted."""


@dataclass(frozen=True)
class Reader:
    """A machine with what its violations cost, as scores.

    Parameters
    ----------
    steps : the symbol of each step
    after, gain : (Q, C) next state and score of a state and a symbol
    final : (Q,) score after the last token
    shared : the rule, where it counts once for several machines, which then pay together
    """

    steps: StepTable
    after: Integers
    gain: Grid
    final: Grid
    shared: int | None


@dataclass(frozen=True)
class Layer:
    """What the machines inside do at a token.

    Parameters
    ----------
    kind : (R, B) edges that the machines do not tell apart are of one kind
    after, gain : (Q, C) next joint state and score of a joint state and a kind
    """

    kind: Integers
    after: Integers
    gain: Grid


def reader(rules: Sequence[GroundRule], key: tuple[int, int], scale: int) -> Reader:
    """A machine whose violations are priced; where they count once, it remembers that it has paid."""
    rule, machine = rules[key[0]], rules[key[0]].machines[key[1]]
    if rule.penalty is None:
        gain, final = (np.where(x > 0, FORBIDDEN, 0) for x in (machine.emits, machine.final))
        return Reader(machine.steps, machine.next_state, gain, final, None)
    cost = -rule.penalty * scale
    if not rule.binary:
        return Reader(machine.steps, machine.next_state, cost * machine.emits, cost * machine.final, None)
    gain, final = cost * np.minimum(machine.emits, 1), cost * np.minimum(machine.final, 1)
    if len(rule.machines) > 1:
        return Reader(machine.steps, machine.next_state, gain, final, key[0])
    paid = machine.next_state + machine.states
    after = np.concatenate([np.where(machine.emits > 0, paid, machine.next_state), paid])
    return Reader(
        machine.steps, after, np.concatenate([gain, 0 * gain]), np.concatenate([final, 0 * final]), None
    )


def _edges(lattice: Lattice, t: int) -> tuple[Grid, Integers]:
    """Scores and targets (R, B) of the edges into token t: from the one state START, or from each state."""
    _, S, B = lattice.pool.shape
    target = np.arange(S)[None] if t == 0 else lattice.base[:, None] + np.arange(B)
    score = lattice.node[t][target]
    return (score if t == 0 else add(score, lattice.pool[lattice.step[t - 1]])), target


def _along(steps: StepTable, t: int, lattice: Lattice) -> Integers:
    """A table's values (R, B) on the edges into token t; the label of a state is its number modulo K."""
    _, S, K = lattice.pool.shape
    table = steps.at(t)
    before = np.zeros(1, np.int64) if t == 0 else 1 + np.arange(S) % K
    label = np.arange(S if t == 0 else K) % K
    return table[before[:, None] if len(table) > 1 else np.zeros_like(before)[:, None], label]


def _distinct(columns: Integers) -> tuple[Integers, Integers]:
    """The different columns of (M, N), and which of them each column is."""
    result, which = np.unique(columns, axis=1, return_inverse=True)
    return result, which.reshape(-1)


def layers(readers: list[Reader], lattice: Lattice, meter: Meter) -> tuple[list[Layer], Grid]:
    """The product of the machines inside, token by token as far as it can be reached, and its final scores."""
    states, result = np.zeros((1 + len(readers), 1), np.int64), list[Layer]()
    known: dict[tuple[int, ...], tuple[Integers, Integers]] = {}
    for t in range(len(lattice.node)):
        blank = np.zeros_like(_edges(lattice, t)[1])
        tables = t == 0, *(int(reader.steps.index[t]) for reader in readers)
        if tables not in known:
            meter.make(len(tables) * blank.size, f"there are {len(tables) - 1} machines inside")
            meter.spend(UNIQUE * len(tables) * blank.size)
            meter.keep(blank.size)
            symbols = np.stack([blank, *(_along(reader.steps, t, lattice) for reader in readers)])
            known[tables] = _distinct(symbols.reshape(len(symbols), -1))
        kinds, kind = known[tables]
        none = np.zeros((states.shape[1], kinds.shape[1]), np.int64)
        size = max(blank.size * states.shape[1], none.size * len(tables))
        meter.make(size, f"the machines inside have {states.shape[1]} joint states at token {t}")
        meter.spend(UNIQUE * none.size * len(tables))
        meter.keep(2 * none.size)
        arcs = [(r, q[:, None], c) for r, q, c in zip(readers, states[1:], kinds[1:], strict=True)]
        gain = add(none, *(reader.gain[q, c] for reader, q, c in arcs))
        reached = np.stack([none, *(reader.after[q, c] for reader, q, c in arcs)])
        states, after = _distinct(reached.reshape(len(reached), -1))
        result.append(Layer(kind.reshape(blank.shape), after.reshape(none.shape), gain))
    return result, add(
        0 * states[0], *(reader.final[q] for reader, q in zip(readers, states[1:], strict=True))
    )


def completions(lattice: Lattice, layers: list[Layer], final: Grid, meter: Meter) -> list[Grid]:
    """For t = 0 to T, (R, Q): the best that can follow a state and a joint state before token t."""
    best = [np.broadcast_to(final, (lattice.pool.shape[1], len(final)))]
    for t in range(len(layers) - 1, -1, -1):
        layer = layers[t]
        meter.spend(layer.kind.size * len(layer.after))
        meter.keep(len(layer.kind) * len(layer.after))
        score, target = _edges(lattice, t)
        after = best[-1][target[:, :, None], layer.after.T[layer.kind]]
        best.append(add(score[:, :, None], layer.gain.T[layer.kind], after).max(axis=1))
    return best[::-1]


def through(lattice: Lattice) -> Grid:
    """(T, S) the best through each state."""
    T, S = lattice.node.shape
    K = lattice.pool.shape[2]
    target = lattice.base[:, None] + np.arange(K)
    reach, ahead = np.empty((T, S), np.int64), np.zeros((T, S), np.int64)
    reach[0] = lattice.node[0]
    for t in range(1, T):
        arrived = np.full(S, FORBIDDEN)
        np.maximum.at(arrived, target, add(reach[t - 1][:, None], lattice.pool[lattice.step[t - 1]]))
        reach[t] = add(arrived, lattice.node[t])
        back = T - 1 - t
        after = add(lattice.node[back + 1], ahead[back + 1])[target]
        ahead[back] = add(lattice.pool[lattice.step[back]], after).max(axis=1)
    return add(reach, ahead)


def narrowed(lattice: Lattice, limit: int, meter: Meter) -> Lattice:
    """The lattice without the states through which no labelling passes the limit, rules apart (max-marginals)."""
    edges = lattice.states * lattice.pool.shape[2]
    meter.spend((UNIQUE + 1) * len(lattice.step) * edges, 2 * len(lattice.node))
    meter.keep(2 * lattice.node.size)
    node = np.where(through(lattice) <= limit, FORBIDDEN, lattice.node)
    return Lattice(node, lattice.pool, lattice.step)


def potential(
    reader: Reader, lattice: Lattice, worth: tuple[StepTable, int] | None, meter: Meter
) -> list[Grid]:
    """For t = 0 to T, (Q,): the best that a machine's scores, and what its sum is charged, can add up to from there."""
    if reader.shared is not None:
        return [0 * reader.final] * (len(lattice.node) + 1)
    best = [reader.final]
    for t in range(len(lattice.node) - 1, -1, -1):
        meter.spend(lattice.states * lattice.pool.shape[2] + reader.gain.size)
        meter.keep(len(reader.gain))
        symbol = _along(reader.steps, t, lattice)
        weight = worth[1] * _along(worth[0], t, lattice) if worth else 0
        most = np.full(reader.gain.shape[1], FORBIDDEN)
        np.maximum.at(most, symbol, np.broadcast_to(weight, symbol.shape))
        best.append(add(most, reader.gain, best[-1][reader.after]).max(axis=1))
    return best[::-1]


def trie(excluded: tuple[Labelling, ...], K: int, meter: Meter) -> Integers:
    """(N + 1, K): the node after a node and a label, -1 where no excluded labelling goes on so, from -1 too."""
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
class Steps:
    """Steps by token t, those of a node one after the other.

    Parameters
    ----------
    source, target : (E,) nodes before and after token t
    score : (E,)
    state, column : (E,) the edge (R, B) of the lattice that it takes
    taken : (E,) what machines take off on it, from 0 down; part of the score
    """

    source: Integers
    target: Integers
    score: Grid
    state: Integers
    column: Integers
    taken: Grid

    def only(self, kept: NDArray[Any]) -> "Steps":
        """Some of them."""
        return Steps(*(array[kept] for array in vars(self).values()))


@dataclass(frozen=True)
class Product:
    """The lattice with the machines inside; a node is a state and a joint state.

    Parameters
    ----------
    lattice : scores, less what is charged
    layers, best : what the machines do, and best completions
    """

    lattice: Lattice
    layers: list[Layer]
    best: list[Grid]

    def ahead(self, t: int) -> Grid:
        """The best that can follow each node before token t."""
        return self.best[t].reshape(-1)

    def steps(self, t: int, nodes: Integers) -> Steps:
        """Those of some nodes, by their places."""
        state, joint = np.divmod(nodes, self.best[t].shape[1])
        layer, (score, target) = self.layers[t], (array[state] for array in _edges(self.lattice, t))
        kind, joint = layer.kind[state], joint[:, None]
        taken = layer.gain[joint, kind]
        score = add(score, taken)
        target = target * self.best[t + 1].shape[1] + layer.after[joint, kind]
        source, column = np.divmod(np.arange(target.size), target.shape[1])
        return Steps(source, target.reshape(-1), score.reshape(-1), state[source], column, taken.reshape(-1))


@dataclass(frozen=True)
class Graph:
    """What machines have left of a product, or of a graph.

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
        """Those of some nodes, by their places."""
        every = self.layers[t]
        begin, end = (np.searchsorted(every.source, nodes, side) for side in ("left", "right"))
        place = np.repeat(np.arange(len(nodes)), end - begin)
        at = np.arange(len(place)) - np.repeat(np.cumsum(end - begin) - end, end - begin)
        return replace(every.only(at), source=place)

    def narrowed(self, limit: int) -> "Graph":
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
class Followed:
    """A pass over a product or a graph with machines that follow it, prefixes equal in all that matters merged.

    A prefix is told by: node, node of the trie of excluded labellings, state of each machine, and what each rule that
    counts once for several machines has paid.

    Parameters
    ----------
    base : what is followed, sums charged
    lattice : whose edges the steps take
    readers, worths, potentials : the machines; what a unit of its sum is charged, if it is; and the best that each can
        still add
    back : what is given back for the other sums charged
    limit : what a prefix must be able to pass
    children : the trie
    meter : what it may cost
    """

    base: Product | Graph
    lattice: Lattice
    readers: list[Reader]
    worths: list[tuple[StepTable, int] | None]
    potentials: list[list[Grid]]
    back: int
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
        """What is left."""
        rows, value = self.start(), np.zeros(1, np.int64)
        T, layers = len(self.lattice.node), list[Steps]()
        for t in range(T):
            steps, rows, value = self.extended(t, rows, value)
            self.meter.keep(len(vars(steps)) * len(value))
            rows, value, which = _merged(rows, value)
            layers.append(replace(steps, target=which))
        ends = [potential[T][q] for potential, q in zip(self.potentials, rows.T[2:], strict=False)]
        best = [add(self.base.ahead(T)[rows[:, 0]], *ends)]
        for t in range(T - 1, -1, -1):
            self.meter.spend(UNIQUE * len(layers[t].source))
            ahead = np.full(layers[t - 1].target.max(initial=0) + 1 if t else 1, FORBIDDEN)
            np.maximum.at(ahead, layers[t].source, add(layers[t].score, best[-1][layers[t].target]))
            best.append(ahead)
        return Graph(layers, best[::-1]).narrowed(self.limit - self.back)

    def extended(self, t: int, rows: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """The steps to prefixes longer by token t that can still pass the limit, these prefixes, and their values."""
        degree = self.lattice.pool.shape[2]
        chunks = len(rows) * degree // (MOST_CELLS // 16) + 1
        result, left = [], 0
        for at in np.array_split(np.arange(len(rows)), chunks):
            self.meter.spend(len(at) * degree * (UNIQUE + rows.shape[1]))
            result.append(self._grown(t, rows[at], value[at], int(at[0]) if len(at) else 0))
            left += len(result[-1][2])
            self.meter.make(2 * left * rows.shape[1], f"{left} prefixes are left at token {t}")
        pieces, grown, values = zip(*result, strict=True)
        steps = Steps(*(np.concatenate(arrays) for arrays in zip(*pieces, strict=True)))
        return steps, np.concatenate(grown), np.concatenate(values)

    def _grown(
        self, t: int, rows: Integers, value: Grid, begin: int
    ) -> tuple[tuple[Integers, ...], Integers, Grid]:
        """The same for some rows, of which the first is at place `begin`."""
        steps, last = self.base.steps(t, rows[:, 0]), t == len(self.lattice.node) - 1
        if not any(self.worths):
            reach = value[steps.source] + steps.score + self.base.ahead(t + 1)[steps.target]
            steps = steps.only(reach + self.back > self.limit)
        before = rows[steps.source]
        gain, taken, rest = (
            steps.score,
            steps.taken,
            add(self.base.ahead(t + 1)[steps.target], np.array(self.back)),
        )
        columns = [steps.target, self.children[before[:, 1], steps.column % self.children.shape[1]]]
        paid = dict(zip(self.shared, before.T[2 + len(self.readers) :], strict=True))
        for reader, worth, potential, q in zip(
            self.readers, self.worths, self.potentials, before.T[2:], strict=False
        ):
            symbol = _along(reader.steps, t, self.lattice)[steps.state, steps.column]
            after, own = reader.after[q, symbol], reader.gain[q, symbol]
            if worth:
                gain = add(gain, worth[1] * _along(worth[0], t, self.lattice)[steps.state, steps.column])
            if reader.shared is not None:
                own = np.minimum(own, reader.final[after]) if last else own
                so_far = paid[reader.shared]
                paid[reader.shared] = np.minimum(so_far, own)
                own = paid[reader.shared] - so_far
            gain, taken, rest = add(gain, own), add(taken, own), add(rest, potential[t + 1][after])
            columns.append(after)
        value = add(value[steps.source], gain)
        bound = add(value, rest)
        kept = (bound > self.limit) & ~is_forbidden(bound) & ((columns[1] < 0) | (not last))
        grown = np.stack([column[kept] for column in (*columns, *paid.values())], axis=1)
        steps = replace(steps, source=begin + steps.source, score=gain, taken=taken).only(kept)
        return tuple(vars(steps).values()), grown, value[kept]


def _merged(rows: Integers, value: Grid) -> tuple[Integers, Grid, Integers]:
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
