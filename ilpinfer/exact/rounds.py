"""Rounds of the certifying engine: relaxations of more and more rules, until the best labelling breaks nothing new."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from ilpinfer.core.certificate import Leaf, MachineKey, Split
from ilpinfer.exact.diagram import MOST_STEPS as MOST_STEPS
from ilpinfer.exact.guide import Guide, Relaxed
from ilpinfer.exact.label_setting import LABEL_SETTING, LabelSetting, label_setting
from ilpinfer.exact.multipliers import tighten
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.refinement import Refinement
from ilpinfer.exact.rule_machines import RuleMachine
from ilpinfer.kernels.guide import Domains

MOST_INSIDE, MOST_WORK = 729, 4_000_000
"""States of the machines inside a guide, and steps of its Viterbi."""
SUMS_INSIDE, SUMS_WORK = 8, 4_000_000
"""The same for sums, which have multipliers beyond these limits."""
COPIES = 64
"""Largest number of prefixes at a token for each of several wanted labellings."""
BEAM, BEAMS = 30, 6
"""Width of a beam before refinement, and number of beams; each one includes the rules that the last one broke."""
NEAR = 8
"""Number of runner-up labellings whose broken rules are activated together with those of the best."""
WIDTHS = (256, 4096, 32768)
"""Successive limits on the prefixes at a token in label setting; a beam of an eighth of the width runs in between."""


@dataclass(frozen=True)
class SearchResult:
    """The result of rounds, of branch and bound, or of a decomposition.

    Parameters
    ----------
    paths : list of ndarray of int
        The best labellings, best first, equal ones by label ids; empty where there is none or it is not
        proved.
    why : str
        Why in a few words.
    complete : bool
        Whether they are proved to be the best, and are as many as wanted or all that exist.
    tree : Leaf or Split, optional
        Proof of the result.
    machineless : tuple of str, optional
        Rules that stand in the way, as they have no machine.
    """

    paths: list[LabelIds]
    why: str
    complete: bool
    tree: Leaf | Split | None = None
    machineless: tuple[str, ...] = ()


@dataclass
class Round:
    """One relaxation: the active rules, and bounds under them."""

    progress: Progress
    active: list[RuleMachine]
    top: int
    most: int = 0
    closed: bool = False

    def __post_init__(self) -> None:
        lattice, domains = self.progress.folded.lattice, self.progress.domains if self.top == 1 else None
        self.product, self.charged, self.others = place(self.active, lattice, domains)
        self.guide = Guide(lattice, self.product, self.charged, domains)
        self.multipliers: Integers = np.array(
            [self.progress.multipliers.get(p.key, 0) for p in self.charged], np.int64
        )
        self.machines = [*self.product, *self.charged, *self.others]

    def tighten(self, relaxed: Relaxed) -> Relaxed:
        """The relaxation at better multipliers, which later rounds begin with."""
        self.multipliers, relaxed = tighten(self.guide, self.multipliers, relaxed, self.progress)
        self.progress.multipliers |= zip(
            (p.key for p in self.charged), self.multipliers.tolist(), strict=True
        )
        self.progress.prove(relaxed.bound, self.leaf(with_stages=False))
        return relaxed

    def leaf(self, *, with_stages: bool) -> Leaf:
        """The proof that this relaxation gives."""
        charged = zip(self.charged, self.multipliers.tolist(), strict=True)
        return Leaf(
            {machine.component: multiplier << 10 for machine, multiplier in charged},
            tuple(machine.key for machine in self.product),
            self.outside(self.machines) if with_stages else (),
        )

    def outside(self, machines: Iterable[RuleMachine]) -> tuple[tuple[MachineKey, ...], ...]:
        """The stage of the machines that are not in the product."""
        stage = tuple(machine.key for machine in machines if machine not in self.product)
        return (stage,) if stage else ()

    def run(self) -> tuple[list[LabelIds], str] | None:
        """The best labellings of this relaxation, and how they were found; None if it is not solved."""
        progress = self.progress
        relaxed = self.guide.solve(self.multipliers, progress.deadline)
        if relaxed is None:
            return None
        if is_forbidden(relaxed.bound):
            if self.guide.unpruned:
                progress.prove(FORBIDDEN, self.impossible(with_stages=False))
            else:
                progress.prove(progress.value - 1, self.leaf(with_stages=False))
            return [], "no labelling is possible"
        progress.prove(relaxed.bound, self.leaf(with_stages=False))
        if self.guide.unpruned and not self.machines:
            progress.completion = relaxed.completion[:, :, 0]
        if self.charged:
            relaxed = self.tighten(relaxed)
        progress.relaxed = relaxed.path
        if self.top == 1 and progress.bound < progress.value:
            return [], "nothing better is possible"
        if self.top == 1 and (
            self.attains_bound(relaxed) or progress.new_components([relaxed.path], self.active)
        ):
            inside = f"{len(self.product)} machines in the lattice" if self.product else ""
            multipliers = (
                f"{np.count_nonzero(self.multipliers)} multipliers" if self.multipliers.any() else ""
            )
            return [relaxed.path], ", ".join(filter(None, (inside, multipliers))) or "viterbi"
        return self.refine(relaxed) if self.top == 1 else self.best_few(relaxed)

    def refine(self, relaxed: Relaxed) -> tuple[list[LabelIds], str] | None:
        """The best labelling by refinement, which activates further rules by itself."""
        progress = self.progress
        for _ in range(BEAMS):
            beam = self.label_setting(relaxed, BEAM, progress.value, beam=True)
            if beam.exact:
                return self.prove_best(beam)
            for path in beam.paths:
                progress.evaluate(path)
            new = progress.machines(progress.new_components(beam.paths[:1], self.machines))
            if not new or progress.deadline.passed:
                break
            self.machines += new
            progress.active = [*progress.active, *new]
        refinement = Refinement(progress, self.guide, self.multipliers)
        result = refinement.run(self.most)
        if result is None:
            return None
        self.closed = True
        return result, f"refinement by {sum(map(len, refinement.order))} machines"

    def attains_bound(self, relaxed: Relaxed) -> bool:
        """Whether the relaxation's labelling attains the bound under the active rules."""
        if len(self.machines) == len(self.product):
            return True
        return self.progress.evaluate(relaxed.path).value == relaxed.bound

    def best_few(self, relaxed: Relaxed) -> tuple[list[LabelIds], str] | None:
        """Several labellings by label setting with growing widths, and beams in between for better floors."""
        progress, floor = self.progress, self.progress.floor
        widths = *WIDTHS, COPIES * self.top
        for width in widths[progress.rung :]:
            result = self.label_setting(relaxed, width, floor)
            if result.exact:
                progress.rung = widths.index(width)
                return self.prove_best(result)
            if progress.deadline.passed:
                return None
            beam = self.label_setting(relaxed, max(32, width // 8, self.top), floor, beam=True)
            for path in beam.paths[: self.top]:
                progress.evaluate(path)
            if progress.deadline.passed:
                return None
            floor = max(floor, self.worst(beam))
        return None

    def worst(self, beam: LabelSetting) -> int:
        """The lowest value of the best known labellings, as many as wanted."""
        values = sorted(
            (self.progress.evaluate(path).value for path in beam.paths[: 2 * self.top]), reverse=True
        )
        return values[self.top - 1] if len(values) >= self.top else FORBIDDEN

    def label_setting(self, relaxed: Relaxed, width: int, floor: int, *, beam: bool = False) -> LabelSetting:
        deadline = self.progress.deadline
        return label_setting(
            self.guide,
            self.multipliers,
            relaxed,
            self.machines,
            deadline,
            floor=floor,
            width=width,
            beam=beam,
            copies=self.top,
        )

    def prove_best(self, result: LabelSetting) -> tuple[list[LabelIds], str]:
        """The labellings of a complete search, with the proof of the bound."""
        if result.paths:
            self.progress.prove(result.values[0], self.leaf(with_stages=True))
        elif self.progress.path is not None:
            self.progress.prove(self.progress.value - 1, self.leaf(with_stages=True))
        else:
            self.progress.prove(FORBIDDEN, self.impossible(with_stages=True))
        self.progress.near = result.paths[self.top : self.top + NEAR]
        how = "an exact beam" if self.top == 1 else "label setting"
        return result.paths[: self.top], f"{how} over {len(self.machines)} machines"

    def impossible(self, *, with_stages: bool) -> Leaf:
        """The proof that no labelling keeps the hard rules. A multiplier of 0 names a sum that no labelling attains."""
        inside = tuple(machine.key for machine in self.product if machine.hard)
        charged = {machine.component: 0 for machine in self.charged if machine.hard}
        hard = (machine for machine in self.machines if machine.hard)
        return Leaf(charged, inside, self.outside(hard) if with_stages else ())


def place(
    active: list[RuleMachine], lattice: Lattice, domains: Domains | None
) -> tuple[list[RuleMachine], list[RuleMachine], list[RuleMachine]]:
    """The machines of the product with the lattice, the sums with multipliers, and the other machines.

    Sums are in the product only where all of them fit, since multipliers give as good a bound at less cost.
    """
    work = lattice.node.size * lattice.pool.shape[2] if domains is None else domains.steps
    inside: list[RuleMachine] = []
    others: list[RuleMachine] = []
    states = 1
    for machine in sorted((p for p in active if p.total is None), key=lambda p: p.states):
        more = states * machine.states
        if machine.shared or more > MOST_INSIDE or work * more > MOST_WORK:
            others.append(machine)
        else:
            inside.append(machine)
            states = more
    sums = [p for p in active if p.total is not None]
    more = states * math.prod(p.states for p in sums)
    if more <= MOST_INSIDE and work * more <= SUMS_WORK and more <= states * SUMS_INSIDE:
        return [*inside, *sums], [], others
    return inside, sums, others


def rounds(progress: Progress, top: int = 1, most: int | None = None) -> SearchResult:
    """Activate the rules that the best labellings break, until they break no other."""
    why = ""
    while True:
        if progress.active or top > 1:
            progress.deadline.excuse(LABEL_SETTING.warm())
        current = Round(progress, progress.active, top, MOST_STEPS if most is None else most)
        answer = current.run()
        if answer is None:
            open_for = "no time left" if progress.deadline.passed else "too many prefixes"
            return SearchResult([], why + open_for, False)
        paths, how = answer
        new = () if current.closed else progress.new_components(paths, progress.active)
        if not progress.active and paths:
            count = len({r for path in paths for r, _ in progress.evaluate(path).broken})
            rules = len(progress.folded.rules)
            why = f"viterbi breaks {count} of {rules} rules that do not fold; " if count else ""
        if new:
            new = progress.new_components([*paths, *progress.near], progress.active)
        machines = progress.machines(new)
        if machines:
            progress.active = [*progress.active, *machines]
            progress.drop()
            continue
        machineless = sorted({rule for path in paths for rule in progress.machineless(path)})
        if machineless:
            return SearchResult(
                [], f"{why}no machine for {', '.join(machineless)}; ", False, machineless=tuple(machineless)
            )
        return SearchResult(paths, why + how, True, current.leaf(with_stages=True))
