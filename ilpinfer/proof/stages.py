"""Stages of the check of one leaf of a proof tree.

Each stage multiplies the pruned graph of the stage before with more machines, and prunes again.
"""

from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden
from ilpinfer.proof.edges import UNIQUE, values_along
from ilpinfer.proof.meter import MOST_CELLS, Meter
from ilpinfer.proof.product import Product, Steps
from ilpinfer.proof.scored_machines import ScoredMachine

LARGEST_KEY = 2**62
"""Keys of prefixes, and penalties in fine units, stay below it, so that sums of two fit 64 bits."""


def build_trie(excluded: tuple[tuple[int, ...], ...], K: int, meter: Meter) -> Integers:
    """Build a trie of the excluded labellings: entry [n, k] of (N + 1, K) is the child of node n by label k, or -1.

    The last row, which index -1 reaches, is all -1.
    """
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
class PrunedGraph:
    """A layered graph of prefixes of labellings. A stage leaves it after pruning.

    Parameters
    ----------
    layers : list of Steps
        Layers for each of T tokens, the steps into it.
    best : list of Grid
        Best for t = 0 to T, (N,) the best score from each node to the end.
    """

    layers: list[Steps]
    best: list[Grid]

    def ahead(self, t: int) -> Grid:
        """Return the best score from each node before token t to the end."""
        return self.best[t]

    def steps(self, t: int, nodes: Integers) -> Steps:
        """Return the steps out of the given nodes; `source` of each is an index into `nodes`."""
        layer = self.layers[t]
        begin, end = (np.searchsorted(layer.source, nodes, side) for side in ("left", "right"))
        place = np.repeat(np.arange(len(nodes)), end - begin)
        at = np.arange(len(place)) - np.repeat(np.cumsum(end - begin) - end, end - begin)
        return replace(layer.only(at), source=place)

    def prune(self, limit: int) -> "PrunedGraph":
        """Remove the steps that lie on no path with a score above the limit."""
        reached, layers = np.zeros(1, np.int64), []
        for steps, best in zip(self.layers, self.best[1:], strict=True):
            value = add(reached[steps.source], steps.score)
            kept = add(value, best[steps.target]) > limit
            reached = np.full(len(best), FORBIDDEN)
            np.maximum.at(reached, steps.target[kept], value[kept])
            layers.append(steps.only(kept))
        return PrunedGraph(layers, self.best)


