"""Stages: the labellings of a graph are read by further machines, and what cannot pass the limit is pruned.

A prefix is a node of the graph with a joint state of the machines. Of equal prefixes, the best stays; where account is kept of costs,
those that beat each other in cost and score (Handler and Zang 1980).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.grid import FORBIDDEN, Grid
from ilpinfer.proof.graphs import NOTHING, Graph, Steps, joined, largest_of
from ilpinfer.proof.joint import JointMachine
from ilpinfer.proof.machines import PricedMachine, add
from ilpinfer.proof.meter import MOST_CELLS, MOST_STORED, SORT, Meter, need
from ilpinfer.proof.product import GraphProduct


class MachinePass:
    """Machines that follow a graph, and the limit, less what machines that come later can gain."""

    def __init__(
        self, base: Graph | GraphProduct, machines: Sequence[PricedMachine], limit: int, meter: Meter
    ) -> None:
        self.base, self.limit, self.meter = base, limit, meter
        self.joint = JointMachine(machines, meter)

    def graph(self) -> Graph:
        """The graph of all prefixes that a labelling above the limit may have."""
        result = self.pruned(MOST_STORED // 6)
        need(result is not None, f"leaf: more than {MOST_STORED // 6} steps would have to be stored")
        assert result is not None
        return result

    def pruned(self, most: int) -> Graph | None:
        """As `graph`; None where more steps than `most` are left."""
        nodes = states = np.zeros(1, np.int64)
        values, layers, size = [np.zeros(1, np.int64)], list[Steps](), 0
        for t in range(len(self.base.layers)):
            states = self.joint.forget(states)
            steps, states, total = self.extend(t, nodes, states, values[-1])
            target, nodes, states, value = self._merged(steps.target, states, total)
            size += len(target)
            if not len(value):
                return NOTHING
            if size > most:
                return None
            self.meter.make(2 * len(value), f"{len(value)} prefixes are left at token {t}")
            layers.append(steps._replace(target=target))
            values.append(value)
        self.meter.keep(6 * size)
        best = [self.ends(nodes, states)]
        for t in range(len(layers) - 1, -1, -1):
            steps = layers[t]
            worth = add(steps.score, best[-1][steps.target])
            best.append(largest_of(steps.source, worth, len(values[t])))
            layers[t] = steps.only(values[t][steps.source] + worth > self.limit)
        return Graph(layers, best[::-1])

    def ends(self, nodes: Integers, states: Integers) -> Grid:
        """The final scores of prefixes, those of the base included."""
        return add(self.base.best[-1][nodes], self.joint.future(len(self.base.layers), states))

    def extend(self, t: int, nodes: Integers, states: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """The steps into token t by which prefixes may pass the limit; the joint state and the value that each leads to."""
        layer, ahead, parts = self.base.layers[t], self.base.best[t + 1], list[tuple[Steps, Integers, Grid]]()
        kinds, reach = self.joint.kinds(t, layer.arc), add(value, self.joint.future(t, states))
        some = max(1, MOST_CELLS // 16 * (int(layer.source.max(initial=0)) + 1) // max(len(layer.arc), 1))
        for begin in range(0, max(len(nodes), 1), some):
            at, steps = self.base.of(t, nodes[begin : begin + some])
            self.meter.spend(len(at), begin == 0)
            above = reach[begin:][steps.source] + steps.score + ahead[steps.target] > self.limit
            steps, kind = steps.only(above), kinds[at[above]]
            self.meter.spend(2 * len(kind), 0)
            owner = begin + steps.source
            after, cost = self.joint.move(states[owner], kind)
            gain = add(steps.score, cost + self.joint.prices(kind))
            total = value[owner] + gain
            above = total + add(self.joint.future(t + 1, after), ahead[steps.target]) > self.limit
            steps = steps._replace(source=owner, score=gain, cost=steps.cost + cost)
            parts.append((steps.only(above), after[above], total[above]))
        if len(parts) == 1:
            return parts[0]
        pieces, afters, totals = zip(*parts, strict=True)
        return joined(pieces), np.concatenate(afters), np.concatenate(totals)

    def _merged(
        self, nodes: Integers, states: Integers, total: Grid
    ) -> tuple[Integers, Integers, Integers, Grid]:
        """For each prefix its place among the different ones, these as nodes and states, and the best value of each."""
        N = len(self.joint.states)
        key = nodes * N + states
        size = int(key.max(initial=-1)) + 1
        if size <= 2**10 + 8 * len(key):
            places = np.arange(size)
        else:
            self.meter.spend(SORT * len(key), 0)
            places, key = np.unique(key, return_inverse=True)
        best = np.full(len(places), FORBIDDEN)
        np.maximum.at(best, key, total)
        there = best > FORBIDDEN
        nodes, states = np.divmod(places[there], N)
        return np.cumsum(there)[key] - 1, nodes, states, best[there]


@dataclass(frozen=True)
class Account:
    """A claim: no labelling at or above the floor costs less than the budget, or scores more at that cost."""

    budget: int
    unit: int  # the greatest common divisor of all penalties
    floor: int
    score: int

    @property
    def limit(self) -> int:
        """Every counterexample has a value above this."""
        better = self.score + 1 - self.budget
        cheaper = self.floor - (self.budget - self.unit)
        return (min(better, cheaper) if self.budget else better) - 1

    @property
    def largest(self) -> int:
        """No sum of its numbers is larger."""
        return self.budget + self.unit + abs(self.floor) + abs(self.score) + 1

    def scale_by(self, scale: int) -> "Account":
        """In units `scale` times as fine, where scores are multiples of `scale`."""
        score = (self.score + 1) * scale - 1
        return Account(self.budget * scale, self.unit * scale, self.floor * scale, score)

    def holds(self, value: Grid, spent: Integers) -> Booleans:
        """Whether labellings of that value and cost are counterexamples."""
        score = value + spent
        cheaper = (spent < self.budget) & (score >= self.floor)
        return cheaper | ((spent <= self.budget) & (score > self.score))


def remains(stage: MachinePass, account: Account, rest: int) -> bool:
    """Whether a stage leaves a counterexample, where other machines gain the rest. Of equal prefixes, those stay that no other one beats in both cost and score."""
    nodes = states = value = spent = np.zeros(1, np.int64)
    for t in range(len(stage.base.layers)):
        steps, states, value = stage.extend(t, nodes, stage.joint.forget(states), value)
        spent = spent[steps.source] - steps.cost
        kept = np.flatnonzero(spent <= account.budget)
        key = steps.target * len(stage.joint.states) + states
        stage.meter.spend(SORT * len(kept), 0)
        kept = kept[_pareto(key[kept], value[kept] + spent[kept], spent[kept])]
        nodes, states, value, spent = steps.target[kept], states[kept], value[kept], spent[kept]
    ends = stage.ends(nodes, states)
    return bool(account.holds(value + ends + rest, spent - ends).any())


def _pareto(key: Integers, score: Grid, spent: Integers) -> Integers:
    """The places of prefixes that no other one with the same key beats in both score and cost."""
    order = np.lexsort((-score, spent, key))
    number = np.cumsum(np.append(0, np.diff(key[order]) != 0))[: len(order)]
    _, rank = np.unique(score, return_inverse=True)
    height = number * (len(order) + 1) + rank[order]
    before = np.append(-1, np.maximum.accumulate(height)[:-1])
    result: Integers = order[height > before] if len(order) else order
    return result
