"""Machines that are read together: joint states get numbers as they are reached, and each move from them is worked out once."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import Grid, is_forbidden
from ilpinfer.proof.machines import PricedMachine, add
from ilpinfer.proof.meter import MOST_CELLS, SORT, Meter

FULL = MOST_CELLS // 8  # moves that are kept


class Columns:
    """Columns with numbers, in the order in which they come first."""

    def __init__(self, rows: int) -> None:
        self.values, self._number = np.zeros((rows, 0), np.int64), dict[bytes, int]()

    def __len__(self) -> int:
        return len(self._number)

    def number(self, columns: Integers) -> Integers:
        """The numbers of columns, of which new ones get the next numbers."""
        known, number = len(self), self._number
        texts = np.ascontiguousarray(columns.T).view(f"V{8 * len(columns)}").ravel().tolist()
        result = np.array([number.setdefault(text, len(number)) for text in texts], np.int64)
        if len(self) > known:
            new = np.empty((len(columns), len(self) - known), np.int64)
            fresh = result >= known
            new[:, result[fresh] - known] = columns[:, fresh]
            self.values = np.hstack([self.values, new])
        return result


class JointMachine:
    """One machine of several, of which state 0 is the first. A kind of step is what all of them read at it."""

    def __init__(self, machines: Sequence[PricedMachine], meter: Meter) -> None:
        self.machines, self.meter = machines, meter
        groups = sorted({machine.group for machine in machines if machine.group is not None})
        self.paid = [
            (n, len(machines) + groups.index(m.group)) for n, m in enumerate(machines) if m.group is not None
        ]
        self.states = Columns(len(machines) + len(groups))  # of machines, and what groups have paid
        self.states.number(np.zeros((len(machines) + len(groups), 1), np.int64))
        self.symbols = Columns(len(machines))  # by kind
        self.after, self.cost = np.full((1, 0), -1), np.zeros((1, 0), np.int64)  # by state and kind
        self.places = [column.tobytes() for column in np.stack([m.steps.index for m in machines]).T]
        self.uses, self.known = Counter(self.places), dict[bytes, Integers]()
        some = {id(future): bool(future.any()) for m in machines for future in m.futures}
        futures = zip(*(machine.futures for machine in machines), strict=True)
        self.futures = [[(n, h) for n, h in enumerate(row) if some[id(h)]] for row in futures]
        self.priced = [n for n, machine in enumerate(machines) if machine.price.any()]

    def kinds(self, t: int, arcs: Integers) -> Integers:
        """The kinds of steps into a token; tokens at which all machines read the same tables share them."""
        place, K = self.places[t], self.machines[0].steps.values.shape[2]
        if place not in self.known:
            if self.uses[place] * len(arcs) < (K + 1) * K:
                return self._kinds(t, arcs)
            self.known[place] = self._kinds(t, np.arange((K + 1) * K))
        return self.known[place][arcs]

    def _kinds(self, t: int, arcs: Integers) -> Integers:
        self.meter.spend(SORT * (1 + len(self.machines)) * len(arcs))
        result = self.symbols.number(np.stack([machine.symbols(t, arcs) for machine in self.machines]))
        self._widen()
        return result

    def prices(self, kinds: Integers) -> Grid:
        """What the machines get back of the prices that the lattice has paid at steps."""
        result = np.zeros(len(kinds), np.int64)
        for n in self.priced:
            result += self.machines[n].price[self.symbols.values[n, kinds]]
        return result

    def move(self, states: Integers, kinds: Integers) -> tuple[Integers, Grid]:
        """The states that follow, and the costs."""
        after, C = self.after[states, kinds], self.after.shape[1]
        if len(missing := np.flatnonzero(after < 0)):
            self.meter.spend(SORT * len(missing), 0)
            self._enter(*np.divmod(np.unique(states[missing] * C + kinds[missing]), C))
            after = self.after[states, kinds]
        return after, self.cost[states, kinds]

    def _enter(self, before: Integers, kind: Integers) -> None:
        """Work out moves."""
        R, count = len(self.states.values), len(before)
        self.meter.make(count * R, f"{count} moves of {R} machines")
        self.meter.spend(SORT * R * count, 0)
        cost, paid = np.zeros(count, np.int64), dict(self.paid)
        reached, symbols = self.states.values[:, before], self.symbols.values[:, kind]
        for n, machine in enumerate(self.machines):
            arcs = reached[n], symbols[n]
            own, reached[n] = machine.cost[arcs], machine.after[arcs]
            if n in paid:
                own = np.minimum(own - reached[paid[n]], 0)
                reached[paid[n]] += own
            cost = add(cost, own)
        reached[:, is_forbidden(cost)] = 0
        after = self.states.number(reached)
        self._widen()
        self.after[before, kind], self.cost[before, kind] = after, cost

    def _widen(self) -> None:
        """Make room for moves by all states and kinds, and for some more."""
        (rows, columns), N, C = self.after.shape, len(self.states), len(self.symbols)
        if rows < N or columns < C:
            self.meter.make(N * C, f"moves of {N} joint states")
            shape, old = (N + N // 4 + 8, C + C // 4 + 8), (self.after, self.cost)
            self.after, self.cost = np.full(shape, -1), np.zeros(shape, np.int64)
            self.after[:rows, :columns], self.cost[:rows, :columns] = old

    def future(self, t: int, states: Integers) -> Grid:
        """The most that can be gained before token t and later, and at the end that which is."""
        if len(states) > (N := len(self.states)):
            return self.future(t, np.arange(N))[states]
        total = np.zeros(len(states), np.int64)
        for n, future in self.futures[t]:
            total = add(total, future[self.states.values[n, states]])
        if t == len(self.places):
            owed = self.states.values[:, states]
            for n, paid in self.paid:
                owed[paid] = np.minimum(owed[paid], self.machines[n].final[owed[n]])
            total += (owed - self.states.values[:, states]).sum(axis=0)
        return total

    def forget(self, states: Integers) -> Integers:
        """New numbers of states; others and all moves are forgotten if there are too many."""
        if self.after.size <= FULL:
            return states
        self.meter.spend(SORT * len(states), 0)
        here, result = np.unique(states, return_inverse=True)
        old, self.states = self.states, Columns(len(self.states.values))
        self.states.number(old.values[:, here])
        self.after, self.cost = self.after[:0], self.cost[:0]
        self._widen()
        return result
