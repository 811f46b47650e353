"""Passes over a lattice and machines that follow it: what a leaf of a proof is recomputed with."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import Lattice, StepTable
from formulations.compiled.problem import GroundRule
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden

Integers = NDArray[np.int64]
Labelling = tuple[int, ...]

MOST_PREFIXES, MOST_CELLS = 300_000, 2**24
"""Of a forward pass, and of an array."""


class Rejected(Exception):
    """A claim that does not hold, or a proof that does not prove it."""


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
    found, which = np.unique(columns, axis=1, return_inverse=True)
    return found, which.reshape(-1)


def layers(readers: list[Reader], lattice: Lattice) -> tuple[list[Layer], Grid]:
    """The product of the machines inside, token by token as far as it can be reached, and its final scores."""
    states, found = np.zeros((1 + len(readers), 1), np.int64), list[Layer]()
    known: dict[tuple[int, ...], tuple[Integers, Integers]] = {}
    for t in range(len(lattice.node)):
        blank = np.zeros_like(_edges(lattice, t)[1])
        tables = t == 0, *(int(reader.steps.index[t]) for reader in readers)
        if tables not in known:
            symbols = np.stack([blank, *(_along(reader.steps, t, lattice) for reader in readers)])
            known[tables] = _distinct(symbols.reshape(len(symbols), -1))
        kinds, kind = known[tables]
        none = np.zeros((states.shape[1], kinds.shape[1]), np.int64)
        if max(blank.size, none.size) * states.shape[1] > MOST_CELLS:
            raise Rejected(
                f"leaf: the machines inside have {states.shape[1]} joint states at token {t}, too many to check"
            )
        arcs = [(r, q[:, None], c) for r, q, c in zip(readers, states[1:], kinds[1:], strict=True)]
        gain = add(none, *(reader.gain[q, c] for reader, q, c in arcs))
        reached = np.stack([none, *(reader.after[q, c] for reader, q, c in arcs)])
        states, after = _distinct(reached.reshape(len(reached), -1))
        found.append(Layer(kind.reshape(blank.shape), after.reshape(none.shape), gain))
    return found, add(
        0 * states[0], *(reader.final[q] for reader, q in zip(readers, states[1:], strict=True))
    )


def completions(lattice: Lattice, layers: list[Layer], final: Grid) -> list[Grid]:
    """For t = 0 to T, (R, Q): the best that can follow a state and a joint state before token t."""
    best = [np.broadcast_to(final, (lattice.pool.shape[1], len(final)))]
    for t in range(len(layers) - 1, -1, -1):
        (score, target), layer = _edges(lattice, t), layers[t]
        after = best[-1][target[:, :, None], layer.after.T[layer.kind]]
        best.append(add(score[:, :, None], layer.gain.T[layer.kind], after).max(axis=1))
    return best[::-1]


def narrowed(lattice: Lattice, limit: int) -> Lattice:
    """The lattice without the states through which no labelling passes the limit, rules apart (max-marginals)."""
    best, node = completions(lattice, *layers([], lattice)), lattice.node.copy()
    reached = np.zeros(1, np.int64)
    for t in range(len(node)):
        score, target = _edges(lattice, t)
        arrived = np.full(node.shape[1], FORBIDDEN)
        np.maximum.at(arrived, target, add(reached[:, None], score))
        lost = add(arrived, best[t + 1][:, 0]) <= limit
        node[t, lost], arrived[lost] = FORBIDDEN, FORBIDDEN
        reached = arrived
    return Lattice(node, lattice.pool, lattice.step)


def potential(reader: Reader, lattice: Lattice, worth: tuple[StepTable, int] | None) -> list[Grid]:
    """For t = 0 to T, (Q,): the best that a machine's scores, and what its sum is charged, can add up to from there."""
    if reader.shared is not None:
        return [0 * reader.final] * (len(lattice.node) + 1)
    best = [reader.final]
    for t in range(len(lattice.node) - 1, -1, -1):
        symbol = _along(reader.steps, t, lattice)
        weight = worth[1] * _along(worth[0], t, lattice) if worth else 0
        most = np.full(reader.gain.shape[1], FORBIDDEN)
        np.maximum.at(most, symbol, np.broadcast_to(weight, symbol.shape))
        best.append(add(most, reader.gain, best[-1][reader.after]).max(axis=1))
    return best[::-1]


