"""A lattice multiplied with machines: a lattice whose states are labels with a state of each machine.

The machine of a rule on a few labels, such as the length of their runs, is in its first state after all other labels. It adds few states,
so that there is room for many such machines.
"""

from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.machine import Automaton
from formulations.dtypes import Booleans, Integers
from formulations.grid import FORBIDDEN, add, is_forbidden, violation_costs


@dataclass(frozen=True)
class ProductLattice:
    """A lattice of labels, its product with machines (a lattice of S states), and the label of each state (S,)."""

    base: Lattice
    lattice: Lattice
    label: Integers

    @classmethod
    def of(cls, lattice: Lattice) -> "ProductLattice":
        """The product with no machine."""
        return cls(lattice, lattice, np.arange(lattice.states) % lattice.shape[1])

    def times(
        self, steps: StepTable, automaton: Automaton, penalty: int, most: int
    ) -> "ProductLattice | None":
        """The product with one more machine, by its symbols on steps of labels.

        None for second order, if a pass takes more than `most` steps, or if no first label is possible.
        """
        lattice, symbols = self.lattice, self.of_states(steps)
        T, S = lattice.shape
        columns = np.stack([lattice.step, symbols.index[1:]])
        kinds, step = np.unique(columns, axis=1, return_inverse=True)
        if lattice.order > 1 or kinds.shape[1] * automaton.states * S * S > most:
            return None
        tables = np.broadcast_to(symbols.values, (len(symbols.values), S + 1, S))
        read = [(lattice.pool[p], tables[n, 1:]) for p, n in kinds.T.tolist()]
        first, start = tables[symbols.index[0], 0], ~is_forbidden(lattice.node[0])
        state, own = np.nonzero(_reached(automaton, read, first, start))
        if not len(state) or max(T, kinds.shape[1]) * len(state) ** 2 > most:
            return None
        pool = np.empty((len(read), len(state), len(state)), np.int64)
        for entry, (edges, table) in zip(pool, read, strict=True):
            arcs = own[:, None], table[state[:, None], state]
            costs = violation_costs(automaton.emits[arcs], penalty)
            scores = add(edges[state[:, None], state], -costs)
            entry[:] = np.where(automaton.next_state[arcs] == own, scores, FORBIDDEN)
        node = lattice.node[:, state]
        begins = automaton.next_state[0, first[state]] == own
        costs = violation_costs(automaton.emits[0, first[state]], penalty)
        node[0] = np.where(begins, add(node[0], -costs), FORBIDDEN)
        node[-1] = add(node[-1], -violation_costs(automaton.final[own], penalty))
        product = Lattice(node, pool, step.reshape(-1).astype(np.int64))
        return replace(self, lattice=product, label=self.label[state])

    def of_states(self, table: StepTable) -> StepTable:
        """A table of steps between labels as a table of steps between states."""
        if self.lattice is self.base:
            return table
        values = table.values[:, :, self.label]
        if values.shape[1] > 1:
            values = values[:, np.append(0, self.label + 1)]
        return StepTable(np.ascontiguousarray(values), table.index)


def _reached(
    automaton: Automaton, read: list[tuple[Integers, Integers]], first: Integers, start: Booleans
) -> Booleans:
    """(S, Q) reachable pairs of a lattice state and a machine state; START reads `first` (S,)."""
    reached = np.zeros((len(start), automaton.states), bool)
    reached[np.flatnonzero(start), automaton.next_state[0, first[start]]] = True
    waiting = reached.copy()
    while waiting.any():
        before, now = np.nonzero(waiting)
        new = np.zeros_like(reached)
        for edges, table in read:
            at, to = np.nonzero(~is_forbidden(edges[before]))
            new[to, automaton.next_state[now[at], table[before[at], to]]] = True
        waiting, reached = new & ~reached, reached | new
    return reached
