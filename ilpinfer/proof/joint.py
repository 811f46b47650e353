"""Machines that are read together: joint states get numbers as they are reached, and each move from them is worked out once."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.grid import Grid, is_forbidden
from ilpinfer.proof.machines import Machine, add
from ilpinfer.proof.meter import MOST_CELLS, SORT, Meter

LARGEST_KEY = 2**62
"""Keys of columns, and penalties in fine units, stay below it, so that sums of two fit 64 bits."""
FULL = MOST_CELLS // 8  # moves that are kept


class Joint:
    """One machine of several, of which state 0 is the first. A kind of step is what all of them read at it."""

    def __init__(self, machines: Sequence[Machine], meter: Meter) -> None:
        self.machines, self.meter = machines, meter
        groups = sorted({machine.group for machine in machines if machine.group is not None})
        self.paid = [None if m.group is None else len(machines) + groups.index(m.group) for m in machines]
        self.states = np.zeros((len(machines) + len(groups), 1), np.int64)  # also what groups have paid
        self.after, self.cost = np.full((1, 0), -1), np.zeros((1, 0), np.int64)  # by state and kind
        self.number = dict[bytes, int]()  # of kinds
        self.symbols, self.price = np.zeros((len(machines), 0), np.int64), np.zeros(0, np.int64)  # of kinds
        self.places = [column.tobytes() for column in np.stack([m.steps.index for m in machines]).T]
        self.uses, self.known = Counter(self.places), dict[bytes, Integers]()
        some = {id(future): bool(future.any()) for m in machines for future in m.futures}
        futures = zip(*(machine.futures for machine in machines), strict=True)
        self.futures = [[(n, h) for n, h in enumerate(row) if some[id(h)]] for row in futures]

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
        symbols = np.stack([machine.symbols(t, arcs) for machine in self.machines])
        order, begins = sorted_columns(symbols)
        columns, which = symbols[:, order[begins]], np.empty_like(order)
        which[order] = np.cumsum(begins) - 1
        known = len(self.number)
        numbers = [self.number.setdefault(each.tobytes(), len(self.number)) for each in columns.T]
        new = columns[:, np.array(numbers) >= known]
        self.symbols = np.hstack([self.symbols, new])
        price = sum((m.price[row] for m, row in zip(self.machines, new, strict=True)), self.price[:0].sum())
        self.price = np.append(self.price, price)
        self.after, self.cost = (
            widened(array, self.states.shape[1], len(self.number)) for array in (self.after, self.cost)
        )
        return np.array(numbers)[which]

    def move(self, states: Integers, kinds: Integers) -> tuple[Integers, Grid]:
        """The states that follow, and the costs."""
        after, C = self.after[states, kinds], self.after.shape[1]
        if len(missing := np.flatnonzero(after < 0)):
            self.meter.spend(SORT * len(missing), 0)
            self._enter(*np.divmod(np.unique(states[missing] * C + kinds[missing]), C))
            after = self.after[states, kinds]
        return after, self.cost[states, kinds]

    def _enter(self, before: Integers, kind: Integers) -> None:
        """Work out moves. States keep their numbers, and those that are reached first get the next ones."""
        (R, N), count = self.states.shape, len(before)
        self.meter.make(count * R, f"{count} moves of {R} machines are")
        self.meter.spend(SORT * R * (N + count), 0)
        reached, cost = self.states[:, before], np.zeros(count, np.int64)
        for n, (machine, paid) in enumerate(zip(self.machines, self.paid, strict=True)):
            arcs = reached[n], self.symbols[n, kind]
            own, reached[n] = machine.cost[arcs], machine.after[arcs]
            if paid is not None:
                own = np.minimum(own - reached[paid], 0)
                reached[paid] += own
            cost = add(cost, own)
        reached[:, is_forbidden(cost)] = 0
        order, begins = sorted_columns(np.hstack([self.states, reached]))
        first = order[begins]
        new = first[first >= N] - N
        number = first.copy()
        number[first >= N] = N + np.arange(len(new))
        which = np.empty_like(order)
        which[order] = number[np.cumsum(begins) - 1]
        self.states = np.hstack([self.states, reached[:, new]])
        self.meter.make(self.states.shape[1] * len(self.number), f"moves of {N + len(new)} joint states are")
        self.after, self.cost = (
            widened(array, N + len(new), len(self.number)) for array in (self.after, self.cost)
        )
        self.after[before, kind], self.cost[before, kind] = which[N:], cost

    def future(self, t: int, states: Integers) -> Grid:
        """The most that can be gained before token t and later, and at the end that which is."""
        N = self.states.shape[1]
        if len(states) > N:
            return self.future(t, np.arange(N))[states]
        total = np.zeros(len(states), np.int64)
        for n, future in self.futures[t]:
            total = add(total, future[self.states[n, states]])
        if t == len(self.places):
            owed = self.states[:, states]
            for n, paid in enumerate(self.paid):
                if paid is not None:
                    owed[paid] = np.minimum(owed[paid], self.machines[n].final[owed[n]])
            total += (owed - self.states[:, states])[len(self.machines) :].sum(axis=0)
        return total

    def forget(self, states: Integers) -> Integers:
        """New numbers of states; others and all moves are forgotten if there are too many."""
        if self.after.size <= FULL:
            return states
        self.meter.spend(SORT * len(states), 0)
        here, states = np.unique(states, return_inverse=True)
        self.states = self.states[:, here]
        self.after, self.cost = (
            np.full((len(here), len(self.number)), -1),
            np.zeros((len(here), len(self.number)), np.int64),
        )
        return states


def widened(array: Integers, rows: int, columns: int) -> Integers:
    return np.pad(array, ((0, rows - len(array)), (0, columns - array.shape[1])), constant_values=-1)


def sorted_columns(columns: Integers) -> tuple[Integers, Booleans]:
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