def trie(excluded: tuple[Labelling, ...], K: int) -> Integers:
    """(N + 1, K): the node after a node and a label, -1 where no excluded labelling goes on so, from -1 too."""
    number: dict[Labelling, int] = {(): 0}
    for path in excluded:
        for t in range(len(path)):
            number.setdefault(path[: t + 1], len(number))
    children = np.full((len(number) + 1, K), -1)
    for prefix, node in number.items():
        if prefix:
            children[number[prefix[:-1]], prefix[-1]] = node
    return children


@dataclass(frozen=True)
class Forward:
    """A pass over prefixes, those equal in all that matters for the rest merged.

    A row of prefixes is: state, joint state of the machines inside, node of the trie of excluded labellings, state of each
    machine outside, and what each rule that counts once for several machines has paid.

    Parameters
    ----------
    lattice : scores, less what is charged for sums whose machine is not outside
    layers, best : machines inside, and best completions, charged for all sums
    outside, potentials : the other machines followed, and the best that they can still add
    back : what is given back for the sums charged in `lattice`
    limit : what a prefix must be able to pass
    children : the trie
    """

    lattice: Lattice
    layers: list[Layer]
    best: list[Grid]
    outside: list[Reader]
    potentials: list[list[Grid]]
    back: int
    limit: int
    children: Integers

    def largest_left(self) -> int:
        """The largest bound of what is left at the end, `FORBIDDEN` where nothing is."""
        shared = sorted({reader.shared for reader in self.outside if reader.shared is not None})
        rows, value = np.zeros((1, 3 + len(self.outside) + len(shared)), np.int64), np.zeros(1, np.int64)
        left, seen = np.zeros(0, np.int64), 0
        for t in range(len(self.lattice.node)):
            chunks = len(rows) * self.lattice.pool.shape[1] // (MOST_CELLS // 16) + 1
            pieces = zip(np.array_split(rows, chunks), np.array_split(value, chunks), strict=True)
            found = [self._grown(t, *piece, shared) for piece in pieces]
            rows, value, left = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
            rows, value = _merged(rows, value)
            seen += len(rows)
            if seen > MOST_PREFIXES:
                raise Rejected(f"leaf: more than {MOST_PREFIXES} prefixes are left to follow")
        return int(left.max(initial=FORBIDDEN))

    def _grown(self, t: int, rows: Integers, value: Grid, shared: list[int]) -> tuple[Integers, Grid, Grid]:
        """Prefixes longer by token t that can still pass the limit, their values and their bounds."""
        state, (joint, node, *machines) = rows[:, 0], (column[:, None] for column in rows.T[1:])
        score, target = (array[state] for array in _edges(self.lattice, t))
        layer, last = self.layers[t], t == len(self.layers) - 1
        kind, label = layer.kind[state], np.arange(target.shape[1]) % self.children.shape[1]
        columns = [target, layer.after[joint, kind], self.children[node, label]]
        value = add(value[:, None], score, layer.gain[joint, kind])
        rest = add(self.best[t + 1][columns[0], columns[1]], np.array(self.back))
        paid = dict(zip(shared, machines[len(self.outside) :], strict=True))
        for reader, potential, q in zip(self.outside, self.potentials, machines, strict=False):
            symbol = _along(reader.steps, t, self.lattice)[state]
            after, gain = reader.after[q, symbol], reader.gain[q, symbol]
            if reader.shared is not None:
                gain = np.minimum(gain, reader.final[after]) if last else gain
                before = paid[reader.shared]
                paid[reader.shared] = np.minimum(before, gain)
                gain = paid[reader.shared] - before
            value, rest = add(value, gain), add(rest, potential[t + 1][after])
            columns.append(after)
        bound = add(value, rest)
        kept = (bound > self.limit) & ~is_forbidden(bound) & ((columns[2] < 0) | (not last))
        columns += paid.values()
        grown = np.stack([np.broadcast_to(column, kept.shape)[kept] for column in columns], axis=1)
        return grown, value[kept], bound[kept]


def _merged(rows: Integers, value: Grid) -> tuple[Integers, Grid]:
    """Rows that differ, each with its largest value."""
    found, which = np.unique(rows, axis=0, return_inverse=True)
    best = np.full(len(found), FORBIDDEN)
    np.maximum.at(best, which.reshape(-1), value)
    return found, best
