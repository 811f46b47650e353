"""Search by refinement: machines follow a decision diagram, a few at a time, until its best labelling is what it seems.

What the diagram's best labelling breaks follows next. While the best labelling known is poor, diagrams are kept small
by leaving out what is worst, and the best that was left out is remembered; then a larger diagram is tried.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from formulations.grid import FORBIDDEN, is_forbidden
from ilpinfer.core.certificate import Leaf, MachineKey
from ilpinfer.core.result import Path
from ilpinfer.exact.diagram import DIAGRAMS, MOST_STEPS, Diagram, Room, unfolded
from ilpinfer.exact.guide import Alive, Guide, Integers, everything
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rule_machines import RuleMachine

FEW, GROWTH = 20_000, 25
"""Steps of the first diagrams, and how many times as many the next ones have."""
TOGETHER, TRIED, SAMPLE = 6, 30, 3000
"""Machines that follow at a time; how many are tried for it where there are more, on a diagram of how many steps."""

HIGHEST = 2**62
DIVE = 10_000
"""Steps of a diagram that can prove nothing any more, but may hold a better labelling."""

Stage = list[RuleMachine]


@dataclass
class Refinement:
    """The search under one set of multipliers.

    Parameters
    ----------
    progress : what is known
    guide, multipliers : which sums are charged, and what, grid units (R,)
    order : the machines that follow, stage by stage, as found so far
    """

    progress: Progress
    guide: Guide
    multipliers: Integers
    order: list[Stage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.charged = dict(zip(self.guide.charged, self.multipliers.tolist(), strict=True))
        self.by_key = {part.key: price for part, price in self.charged.items()}
        self.room = Room()

    @property
    def alive(self) -> Alive:
        """The states that are left."""
        self.progress.drop()
        return everything(self.guide.lattice) if self.progress.alive is None else self.progress.alive

    def run(self, largest: int) -> list[Path] | None:
        """The best labelling, where it is proved but for rules without a machine, or none, if so proved; None if open."""
        self.progress.deadline.excuse(DIAGRAMS.warm())
        most = FEW
        while not self.progress.deadline.passed:
            paths = self.attempt(min(most, largest))
            if paths is not None or most >= largest:
                return paths
            most *= GROWTH
        return None

    def attempt(self, most: int) -> list[Path] | None:
        """The same with diagrams of at most so many steps."""
        progress, floor = self.progress, self.progress.value
        limits = progress.deadline, self.room
        diagram = unfolded(self.guide, self.multipliers, self.alive, *limits, floor=floor, most=most)
        for number in count():
            if diagram is None:
                return None
            self.prove(diagram, floor, self.order[:number])
            if diagram.empty:
                return [] if diagram.left_out < floor or is_forbidden(diagram.left_out) else None
            path = diagram.path
            if progress.judge(path).value == diagram.best:
                return [path] if diagram.best > diagram.left_out else None
            if diagram.best <= diagram.left_out:
                most = DIVE
            if number == len(self.order):
                stage = self.next_stage(path, diagram)
                if not stage:
                    return [path]
                self.order.append(stage)
            floor = progress.value
            diagram = diagram.multiplied(self.order[number], self.by_key, *limits, floor=floor, most=most)
        return None

    def next_stage(self, path: Path, diagram: Diagram) -> Stage:
        """The machines that follow next: of those that the labelling breaks, the ones that leave the least.

        Those of a part stay together, and those of a rule that counts once. Where it breaks nothing else, the sums
        that are charged follow.
        """
        progress, rules = self.progress, self.progress.folded.rules
        done = [part for stage in self.order for part in stage]
        fresh = sorted(
            progress.fresh([path], done), key=lambda at: rules[at[0]].penalty or HIGHEST, reverse=True
        )
        if not fresh:
            taken = {part.key for part in done}
            charged = (part for part, price in self.charged.items() if price)
            return [part for part in charged if part.key not in taken][:TOGETHER]
        groups = {tuple(p.key for p in group): group for group in map(self.group, fresh[:TRIED])}
        chosen = list(groups.values())
        if len(chosen) > TOGETHER:
            small = diagram.copy().thinned(progress.value, SAMPLE)
            chosen.sort(key=lambda group: self.left_by(group, small))
        return [part for group in chosen[:TOGETHER] for part in group]

    def group(self, at: MachineKey) -> Stage:
        """The machines that go with a broken part."""
        r, _ = at
        group = self.progress.machines([at])
        if group[0].shared:
            group = self.progress.machines(
                (r, p) for p in range(len(self.progress.folded.rules[r].components))
            )
        return group

    def left_by(self, group: Stage, small: Diagram) -> int:
        """How many steps of a small diagram are left if machines follow it."""
        progress = self.progress
        floor = max(progress.value, small.left_out)
        left = small.multiplied(
            group, self.by_key, progress.deadline, self.room, floor=floor, most=MOST_STEPS
        )
        return MOST_STEPS if left is None else len(left.graph.target)

    def prove(self, diagram: Diagram, floor: int, stages: list[Stage]) -> None:
        """Take the diagram's bound, or the floor's that all others miss.

        Where no labelling keeps the hard rules, the proof names those alone.
        """
        charged: Mapping[RuleMachine, int] = self.charged
        bound = diagram.bound if is_forbidden(floor) else max(diagram.bound, floor - 1)
        if is_forbidden(bound):
            charged = {part: 0 for part in charged if part.penalty is None}
            stages = [[part for part in stage if part.penalty is None] for stage in stages]
        multipliers = {part.component: price << 10 for part, price in charged.items()}
        followed = tuple(tuple(part.key for part in stage) for stage in stages if stage)
        self.progress.prove(FORBIDDEN if is_forbidden(bound) else bound, Leaf(multipliers, (), followed))
