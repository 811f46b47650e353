"""Decision diagrams of the labellings that can still reach a floor.

A node is the set of prefixes with the same last state and the same states of the machines so far. Multiplication with
further machines splits nodes. The best value through each step, which is exact for the machines so far, prunes steps
(incremental refinement of decision diagrams: Hadzic et al., CP 2008; Bergman et al. 2016, Decision Diagrams for
Optimization, chapters 3 to 5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations import constraints as C
from formulations.dtypes import Integers, LabelIds, Small
from formulations.grid import FORBIDDEN
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.guide import Guide, all_domains, dual_constant, joint_symbols
from ilpinfer.exact.rule_machines import RuleMachine, pack_rule_machines, rule_machines
from ilpinfer.kernels import diagram as kernels
from ilpinfer.kernels import multiplication
from ilpinfer.kernels.diagram import Graph
from ilpinfer.kernels.guide import Domains
from ilpinfer.kernels.machines import joint_of
from ilpinfer.kernels.packed import chain_of
from ilpinfer.kernels.warming import Stage, example_problem

_WORK_PER_CALL = 200_000
_LARGEST_MEMO = 1_000_000
"""Largest number of stored entries for joint states and symbols."""
MOST_NODES, MOST_STEPS = 2_000_000, 6_000_000
"""Largest numbers of nodes and steps of a diagram, with 36 and 16 bytes each."""
_SAMPLE = 20_000
"""Number of sampled steps from which a floor is chosen that leaves few enough steps."""
NONE = np.zeros(0, np.int64)


class Room:
    """Memory for diagrams, one after the other. The system allocates only the pages that are used."""

    def __init__(self) -> None:
        self.state, self.origin = np.empty(MOST_NODES, np.int32), np.empty((MOST_NODES, 1), np.int64)
        self.value, self.first, self.bound = (np.empty(MOST_NODES, np.int64) for _ in range(3))
        self.target, self.score = np.empty(MOST_STEPS, np.int32), np.empty(MOST_STEPS, np.int64)
        self.slots = np.empty(256, np.int32)

    def graph(self, layers: Integers) -> Graph:
        """Room for the nodes and steps of a graph."""
        return Graph(self.state, self.value, layers, self.first, self.target, self.score, NONE, NONE)

    def growth(self, layers: Integers) -> multiplication.Growth:
        """Room for a graph that is built from another one."""
        return multiplication.Growth(self.graph(layers), self.origin, self.bound, self.slots)

    def widen(self) -> None:
        """Double the hash table."""
        self.slots = np.empty(2 * len(self.slots), np.int32)


@dataclass(frozen=True)
class Diagram:
    """Labellings as a layered graph; after the root there is one layer for each token.

    Parameters
    ----------
    guide : Guide
        Whose lattice the states are of.
    graph : Graph
        Nodes and steps; see the kernels.
    constant : int
        Grid units that are given back for charges still among the scores.
    left_out : int
        No labelling that is left out is worth more, grid units, if it is worth the floor.
    states : ndarray of int
        States of the best labelling (T,), the first one by their ids.
    """

    guide: Guide
    graph: Graph
    constant: int
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
        return FORBIDDEN if self.empty else int(self.graph.ahead[0]) + self.constant

    @property
    def path(self) -> LabelIds:
        """Label ids (T,) of the best labelling, the first ones by label ids."""
        return self.guide.lattice.labels_of(self.states)

    def copy(self) -> "Diagram":
        """A copy that `thin` may change."""
        graph = self.graph
        return replace(self, graph=graph._replace(target=graph.target.copy(), score=graph.score.copy()))

    def complete(self, deadline: Deadline) -> "Diagram | None":
        """The diagram with completions of nodes and the best labelling; None past the deadline."""
        T = len(self.graph.layers) - 2
        states = np.empty(T, np.int64)
        stretch = max(1, 5 * _WORK_PER_CALL * T // (len(self.graph.target) + 1))
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
            floor = max(floor, int(np.partition(result, -keep)[-keep]) + self.constant)
        nodes = {name: np.empty_like(getattr(old, name)) for name in ("state", "value", "layers", "first")}
        made = old._replace(**nodes, end=np.empty_like(old.end), ahead=np.empty_like(old.ahead))
        number = np.empty(len(old.state), np.int32)
        steps, left = kernels.thin(old, floor - self.constant, number, made)
        left_out = max(self.left_out, left + self.constant if left > FORBIDDEN else FORBIDDEN)
        made = made._replace(target=old.target[:steps].copy(), score=old.score[:steps].copy())
        return replace(
            self, graph=_trim(made, made.end[: made.layers[-1] - made.layers[-2]]), left_out=left_out
        )

    def multiply(
        self,
        machines: Sequence[RuleMachine],
        multipliers: Mapping[tuple[int, int], int],
        deadline: Deadline,
        room: Room,
        *,
        floor: int,
        most: int,
    ) -> "Diagram | None":
        """The product of the diagram with machines; None past the deadline, or where it gets too large.

        Parameters
        ----------
        multipliers : mapping of tuple of (int, int) to int
            Grid units a unit of weight, of the sums charged so far, by key.
        floor : int
            Grid units; labellings below it are left out.
        most : int
            About how many steps may be left.
        """
        if not self.guide.futures_in_time(multipliers, deadline):
            return None
        T, lattice = len(self.graph.layers) - 2, self.guide.lattice
        joint = joint_of(pack_rule_machines(machines, lattice), joint_symbols(lattice, machines))
        worth, ahead = (
            _charges(machines, multipliers, joint.symbols.read),
            self.guide.futures(multipliers).of(machines),
        )
        constant = self.constant - sum(
            dual_constant(machine, multipliers[machine.key])
            for machine in machines
            if machine.key in multipliers
        )
        made = room.growth(np.zeros(T + 2, np.int64))
        made.graph.state[0], made.graph.value[0], made.graph.layers[:2], made.origin[0] = -1, 0, (0, 1), 0
        counts = np.array([0, 1, 0, FORBIDDEN])
        width = max(64, 4 * most * len(self.graph.state) // (T * (len(self.graph.target) + 1)))
        limits = multiplication.Limits(constant, floor, width, _WORK_PER_CALL)
        while counts[0] < T:
            if deadline.passed:
                return None
            code = multiplication.multiply(
                self.graph, lattice.base, joint, worth, ahead, made, counts, limits
            )
            if code == multiplication.MEMO:
                if joint.memo.after.size > _LARGEST_MEMO:
                    return None
                joint = joint.grown()
            elif code == multiplication.SLOTS:
                room.widen()
                made = room.growth(made.graph.layers)
            elif code == multiplication.FULL:
                return None
        nodes, steps, layers = int(counts[1]), int(counts[2]), made.graph.layers
        end = made.bound[layers[-2] : nodes].copy()
        graph = made.graph._replace(
            target=room.target[:steps], score=room.score[:steps], ahead=np.empty(nodes, np.int64)
        )
        left_out = max(self.left_out, int(counts[3]))
        diagram = replace(self, graph=_trim(graph, end), constant=constant, left_out=left_out).complete(
            deadline
        )
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
    guide: Guide,
    multipliers: Integers,
    domains: Domains,
    deadline: Deadline,
    room: Room,
    *,
    floor: int,
    most: int,
) -> Diagram | None:
    """The diagram of a lattice without machines, with the multipliers of a guide; None where it is too large.

    Parameters
    ----------
    guide, multipliers : Guide or ndarray of int
        Multipliers of the sums, grid units (R,).
    domains : Domains
        The states that each token can have.
    floor, most : int
        As in `multiply`.
    """
    lattice, T = guide.lattice, len(guide.lattice.node)
    nodes, steps = len(domains.states) + 1, domains.steps + int(domains.begins[1])
    if nodes >= MOST_NODES or steps > MOST_STEPS or deadline.passed:
        return None
    charge = (
        multipliers @ guide.weights
        if len(guide.charged)
        else np.zeros(max(1, guide.symbols.read.shape[1]), np.int64)
    )
    graph = room.graph(np.zeros(T + 2, np.int64))
    steps = kernels.unfold(chain_of(lattice), domains, guide.symbols, charge, graph)
    graph = graph._replace(
        target=graph.target[:steps], score=graph.score[:steps], ahead=np.empty(nodes, np.int64)
    )
    graph = _trim(graph, np.zeros(nodes - graph.layers[-2], np.int64))
    constant = sum(
        dual_constant(machine, int(multiplier))
        for machine, multiplier in zip(guide.charged, multipliers, strict=True)
    )
    diagram = Diagram(guide, graph, constant, FORBIDDEN, NONE).complete(deadline)
    return diagram and diagram.thin(floor, most)


def _charges(
    machines: Sequence[RuleMachine], multipliers: Mapping[tuple[int, int], int], read: Small
) -> Integers:
    """(J,) charges that joint symbols return."""
    worth = np.zeros(max(1, read.shape[1]), np.int64)
    for machine, symbols in zip(machines, read, strict=True):
        if multipliers.get(machine.key) and machine.total is not None:
            worth += multipliers[machine.key] * machine.total.weights[symbols]
    return worth


def _example() -> None:
    problem = example_problem(C.at_most_runs("0", 1, penalty=1))
    machines, limits = rule_machines(problem.rules[0], 0)[0], (Deadline(), Room())
    lattice, multipliers = problem.lattice, np.ones(1, np.int64)
    guide = Guide(lattice, [], machines)
    diagram = unfold(guide, multipliers, all_domains(lattice), *limits, floor=-4, most=1)
    if diagram is not None:
        diagram.multiply(machines, {machines[0].key: 1}, *limits, floor=-4, most=1)


DIAGRAMS = Stage("refinement", "decision diagrams", _example)
