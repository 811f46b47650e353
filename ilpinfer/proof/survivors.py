"""A quick check of leaves with few states left: one pass over prefixes of labellings, in Python integers.

A prefix has the state, the joint state of all machines, and its place among the excluded labellings; of equal ones, the best
stays. It is dropped where the best that can follow, machines apart, does not take it past the limit.

The pass proves the same as the stages, since it follows all their machines at once. If it needs many prefixes it gives
up, and the stages decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden
from ilpinfer.proof.edges import UNIQUE
from ilpinfer.proof.meter import MOST_CELLS, Meter
from ilpinfer.proof.scored_machines import ScoredMachine

MOST_EXTENSIONS = 20_000
"""Edges that prefixes may be extended by before the pass gives up, and edges that may be left."""
START = -1

Joint = tuple[int, ...]
Edge = tuple[int, int, int, int, Joint]
"""Score with the best that can follow, score, target, label, and the symbol of each machine."""


@dataclass(frozen=True)
class Edges:
    """The edges of a lattice that are not forbidden, in the order of tokens.

    Parameters
    ----------
    labels : int
        K.
    token : ndarray of int, shape (E,)
        The token that an edge enters.
    source, target : ndarray of int, shape (E,)
        States; the source is `START` at token 0.
    score : Grid
        (E,).
    """

    labels: int
    token: Integers
    source: Integers
    target: Integers
    score: Grid

    def values(self, steps: StepTable) -> list[int]:
        """A table's values on the edges."""
        before = np.where(self.source == START, 0, 1 + self.source % self.labels)
        row = before if steps.values.shape[1] > 1 else 0
        values: list[int] = steps.values[steps.index[self.token], row, self.target % self.labels].tolist()
        return values


def rules_out(
    lattice: Lattice,
    machines: Sequence[ScoredMachine],
    excluded: Sequence[tuple[int, ...]],
    limit: int,
    meter: Meter,
) -> bool:
    """Whether no labelling, apart from those excluded, is worth more than the limit; False also where it gives up.

    Parameters
    ----------
    lattice : Lattice
        Scores less the charges of multipliers whose machines are not followed.
    machines : sequence of ScoredMachine
        Machines that are followed; the scores of each are 0 at most.
    limit : int
        Less the dual constants of these multipliers, in the units of the scores.
    """
    if any(machine.shared is not None for machine in machines):
        return False
    edges = _edges_left(lattice)
    if edges is None:
        return False
    meter.spend(UNIQUE * len(edges.score) * (1 + len(machines)) + sum(map(len, excluded)))
    meter.keep((5 + len(machines)) * len(edges.score))
    trie, moves, left = _trie(excluded), _Moves(machines), MOST_EXTENSIONS
    prefixes = {(START, (0,) * len(machines), 0): 0}
    for leaving in _ranked(_by_token(edges, machines, len(lattice.node))):
        grown = dict[tuple[int, Joint, int], int]()
        for (state, joint, node), value in prefixes.items():
            for best, score, target, label, symbols in leaving.get(state, ()):
                if value + best <= limit:
                    break
                left -= 1
                after, gain = moves[joint, symbols]
                if value + best + gain > limit:
                    key = target, after, trie.get((node, label), -1)
                    grown[key] = max(grown.get(key, FORBIDDEN), value + score + gain)
            if left < 0:
                return False
        prefixes = grown
    meter.spend(UNIQUE * (MOST_EXTENSIONS - left))
    ends = (value + moves.end(joint) for (_, joint, node), value in prefixes.items() if node < 0)
    return all(end <= limit for end in ends)


def _edges_left(lattice: Lattice) -> Edges | None:
    """The edges that are not forbidden; None where there are many."""
    kept, K = ~is_forbidden(lattice.node), lattice.pool.shape[2]
    many = kept.sum(axis=1)
    most = int(many[0] + (many[:-1] * np.minimum(many[1:], K)).sum())
    if most > MOST_EXTENSIONS or int(many.sum()) * K > MOST_CELLS // 4:
        return None
    first, (before, state) = np.flatnonzero(kept[0]), np.nonzero(kept[:-1])
    entered = lattice.base[state][:, None] + np.arange(K)
    scores = add(lattice.pool[lattice.step[before], state], lattice.node[before[:, None] + 1, entered])
    row, column = np.nonzero(~is_forbidden(scores))
    return Edges(
        K,
        np.append(0 * first, before[row] + 1),
        np.append(0 * first + START, state[row]),
        np.append(first, entered[row, column]),
        np.append(lattice.node[0, first], scores[row, column]),
    )


def _by_token(edges: Edges, machines: Sequence[ScoredMachine], T: int) -> list[dict[int, list[Edge]]]:
    """For each token, the edges into it by their sources, with nothing that follows."""
    leaving: list[dict[int, list[Edge]]] = [{} for _ in range(T)]
    symbols = [edges.values(machine.steps) for machine in machines]
    joint = zip(*symbols, strict=True) if symbols else ((),) * len(edges.score)
    label = edges.target % edges.labels
    columns = (column.tolist() for column in (edges.token, edges.source, edges.score, edges.target, label))
    for t, source, score, target, name, symbol in zip(*columns, joint, strict=True):
        leaving[t].setdefault(source, []).append((score, score, target, name, symbol))
    return leaving


def _ranked(by_token: list[dict[int, list[Edge]]]) -> list[dict[int, list[Edge]]]:
    """The edges with the best that can follow, those of a source in its order; without those that nothing follows."""
    ahead = {target: 0 for edges in by_token[-1].values() for _, _, target, _, _ in edges}
    result = list[dict[int, list[Edge]]]()
    for leaving in by_token[::-1]:
        ranked = dict[int, list[Edge]]()
        for source, edges in leaving.items():
            own = [
                (score + ahead[target], score, target, label, symbols)
                for _, score, target, label, symbols in edges
                if target in ahead
            ]
            if own:
                ranked[source] = sorted(own, reverse=True)
        ahead = {source: edges[0][0] for source, edges in ranked.items()}
        result.append(ranked)
    return result[::-1]


def _trie(excluded: Sequence[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    """The nodes of a trie of labellings, by the node before and the label; its root is 0."""
    result, count = dict[tuple[int, int], int](), 0
    for path in excluded:
        node = 0
        for label in path:
            if (node, label) not in result:
                count += 1
                result[node, label] = count
            node = result[node, label]
    return result


class _Moves(dict[tuple[Joint, Joint], tuple[Joint, int]]):
    """Next states and score of the machines, by their states and symbols; worked out when first asked for."""

    def __init__(self, machines: Sequence[ScoredMachine]) -> None:
        super().__init__()
        self._machines = machines

    def __missing__(self, key: tuple[Joint, Joint]) -> tuple[Joint, int]:
        arcs = list(zip(self._machines, *key, strict=True))
        after = tuple(int(machine.after[q, symbol]) for machine, q, symbol in arcs)
        self[key] = after, sum(int(machine.gain[q, symbol]) for machine, q, symbol in arcs)
        return self[key]

    def end(self, joint: Joint) -> int:
        """The score of the machines after the last token."""
        return sum(int(machine.final[q]) for machine, q in zip(self._machines, joint, strict=True))
