"""Refinement of decision diagrams: multiplication with machines, a few at a time, until the best labelling is exact.

The machines of the rules that the diagram's best labelling breaks come next. Small diagrams leave out their worst steps, and
record the best value that was left out; larger diagrams follow.
"""

import math
from itertools import count

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, is_forbidden
from ilpinfer.core.trees import Leaf
from ilpinfer.exact.diagram import MOST_STEPS, Diagram, Room, unfold
from ilpinfer.exact.known import Known
from ilpinfer.exact.relaxation import Relaxation

FEW, GROWTH = 20_000, 25
"""Steps of the first diagrams, and factor to those of the next ones."""
TOGETHER, MOST_TRIED, SAMPLE = 6, 30, 3000
"""Number of groups of machines added at a time; number of candidates if there are more, and steps of the diagram on which they are
tried."""

NEAREST, LOWER, ABOVE_FLOOR = UNITS_PER_NAT // 64, 4, 10
"""Distance of the first floor below the bound, factor to that of the next one, and factor from `FEW` to the steps of diagrams above a
floor."""
DIVE = 10_000
"""Steps of a diagram that can no longer prove a bound, but may contain a better labelling."""


class Refinement:
    """The search under one set of multipliers."""

    def __init__(self, known: Known, relaxation: Relaxation) -> None:
        self.known, self.relaxation, self.room = known, relaxation, Room()
        self.order: list[list[int]] = []
        """The machines that follow, stage by stage."""

    def run(self, largest: int) -> list[LabelIds] | None:
        """The best labelling under rules with machines, none where that is proved infeasible; None if it is not solved."""
        most = FEW
        if self.known.mostly_sums:
            paths = self._by_floors(FEW * ABOVE_FLOOR)
            if paths is not None:
                return paths
        while not self.known.deadline.passed:
            paths = self.attempt(min(most, largest))
            if paths is not None or most >= largest:
                return paths
            most *= GROWTH
        return None

    def _by_floors(self, most: int) -> list[LabelIds] | None:
        """As `run`, with a floor that begins near the bound and is lowered while nothing reaches it and diagrams stay small."""
        known, step = self.known, NEAREST
        while math.isfinite(known.bound) and not (is_forbidden(known.bound) or known.deadline.passed):
            floor = max(int(known.bound) - step, known.value)
            paths = self.attempt(most, floor, together=1)
            if paths is None or paths or floor == known.value:
                return paths
            step *= LOWER
        return None

    def attempt(
        self, most: int, lowest: int = FORBIDDEN, together: int | None = None
    ) -> list[LabelIds] | None:
        """As `run`, with diagrams of at most so many steps, and of labellings worth at least `lowest`."""
        known, floor = self.known, max(self.known.value, lowest)
        limits = known.deadline, self.room
        self.relaxation.prune(known.value)
        diagram = unfold(self.relaxation, *limits, floor=floor, most=most)
        for number in count():
            if diagram is None:
                return None
            self.prove(diagram, floor, self.order[:number])
            if diagram.empty:
                return [] if diagram.left_out < floor or is_forbidden(diagram.left_out) else None
            path = diagram.path
            if known.evaluate(path).value == diagram.best:
                return [path] if diagram.best > diagram.left_out else None
            if diagram.best <= diagram.left_out:
                most = DIVE
            if number == len(self.order):
                stage = self.next_stage(path, diagram, together or TOGETHER)
                if not stage:
                    return [path]
                self.order.append(stage)
            floor = max(known.value, lowest)
            diagram = diagram.multiply(self.order[number], *limits, floor=floor, most=most)
        return None

    def next_stage(self, path: LabelIds, diagram: Diagram, together: int) -> list[int]:
        """The next machines: of those that have costs along the labelling, the groups that leave the fewest steps.

        Machines of a component stay together, and those of a rule that counts once.
        """
        known, done = self.known, [machine for stage in self.order for machine in stage]
        one = known.ground
        groups: dict[tuple[int, int], list[int]] = {}
        for m in known.broken([path], done) or known.priced(done):
            mark = int(one.machines.mark[m])
            groups.setdefault(one.components[m] if mark < 0 else (-1, mark), []).append(m)
        order = sorted(groups.values(), key=lambda group: -int(one.machines.penalty[group[0]]))[:MOST_TRIED]
        if len(order) > together:
            small = diagram.copy().thin(self.known.value, SAMPLE)
            order.sort(key=lambda group: self.count_left(group, small))
        return [machine for group in order[:together] for machine in group]

    def count_left(self, group: list[int], small: Diagram) -> int:
        """The number of steps that remain of a small diagram after multiplication with machines."""
        floor, limits = max(self.known.value, small.left_out), (self.known.deadline, self.room)
        left = small.multiply(group, *limits, floor=floor, most=MOST_STEPS)
        return MOST_STEPS if left is None else len(left.graph.target)

    def prove(self, diagram: Diagram, floor: int, stages: list[list[int]]) -> None:
        """Update the bound by the diagram's, or by the floor that all other labellings miss.

        Where no labelling keeps the hard rules, the proof names only those.
        """
        one, known = self.known.ground, self.known
        bound = diagram.bound if is_forbidden(floor) else max(diagram.bound, floor - 1)
        multipliers = {c: price << 10 for c, price in known.multipliers.items() if price}
        if is_forbidden(bound):
            hard = {one.components[m] for m in range(len(one.plain)) if one.hard[m]}
            multipliers = {component: 0 for component in multipliers if component in hard}
            stages = [[m for m in stage if one.hard[m]] for stage in stages]
        keys = tuple(tuple(one.keys[m] for m in stage) for stage in stages if stage)
        known.prove(FORBIDDEN if is_forbidden(bound) else bound, Leaf(multipliers, (), keys))
