"""The product of a lattice with a few machines, and the best completions in it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers
from formulations.grid import Grid, add
from ilpinfer.proof.edges import UNIQUE, distinct_columns, edges_into, values_along
from ilpinfer.proof.meter import Meter
from ilpinfer.proof.scored_machines import ScoredMachine


@dataclass(frozen=True)
class Layer:
    """The joint machine of a product at one token.

    Parameters
    ----------
    kind : ndarray of int, shape (R, B)
        Edges that the machines do not tell apart are of one kind.
    after, gain : ndarray of int or Grid of shape (Q, C)
        Next joint state and score of a joint state and a kind.
    """

    kind: Integers
    after: Integers
    gain: Grid


def layers(scored_machines: list[ScoredMachine], lattice: Lattice, meter: Meter) -> tuple[list[Layer], Grid]:
    """The reachable joint machine of the product, token by token, and its final scores."""
    states, result = np.zeros((1 + len(scored_machines), 1), np.int64), list[Layer]()
    known: dict[tuple[int, ...], tuple[Integers, Integers]] = {}
    for t in range(len(lattice.node)):
        blank = np.zeros_like(edges_into(lattice, t)[1])
        tables = t == 0, *(int(reader.steps.index[t]) for reader in scored_machines)
        if tables not in known:
            meter.make(len(tables) * blank.size, f"there are {len(tables) - 1} machines inside")
            meter.spend(UNIQUE * len(tables) * blank.size)
            meter.keep(blank.size)
            symbols = np.stack(
                [blank, *(values_along(reader.steps, t, lattice) for reader in scored_machines)]
            )
            known[tables] = distinct_columns(symbols.reshape(len(symbols), -1))
        kinds, kind = known[tables]
        none = np.zeros((states.shape[1], kinds.shape[1]), np.int64)
        size = max(blank.size * states.shape[1], none.size * len(tables))
        meter.make(size, f"the machines inside have {states.shape[1]} joint states at token {t}")
        meter.spend(UNIQUE * none.size * len(tables))
        meter.keep(2 * none.size)
        arcs = [(r, q[:, None], c) for r, q, c in zip(scored_machines, states[1:], kinds[1:], strict=True)]
        gain = add(none, *(reader.gain[q, c] for reader, q, c in arcs))
        reached = np.stack([none, *(reader.after[q, c] for reader, q, c in arcs)])
        states, after = distinct_columns(reached.reshape(len(reached), -1))
        result.append(Layer(kind.reshape(blank.shape), after.reshape(none.shape), gain))
    return result, add(
        0 * states[0], *(reader.final[q] for reader, q in zip(scored_machines, states[1:], strict=True))
    )


def completions(lattice: Lattice, layers: list[Layer], final: Grid, meter: Meter) -> list[Grid]:
    """For t = 0 to T, (R, Q): the best that can follow a state and a joint state before token t."""
    best = [np.broadcast_to(final, (lattice.pool.shape[1], len(final)))]
    for t in range(len(layers) - 1, -1, -1):
        layer = layers[t]
        meter.spend(layer.kind.size * len(layer.after))
        meter.keep(len(layer.kind) * len(layer.after))
        score, target = edges_into(lattice, t)
        after = best[-1][target[:, :, None], layer.after.T[layer.kind]]
        best.append(add(score[:, :, None], layer.gain.T[layer.kind], after).max(axis=1))
    return best[::-1]


@dataclass(frozen=True)
class Steps:
    """Steps by token t, those of a node one after the other.

    Parameters
    ----------
    source, target : ndarray of int, shape (E,)
        Nodes before and after token t.
    score : Grid
        (E,).
    state, column : ndarray of int, shape (E,)
        The edge (R, B) of the lattice that it takes.
    penalty : Grid
        (E,) the penalties of machines, as numbers from 0 down; part of the score.
    """

    source: Integers
    target: Integers
    score: Grid
    state: Integers
    column: Integers
    penalty: Grid

    def only(self, places: NDArray[Any]) -> "Steps":
        """Some of them."""
        return Steps(*(array[places] for array in vars(self).values()))


@dataclass(frozen=True)
class Product:
    """The product of the lattice with machines; a node is a state and a joint state.

    Parameters
    ----------
    lattice : Lattice
        Scores less the charges of multipliers.
    layers, best : list of Layer or list of Grid
        The machines' transitions and costs, and best completions.
    """

    lattice: Lattice
    layers: list[Layer]
    best: list[Grid]

    def ahead(self, t: int) -> Grid:
        """The best that can follow each node before token t."""
        return self.best[t].reshape(-1)

    def steps(self, t: int, nodes: Integers) -> Steps:
        """The steps of some nodes, by their places."""
        state, joint = np.divmod(nodes, self.best[t].shape[1])
        layer, (score, target) = self.layers[t], (array[state] for array in edges_into(self.lattice, t))
        kind, joint = layer.kind[state], joint[:, None]
        penalty = layer.gain[joint, kind]
        score = add(score, penalty)
        target = target * self.best[t + 1].shape[1] + layer.after[joint, kind]
        source, column = np.divmod(np.arange(target.size), target.shape[1])
        return Steps(
            source, target.reshape(-1), score.reshape(-1), state[source], column, penalty.reshape(-1)
        )
