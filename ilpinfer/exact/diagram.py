"""Decision diagrams of the labellings that can still reach a floor.

A node is the set of prefixes with the same last state and the same states of the machines so far. Multiplication with
further machines splits nodes. The best value through each step, which is exact for the machines so far, prunes steps
(incremental refinement of decision diagrams: Hadzic et al., CP 2008; Bergman et al. 2016, Decision Diagrams for
Optimization, chapters 3 to 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.relaxation import Relaxation
from ilpinfer.kernels import diagram as kernels
from ilpinfer.kernels.diagram import Graph

_WORK_PER_CALL = 1_000_000
MOST_NODES, MOST_STEPS = 2_000_000, 6_000_000
"""Largest numbers of nodes and steps of a diagram."""
_SAMPLE = 20_000
"""Number of sampled steps from which a floor is chosen that leaves few enough steps."""
NONE = np.zeros(0, np.int64)


class Room:
    """Memory for diagrams, one after the other. The system allocates only the pages that are used."""

    def __init__(self) -> None:
        self.state, self.origin = np.empty(MOST_NODES, np.int32), np.empty(MOST_NODES, np.int32)
        self.value, self.first, self.bound = (np.empty(MOST_NODES, np.int64) for _ in range(3))
        self.target, self.score = np.empty(MOST_STEPS, np.int32), np.empty(MOST_STEPS, np.int64)
        self.slots, self.keys = np.empty(256, np.int64), np.empty((0, 0), np.int64)

    def graph(self, layers: Integers) -> Graph:
        """Room for the nodes and steps of a graph."""
        return Graph(self.state, self.value, layers, self.first, self.target, self.score, NONE, NONE)

    def growth(self, layers: Integers, words: int) -> kernels.Growth:
        """Room for a graph that is built from another one, with keys of so many words."""
        if self.keys.shape[1] != words:
            self.keys = np.empty((MOST_NODES, words), np.int64)
        return kernels.Growth(self.graph(layers), self.origin, self.keys, self.bound, self.slots)

    def widen(self) -> None:
        """Double the hash table."""
        self.slots = np.empty(2 * len(self.slots), np.int64)


@dataclass(frozen=True)
class Diagram:
    """Labellings as a layered graph; after the root there is one layer for each token."""

    relaxation: Relaxation
    graph: Graph
    left_out: int
    states: Integers

    @property
    def empty(self) -> bool:
        """Whether no labelling is left."""
        return len(self.graph.state) == 0

    @property
    def bound(self) -> int:
        """Bound on every labelling, grid units; `FORBIDDEN` for none."""
        return max(self.left_out, self.best)

    @property
    def best(self) -> int:
        """Value of the best labelling that is left, grid units."""
        return FORBIDDEN if self.empty else int(self.graph.ahead[0])

    @property
    def path(self) -> LabelIds:
        """Label ids (T,) of the best labelling, the first ones by label ids."""
        return self.relaxation.ground.lattice.labels_of(self.states)

    def copy(self) -> "Diagram":
        """A copy that `thin` may change."""
        graph = self.graph
        return replace(self, graph=graph._replace(target=graph.target.copy(), score=graph.score.copy()))

    def complete(self, deadline: Deadline) -> "Diagram | None":
        """The diagram with completions of nodes and the best labelling; None past the deadline."""
        T = len(self.graph.layers) - 2
        states = np.empty(T, np.int64)
        stretch = max(1, _WORK_PER_CALL * T // (len(self.graph.target) + 1))
        for last in range(T, -1, -stretch):
            if deadline.passed:
                return None
            kernels.complete(self.graph, last, max(0, last - stretch + 1), states)
        return replace(self, states=states)

    def thin(self, floor: int, most: int) -> "Diagram":
        """The diagram without steps that cannot reach the floor, reduced to about the best `most` steps.

        It takes over the arrays of this diagram.
        """
        old = self.graph
        if len(old.target) > most:
            every = len(old.target) // _SAMPLE + 1
            e = np.arange(0, len(old.target), every)
            n = np.searchsorted(old.first, e, "right") - 1
            result = old.value[n] + old.score[e] + old.ahead[old.target[e]]
            keep = min(len(result), most // every + 1)
            floor = max(floor, int(np.partition(result, -keep)[-keep]))
        nodes = {name: np.empty_like(getattr(old, name)) for name in ("state", "value", "layers", "first")}
        made = old._replace(**nodes, end=np.empty_like(old.end), ahead=np.empty_like(old.ahead))
        number = np.empty(len(old.state), np.int32)
        steps, left = kernels.thin(old, floor, number, made)
        made = made._replace(target=old.target[:steps].copy(), score=old.score[:steps].copy())
        graph = _trim(made, made.end[: made.layers[-1] - made.layers[-2]])
        return replace(self, graph=graph, left_out=max(self.left_out, left))

    def multiply(
        self, machines: Sequence[int], deadline: Deadline, room: Room, *, floor: int, most: int
    ) -> "Diagram | None":
        """The product of the diagram with machines; None past the deadline, or where it gets too large."""
        T, relaxation, active = len(self.graph.layers) - 2, self.relaxation, np.array(machines, np.int64)
        words = kernels.words_of(relaxation.machines, active, len(self.graph.state))
        made = room.growth(np.zeros(T + 2, np.int64), words)
        made.graph.state[0], made.graph.value[0], made.graph.layers[:2], made.origin[0] = -1, 0, (0, 1), 0
        made.key[0] = 0
        counts = np.array([0, 1, 0, FORBIDDEN])
        width = max(64, 4 * most * len(self.graph.state) // (T * (len(self.graph.target) + 1)))
        limits = kernels.Limits(floor, width, _WORK_PER_CALL)
        while counts[0] < T:
            if deadline.passed:
                return None
            code = kernels.multiply(
                self.graph, relaxation.machines, relaxation.classes, active, made, counts, limits
            )
            if code == kernels.SLOTS:
                room.widen()
                made = room.growth(made.graph.layers, words)
            elif code == kernels.FULL:
                return None
        nodes, steps, layers = int(counts[1]), int(counts[2]), made.graph.layers
        end = made.bound[layers[-2] : nodes].copy()
        graph = made.graph._replace(
            target=room.target[:steps], score=room.score[:steps], ahead=np.empty(nodes, np.int64)
        )
        left_out = max(self.left_out, int(counts[3]))
        diagram = replace(self, graph=_trim(graph, end), left_out=left_out).complete(deadline)
        return diagram and diagram.thin(floor, most)


def _trim(graph: Graph, end: Integers) -> Graph:
    """The graph without unused room."""
    n = graph.layers[-1]
    return graph._replace(
        state=graph.state[:n],
        value=graph.value[:n],
        first=graph.first[: n + 1],
        ahead=graph.ahead[:n],
        end=end,
    )


def unfold(
    relaxation: Relaxation, deadline: Deadline, room: Room, *, floor: int, most: int
) -> Diagram | None:
    """The diagram of a lattice with the multipliers of a relaxation, without machines; None where it is too large."""
    states = (relaxation.emission > FORBIDDEN // 2).sum(axis=1)
    followers = np.minimum(states[1:], relaxation.ground.scores.labels)
    T, steps = len(states), int((states[:-1] * followers).sum() + states[0])
    if states.sum() + 1 >= MOST_NODES or steps > MOST_STEPS or deadline.passed:
        return None
    graph = room.graph(np.zeros(T + 2, np.int64))
    nodes, steps = kernels.unfold(relaxation.scores, relaxation.emission, relaxation.edge_at, graph)
    graph = graph._replace(
        target=graph.target[:steps], score=graph.score[:steps], ahead=np.empty(nodes, np.int64)
    )
    graph = _trim(graph, np.zeros(nodes - graph.layers[-2], np.int64))
    diagram = Diagram(relaxation, graph, FORBIDDEN, NONE).complete(deadline)
    return diagram and diagram.thin(floor, most)
