"""The machines of a leaf, with the costs of violations as scores, and with prices that the lattice pays to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.dtypes import Integers
from formulations.grid import FORBIDDEN, HARD, Grid, violation_costs
from formulations.problem.problem import GroundRule
from ilpinfer.core.trees import MachineKey
from ilpinfer.proof.meter import SORT, Meter


def add(one: Grid, other: Grid) -> Grid:
    """A sum in which forbidden numbers stay below all that labellings score, as these are small."""
    result: Grid = np.maximum(one + other, FORBIDDEN)
    return result


@dataclass(frozen=True, eq=False)
class PricedMachine:
    """A machine of Q states and C symbols: `cost` (Q, C) and `final` (Q,) are scores <= 0, `price` (C,) is paid by the lattice.

    Machines of one `group` pay only the largest of their costs. What no machine can gain back needs no look ahead.
    """

    steps: StepTable
    after: Integers
    cost: Grid
    final: Grid
    price: Grid
    meter: Meter
    group: int | None = None
    looks_ahead: bool = True

    @cached_property
    def _tables(self) -> Integers:
        """(P, (K + 1) · K or K) the symbols by the label before, where it matters, and the label."""
        return self.steps.values.reshape(len(self.steps.values), -1)

    def symbols(self, t: int, arcs: Integers) -> Integers:
        """The symbols of steps into a token, given as (1 + label before) · K + label."""
        row, K = self._tables[self.steps.index[t]], self.steps.values.shape[2]
        result: Integers = row[arcs if len(row) > K else arcs % K]
        return result

    @cached_property
    def futures(self) -> list[Grid]:
        """For t = 0 to T, (Q,): the largest gain that can follow a state before token t, prices included."""
        best = self.final if self.group is None else 0 * self.final
        if not self.looks_ahead:
            return [0 * best] * len(self.steps.index) + [best]
        gain, result = add(self.cost, self.price), [best]
        settled, known = set[tuple[int, bool]](), dict[tuple[int, bool], Integers]()
        for t in range(len(self.steps.index) - 1, -1, -1):
            place = int(self.steps.index[t]), t == 0
            if place not in known:
                rows = self.steps.at(t)
                self.meter.spend(SORT * rows.size)
                known[place] = np.unique(rows if len(rows) == 1 else rows[:1] if t == 0 else rows[1:])
            if place not in settled:
                read = known[place]
                self.meter.spend(len(best) * len(read))
                before = add(gain[:, read], best[self.after[:, read]]).max(axis=1)
                if np.array_equal(before, best):
                    settled.add(place)
                else:
                    self.meter.keep(len(best))
                    best, settled = before, set()
            result.append(best)
        return result[::-1]


def is_shared(rule: GroundRule) -> bool:
    """Whether it counts once for several machines."""
    return rule.once and len(rule.machines) > 1


def machine_of(
    rules: Sequence[GroundRule], key: MachineKey, scale: int, price: Grid | None, meter: Meter
) -> PricedMachine:
    """The machine of a key, in units of which a grid unit has `scale`. If it counts once by itself, its states say whether it has."""
    rule, machine, shared = rules[key[0]], rules[key[0]].machines[key[1]], is_shared(rules[key[0]])
    if rule.once and not shared:
        machine = machine.once
    penalty = HARD if rule.hard else scale * rule.penalty
    counts = [np.minimum(x, 1) if rule.binary else x for x in (machine.emits, machine.final)]
    cost, final = (-violation_costs(count, penalty) for count in counts)
    prices = np.zeros(cost.shape[1], np.int64) if price is None else price
    group = key[0] if shared else None
    return PricedMachine(machine.steps, machine.next_state, cost, final, prices, meter, group, not shared)


def acceptor(paths: Sequence[tuple[int, ...]], T: int, K: int, meter: Meter) -> PricedMachine:
    """A machine that forbids these labellings at the end, and no others."""
    size = K * (2 + sum(map(len, paths)))
    meter.make(size, f"{len(paths)} excluded labellings")
    meter.spend(size)
    off, count = size // K - 1, 1
    after, final = np.full((off + 1, K), off), np.zeros(off + 1, np.int64)
    for path in paths:
        state = 0
        for label in path:
            if after[state, label] == off:
                after[state, label], count = count, count + 1
            state = int(after[state, label])
        final[state] = FORBIDDEN
    steps = StepTable(np.arange(K)[None, None], np.zeros(T, np.int64))
    nothing = np.zeros(K, np.int64)
    cost = np.broadcast_to(nothing, after.shape)
    return PricedMachine(steps, after, cost, final, nothing, meter, looks_ahead=False)