@dataclass(frozen=True)
class StagePass:
    """A forward pass over a product or graph. It runs more machines along each prefix and merges prefixes with equal keys.

    A shared rule has several machines, but its penalty is charged once. The key of a prefix has its node, its node of the trie
    of excluded labellings, the state of each machine, and the penalty so far of each shared rule.

    Parameters
    ----------
    base : Product or PrunedGraph
        The product or graph of the stage before; its scores include the charges of multipliers.
    lattice : Lattice
        Without charges; it gives the symbols of each edge.
    scored_machines : list of ScoredMachine
        The machines of the stage.
    multipliers : list of tuple of (StepTable, int) or None
        Multipliers for each machine, the weights and the multiplier of its sum, or None; the pass gives the
        charge back, and the machine applies the exact penalty instead.
    potentials : list of list of Grid
        Potentials for each machine, t = 0 to T, (Q,): an upper bound on its score from there to the end.
    constant : int
        Sum of the dual constants of multipliers whose machines are not in the graph yet.
    limit : int
        The claim; a prefix stays if a labelling may exceed it, fine units.
    children : ndarray of int
        The trie of excluded labellings.
    meter : Meter
        The limits of steps and memory of the check.
    """

    base: Product | PrunedGraph
    lattice: Lattice
    scored_machines: list[ScoredMachine]
    multipliers: list[tuple[StepTable, int] | None]
    potentials: list[list[Grid]]
    constant: int
    limit: int
    children: Integers
    meter: Meter

    @property
    def shared(self) -> list[int]:
        """The shared rules of the stage."""
        return sorted({machine.shared for machine in self.scored_machines if machine.shared is not None})

    def start(self) -> Integers:
        """Return the key (1, N) of the empty prefix."""
        return np.zeros((1, 2 + len(self.scored_machines) + len(self.shared)), np.int64)

    def graph(self) -> PrunedGraph:
        """Build the graph of all prefixes that a labelling above the limit may have."""
        rows, value = self.start(), np.zeros(1, np.int64)
        T, layers = len(self.lattice.node), list[Steps]()
        for t in range(T):
            steps, rows, value = self.extend(t, rows, value)
            self.meter.keep(len(vars(steps)) * len(value))
            rows, value, which = _merge_equal_keys(rows, value)
            layers.append(replace(steps, target=which))
        ends = [potential[T][q] for potential, q in zip(self.potentials, rows.T[2:], strict=False)]
        best = [add(self.base.ahead(T)[rows[:, 0]], *ends)]
        for t in range(T - 1, -1, -1):
            self.meter.spend(UNIQUE * len(layers[t].source))
            ahead = np.full(layers[t - 1].target.max(initial=0) + 1 if t else 1, FORBIDDEN)
            np.maximum.at(ahead, layers[t].source, add(layers[t].score, best[-1][layers[t].target]))
            best.append(ahead)
        return PrunedGraph(layers, best[::-1]).prune(self.limit - self.constant)

    def extend(self, t: int, rows: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """Extend prefixes by token t: the steps that may exceed the limit, the keys of the new prefixes, and their values."""
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
        """Run `extend` for one chunk of rows; `begin` is the index of its first row."""
        steps, last = self.base.steps(t, rows[:, 0]), t == len(self.lattice.node) - 1
        if not any(
            self.multipliers
        ):  # penalties only lower scores, so that this bound holds before they are known
            reach = value[steps.source] + steps.score + self.base.ahead(t + 1)[steps.target]
            steps = steps.only(reach + self.constant > self.limit)
        before = rows[steps.source]
        gain, penalty = steps.score, steps.penalty
        future = add(self.base.ahead(t + 1)[steps.target], np.array(self.constant))
        columns = [steps.target, self.children[before[:, 1], steps.column % self.children.shape[1]]]
        paid = dict(zip(self.shared, before.T[2 + len(self.scored_machines) :], strict=True))
        for machine, multiplier, potential, q in zip(
            self.scored_machines, self.multipliers, self.potentials, before.T[2:], strict=False
        ):
            symbol = values_along(machine.steps, t, self.lattice)[steps.state, steps.column]
            after, own = machine.after[q, symbol], machine.gain[q, symbol]
            if multiplier:
                gain = add(
                    gain,
                    multiplier[1] * values_along(multiplier[0], t, self.lattice)[steps.state, steps.column],
                )
            if machine.shared is not None:
                own = np.minimum(own, machine.final[after]) if last else own
                so_far = paid[machine.shared]
                paid[machine.shared] = np.minimum(so_far, own)
                own = paid[machine.shared] - so_far
            gain, penalty = add(gain, own), add(penalty, own)
            future = add(future, potential[t + 1][after])
            columns.append(after)
        value = add(value[steps.source], gain)
        bound = add(value, future)
        kept = (bound > self.limit) & ~is_forbidden(bound) & ((columns[1] < 0) | (not last))
        grown = np.stack([column[kept] for column in (*columns, *paid.values())], axis=1)
        steps = replace(steps, source=begin + steps.source, score=gain, penalty=penalty).only(kept)
        return tuple(vars(steps).values()), grown, value[kept]


def _merge_equal_keys(rows: Integers, value: Grid) -> tuple[Integers, Grid, Integers]:
    """Merge equal rows: the distinct rows, the largest value of each, and for each row the index of its distinct row."""
    which = row_keys(rows)
    count = int(which.max(initial=-1)) + 1
    first, best = np.zeros(count, np.int64), np.full(count, FORBIDDEN)
    first[which[::-1]] = np.arange(len(which))[::-1]
    np.maximum.at(best, which, value)
    return rows[first], best, which


def row_keys(rows: Integers) -> Integers:
    """Number the distinct rows from 0; equal rows get the same number (N,)."""
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
