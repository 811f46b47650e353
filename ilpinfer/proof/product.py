"""A graph times machines: what can follow each node in each joint state. It is exact, and so worth its size where little can be pruned before."""

from collections.abc import Sequence

import numpy as np

from formulations.dtypes import Integers
from formulations.grid import Grid
from ilpinfer.proof.graphs import Graph, Steps, largest_of
from ilpinfer.proof.joint import JointMachine
from ilpinfer.proof.machines import PricedMachine, add
from ilpinfer.proof.meter import Meter


class GraphProduct:
    """Node n · N + q is a node n of the graph and the joint state at place q of the N that are reached before its token."""

    def __init__(self, graph: Graph, machines: Sequence[PricedMachine], meter: Meter) -> None:
        self.layers, self.widths = graph.layers, [1]
        self.kinds, self.moves = list[Integers](), list[tuple[Integers, Grid]]()
        joint, here = JointMachine(machines, meter), np.zeros(1, np.int64)
        for t, steps in enumerate(graph.layers):
            used, kind = np.unique(joint.kinds(t, steps.arc), return_inverse=True)
            N = len(here)
            meter.make(N * len(kind), f"the machines of the product have {N} joint states at token {t}")
            meter.keep(len(kind) + 2 * N * len(used))
            reached, cost = joint.move(np.repeat(here, len(used)), np.tile(used, N))
            here, after = np.unique(reached, return_inverse=True)
            self.kinds.append(kind)
            self.moves.append((after.reshape(N, -1), cost.reshape(N, -1)))
            self.widths.append(len(here))
        self.best = [add(graph.best[-1][:, None], joint.future(len(graph.layers), here)).reshape(-1)]
        for t in range(len(graph.layers) - 1, -1, -1):
            (after, cost), kind, steps = self.moves[t], self.kinds[t], graph.layers[t]
            meter.spend(len(kind) * len(after))
            meter.keep(len(graph.best[t]) * len(after))
            targets = (steps.target * self.widths[t + 1])[:, None] + after.T[kind]
            worth = add(add(steps.score[:, None], cost.T[kind]), self.best[-1][targets])
            self.best.append(largest_of(steps.source, worth, len(graph.best[t])).reshape(-1))
        self.best.reverse()

    def of(self, t: int, nodes: Integers) -> tuple[Integers, Steps]:
        """As of a graph."""
        node, place = np.divmod(nodes, self.widths[t])
        at, steps = self.layers[t].out_of(node)
        q, kind, (after, cost) = place[steps.source], self.kinds[t][at], self.moves[t]
        target = steps.target * self.widths[t + 1] + after[q, kind]
        return at, steps._replace(target=target, score=add(steps.score, cost[q, kind]), cost=cost[q, kind])
