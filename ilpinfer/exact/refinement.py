"""Refinement of decision diagrams: multiplication with machines, a few at a time, until the best labelling is exact.

The machines of the rules that the diagram's best labelling breaks come next. Small diagrams leave out their worst steps, and
record the best value that was left out; larger diagrams follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from ilpinfer.core.certificate import Leaf, MachineKey
from ilpinfer.exact.diagram import DIAGRAMS, MOST_STEPS, Diagram, Room, unfold
from ilpinfer.exact.guide import Guide, all_domains
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rule_machines import RuleMachine
from ilpinfer.kernels.guide import Domains

FEW, GROWTH = 20_000, 25
"""Steps of the first diagrams, and factor to those of the next ones."""
TOGETHER, MOST_TRIED, SAMPLE = 6, 30, 3000
"""Number of machines added at a time; number of candidates if there are more, and steps of the diagram on which they are
tried."""

DIVE = 10_000
"""Steps of a diagram that can no longer prove a bound, but may contain a better labelling."""

Stage = list[RuleMachine]


@dataclass
class Refinement:
    """The search under one set of multipliers.

    Parameters
    ----------
    progress : Progress
        Bounds and labellings so far.
    guide, multipliers : Guide or ndarray of int
        Which sums are charged, and what, grid units (R,).
    order : list of Stage, optional
        The machines that follow, stage by stage, as found so far.
    """

    progress: Progress
    guide: Guide
    multipliers: Integers
    order: list[Stage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.charged = dict(zip(self.guide.charged, self.multipliers.tolist(), strict=True))
        self.multiplier_of = {machine.key: multiplier for machine, multiplier in self.charged.items()}
        self.room = Room()

    @property
    def domains(self) -> Domains:
        """The states that are left."""
        self.progress.drop()
        return all_domains(self.guide.lattice) if self.progress.domains is None else self.progress.domains

    def run(self, largest: int) -> list[LabelIds] | None:
        """The best labelling under rules with machines, none where that is proved infeasible; None if it is not solved."""
        self.progress.deadline.excuse(DIAGRAMS.warm())
        most = FEW
        while not self.progress.deadline.passed:
            paths = self.attempt(min(most, largest))
            if paths is not None or most >= largest:
                return paths
            most *= GROWTH
        return None

    def attempt(self, most: int) -> list[LabelIds] | None:
        """As `run`, with diagrams of at most so many steps."""
        progress, floor = self.progress, self.progress.value
        limits = progress.deadline, self.room
        diagram = unfold(self.guide, self.multipliers, self.domains, *limits, floor=floor, most=most)
        for number in count():
            if diagram is None:
                return None
            self.prove(diagram, floor, self.order[:number])
            if diagram.empty:
                return [] if diagram.left_out < floor or is_forbidden(diagram.left_out) else None
            path = diagram.path
            if progress.evaluate(path).value == diagram.best:
                return [path] if diagram.best > diagram.left_out else None
            if diagram.best <= diagram.left_out:
                most = DIVE
            if number == len(self.order):
                stage = self.next_stage(path, diagram)
                if not stage:
                    return [path]
                self.order.append(stage)
            floor = progress.value
            diagram = diagram.multiply(
                self.order[number], self.multiplier_of, *limits, floor=floor, most=most
            )
        return None

    def next_stage(self, path: LabelIds, diagram: Diagram) -> Stage:
        """The next machines: of the rules that the labelling breaks, those that leave the fewest steps.

        Machines of a component stay together, and those of a rule that counts once. Where the labelling breaks no other rule,
        the sums with multipliers come next.
        """
        progress, rules = self.progress, self.progress.folded.rules
        done = [machine for stage in self.order for machine in stage]
        new = sorted(
            progress.new_components([path], done),
            key=lambda at: rules[at[0]].penalty,
            reverse=True,
        )
        if not new:
            done_keys = {machine.key for machine in done}
            charged = (machine for machine, multiplier in self.charged.items() if multiplier)
            return [machine for machine in charged if machine.key not in done_keys][:TOGETHER]
        groups = {tuple(p.key for p in group): group for group in map(self.group, new[:MOST_TRIED])}
        sums_within = list(groups.values())
        if len(sums_within) > TOGETHER:
            small = diagram.copy().thin(progress.value, SAMPLE)
            sums_within.sort(key=lambda group: self.count_left(group, small))
        return [machine for group in sums_within[:TOGETHER] for machine in group]

    def group(self, at: MachineKey) -> Stage:
        """The machines of a broken component, with those of its rule where that counts once."""
        r, _ = at
        group = self.progress.machines([at])
        if group[0].shared:
            group = self.progress.machines(
                (r, p) for p in range(len(self.progress.folded.rules[r].components))
            )
        return group

    def count_left(self, group: Stage, small: Diagram) -> int:
        """The number of steps that remain of a small diagram after multiplication with machines."""
        progress = self.progress
        floor = max(progress.value, small.left_out)
        left = small.multiply(
            group, self.multiplier_of, progress.deadline, self.room, floor=floor, most=MOST_STEPS
        )
        return MOST_STEPS if left is None else len(left.graph.target)

    def prove(self, diagram: Diagram, floor: int, stages: list[Stage]) -> None:
        """Update the bound by the diagram's, or by the floor that all other labellings miss.

        Where no labelling keeps the hard rules, the proof names only those.
        """
        charged: Mapping[RuleMachine, int] = self.charged
        bound = diagram.bound if is_forbidden(floor) else max(diagram.bound, floor - 1)
        if is_forbidden(bound):
            charged = {machine: 0 for machine in charged if machine.hard}
            stages = [[machine for machine in stage if machine.hard] for stage in stages]
        multipliers = {machine.component: multiplier << 10 for machine, multiplier in charged.items()}
        keys = tuple(tuple(machine.key for machine in stage) for stage in stages if stage)
        self.progress.prove(FORBIDDEN if is_forbidden(bound) else bound, Leaf(multipliers, (), keys))
