"""Stages: the labellings of a graph are read by further machines, and what cannot pass the limit is pruned.

A prefix is a node of the graph with the states of machines, and with what rules that count once have paid. Of equal prefixes, the best
stays; where account is kept of costs, those that beat each other in cost and score (Handler and Zang 1980).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, repeat
from typing import Any

import numpy as np

from formulations.dtypes import Booleans, Integers
from formulations.grid import Grid
from ilpinfer.proof.graphs import NOTHING, Graph, Product, Steps, distinct, groups, joined, largest_of
from ilpinfer.proof.machines import Machine, add
from ilpinfer.proof.meter import MOST_CELLS, SORT, Meter

Joint = tuple[int, ...]
FEW = 100_000
"""Steps that a graph may have, and that prefixes may be extended by, times machines, for the pass in Python."""


@dataclass(frozen=True)
class Stage:
    """Machines that read a graph of K labels, and the limit, less what machines that come later can gain."""

    base: Graph | Product
    machines: Sequence[Machine]
    limit: int
    labels: int
    meter: Meter

    @cached_property
    def futures(self) -> list[list[Grid]]:
        return [machine.futures for machine in self.machines]

    @cached_property
    def shared(self) -> list[int]:
        """The rules that count once for several machines."""
        return sorted({machine.shared for machine in self.machines if machine.shared is not None})

    def start(self) -> Integers:
        """The empty prefix: one column, with a row for the node, each machine, and each shared rule."""
        return np.zeros((1 + len(self.machines) + len(self.shared), 1), self.kind)

    @property
    def kind(self) -> type:
        """The type of keys: what shared rules have paid needs 64 bits."""
        return np.int64 if self.shared else np.int32

    def excludes(self) -> bool:
        """Whether nothing passes the limit, by a pass in Python integers; False also where that would take many steps."""
        base, machines, most = self.base, self.machines, FEW // (1 + len(self.machines))
        if not isinstance(base, Graph) or self.shared or sum(base.sizes) > most:
            return False
        self.meter.spend(SORT * sum(base.sizes) * (2 + len(machines)), base.length)
        edges, moves, used = self._edges(base), dict[tuple[Joint, Joint], tuple[Joint, int]](), 0
        priced = [(n, machine.futures) for n, machine in enumerate(machines) if machine.price.any()]
        rests = [[(n, future[t]) for n, future in priced] for t in range(base.length)]
        rests.append([(n, machine.final) for n, machine in enumerate(machines)])
        front = {(0, (0,) * len(machines)): 0}
        for t, size in enumerate(base.sizes):
            leaving, grown = dict[int, list[Any]](), dict[tuple[int, Joint], int]()
            for edge in islice(edges, size):
                leaving.setdefault(edge[0], []).append(edge)
            for (node, states), value in front.items():
                reach = value + sum(int(rest[states[n]]) for n, rest in rests[t])
                for _, worth, score, target, read in leaving.get(node, ()):
                    if reach + worth <= self.limit:
                        continue
                    used += 1
                    if (states, read) not in moves:
                        arcs = list(zip(machines, states, read, strict=True))
                        after = tuple(int(m.after[q, c]) for m, q, c in arcs)
                        moves[states, read] = after, sum(int(m.cost[q, c] + m.price[c]) for m, q, c in arcs)
                    after, gain = moves[states, read]
                    future = sum(int(rest[after[n]]) for n, rest in rests[t + 1])
                    if value + worth + gain + future > self.limit:
                        key, total = (target, after), value + score + gain
                        grown[key] = max(grown.get(key, total), total)
                if used > most:
                    self.meter.spend(SORT * FEW)
                    return False
            front = grown
        self.meter.spend(SORT * used * (1 + len(machines)))
        return not front

    def _edges(self, graph: Graph) -> Iterator[Any]:
        """Source, score with the best that can follow, score, target, and the machines' symbols of each step, token by token."""
        steps = joined(graph.layers)
        token = np.repeat(np.arange(graph.length), graph.sizes)
        first = np.cumsum([0, *(len(best) for best in graph.best[1:-1])])
        worth = steps.score + np.concatenate(graph.best[1:])[first[token] + steps.target]
        symbols = [machine.symbols(token, steps.arc).tolist() for machine in self.machines]
        joint = zip(*symbols, strict=True) if symbols else repeat((), len(token))
        columns = (column.tolist() for column in (steps.source, worth, steps.score, steps.target))
        return zip(*columns, joint, strict=True)

    def graph(self) -> Graph:
        """The graph of all prefixes that a labelling above the limit may have."""
        keys, values, layers = self.start(), [np.zeros(1, np.int64)], list[Steps]()
        for t in range(self.base.length):
            steps, keys, value = self._grown(t, keys, values[-1])
            if not len(value):
                return NOTHING
            self.meter.keep(6 * len(steps.arc))
            layers.append(steps)
            values.append(value)
        best = [self.ends(keys)]
        for t in range(len(layers) - 1, -1, -1):
            steps = layers[t]
            self.meter.spend(SORT * len(steps.arc))
            worth = add(steps.score, best[-1][steps.target])
            best.append(largest_of(steps.source, worth, len(values[t])))
            layers[t] = steps.only(values[t][steps.source] + worth > self.limit)
        return Graph(layers, best[::-1])

    def ends(self, keys: Integers) -> Grid:
        """The final scores of prefixes, those of the base included."""
        result: Grid = self.base.ahead(self.base.length)[keys[0]]
        for future, q in zip(self.futures, keys[1:], strict=False):
            result = add(result, future[-1][q])
        return result

    def extend(self, t: int, keys: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """The steps into token t that may pass the limit, with the prefix and the value that each leads to."""
        pieces, keys_of, values_of = zip(*self._parts(t, keys, value), strict=True)
        self.meter.make(2 * sum(map(len, values_of)) * len(keys), f"prefixes that are left at token {t} are")
        return joined(pieces), np.concatenate(keys_of, axis=1), np.concatenate(values_of)

    def _grown(self, t: int, keys: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """As `extend`, with the different prefixes, the best value of each, and their places as the targets of steps."""
        pieces, columns, best = list[Steps](), keys[:, :0], value[:0]
        for steps, grown, values in self._parts(t, keys, value):
            before = len(best)
            which, columns, best = _merged(np.hstack([columns, grown]), np.concatenate([best, values]))
            pieces = [piece._replace(target=which[piece.target]) for piece in pieces]
            pieces.append(steps._replace(target=which[before:]))
            self.meter.spend(SORT * len(which), 0)
            self.meter.make(len(best) * len(keys), f"{len(best)} prefixes are left at token {t}")
        return joined(pieces), columns, best

    def _parts(self, t: int, keys: Integers, value: Grid) -> Iterator[tuple[Steps, Integers, Grid]]:
        """Steps, prefixes and values as of `extend`, for some prefixes at a time, to save memory."""
        chunks = len(value) * self.labels * len(keys) // MOST_CELLS + 1
        for at in np.array_split(np.arange(len(value)), chunks):
            steps, grown, values = self._extend(t, keys[:, at], value[at])
            yield steps._replace(source=at[steps.source]), grown, values

    def _extend(self, t: int, keys: Integers, value: Grid) -> tuple[Steps, Integers, Grid]:
        """As `extend`, for prefixes that fit into memory together."""
        M, last = len(self.machines), t == self.base.length - 1
        steps, ahead = self.base.steps(t, keys[0]), self.base.ahead(t + 1)
        self.meter.spend(len(steps.arc))
        reach = value
        for future, q in zip(self.futures, keys[1:], strict=False):
            reach = add(reach, future[t][q])
        steps = steps.only(reach[steps.source] + steps.score + ahead[steps.target] > self.limit)
        self.meter.spend(len(steps.arc) * (SORT + len(keys)), 0)
        before, gain, penalty, most = keys[:, steps.source], steps.score, steps.penalty, ahead[steps.target]
        grown, paid = [steps.target], dict(zip(self.shared, before[1 + M :], strict=True))
        for machine, future, q in zip(self.machines, self.futures, before[1:], strict=False):
            symbol = machine.symbols(t, steps.arc)
            after, cost = machine.after[q, symbol], machine.cost[q, symbol]
            if (rule := machine.shared) is not None:
                now = np.minimum(paid[rule], np.minimum(cost, machine.final[after]) if last else cost)
                paid[rule], cost = now, now - paid[rule]
            gain, penalty = add(gain, cost + machine.price[symbol]), add(penalty, cost)
            most = add(most, future[t + 1][after])
            grown.append(after)
        total = value[steps.source] + gain
        kept = total + most > self.limit
        columns: Integers = np.stack([row[kept] for row in (*grown, *paid.values())]).astype(self.kind)
        return steps._replace(score=gain, penalty=penalty).only(kept), columns, total[kept]


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


def remains(stage: Stage, account: Account, rest: int) -> bool:
    """Whether a stage leaves a counterexample, where other machines gain the rest. Of equal prefixes, those stay that no other one beats in both cost and score."""
    keys, value, spent = stage.start(), np.zeros(1, np.int64), np.zeros(1, np.int64)
    for t in range(stage.base.length):
        steps, keys, value = stage.extend(t, keys, value)
        spent = spent[steps.source] - steps.penalty
        kept = np.flatnonzero(spent <= account.budget)
        kept = kept[_pareto(keys[:, kept], value[kept] + spent[kept], spent[kept])]
        keys, value, spent = keys[:, kept], value[kept], spent[kept]
    ends = stage.ends(keys)
    return bool(account.holds(value + ends + rest, spent - ends).any())


def _merged(keys: Integers, value: Grid) -> tuple[Integers, Integers, Grid]:
    """For each prefix the place of its key among the different ones, these, and the best value of each."""
    order, begins = groups(keys)
    which = np.empty_like(order)
    which[order] = np.cumsum(begins) - 1
    different = keys[:, order[begins]]
    return which, different, largest_of(which[order], value[order], different.shape[1])


def _pareto(keys: Integers, score: Grid, spent: Integers) -> Integers:
    """The places of prefixes that no other one with the same key beats in both score and cost."""
    number = distinct(keys)[1]
    order = np.lexsort((-score, spent, number))
    _, rank = np.unique(score, return_inverse=True)
    height = number[order] * (len(order) + 1) + rank[order]
    before = np.append(-1, np.maximum.accumulate(height)[:-1])
    result: Integers = order[height > before] if len(order) else order
    return result
