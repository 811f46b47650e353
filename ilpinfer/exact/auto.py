"""The certifying engine, `method="auto"`.

Fold local rules into the scores, and Viterbi: a labelling that breaks nothing else is the optimum. Otherwise only the
rules that labellings break are taken up, in rounds, until the best labelling of what is known breaks nothing new
(lazy constraints: Riedel and Clarke 2006; Tromble and Eisner 2006). A round bounds by Viterbi over the lattice
multiplied with small machines, with Lagrangian prices on the sums of others, and ends with label setting, which
follows every prefix that these bounds do not rule out. What that leaves open goes to a solver.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from formulations.compiled.lattice import Lattice
from formulations.compiled.problem import Problem
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.programs.formulation import TooLarge, best_score
from ilpinfer.certificate import FOLDED_BOUND, Certificate, Leaf
from ilpinfer.exact.follow import Followed, follow
from ilpinfer.exact.guide import Alive, Guide, Integers, Relaxed
from ilpinfer.exact.parts import Priced
from ilpinfer.exact.prices import tighten
from ilpinfer.exact.programs import FASTEST, best_of_program
from ilpinfer.exact.progress import Progress
from ilpinfer.found import Found, Path, Task
from ilpinfer.warming import warm

MOST_INSIDE, MOST_WORK = 64, 20_000_000
"""States of the machines inside a guide, and steps of its Viterbi."""
SUMS_INSIDE, SUMS_WORK = 8, 4_000_000
"""The same, beyond which a sum gets a price rather than a place inside."""
MORE_TIES = 50
"""How many equal labellings beyond the last one wanted are looked at, so that label ids decide which is kept."""
WIDTHS = (256, 4096, 65536)
"""Prefixes a token that label setting may follow, one after the other; a beam of an eighth in between."""


def auto(problem: Problem, task: Task, name: str) -> Iterator[Found]:
    """The best labellings and the proof of each."""
    task.deadline.excuse(warm("viterbi"))
    folded = problem.fold()
    places = {id(rule): place for place, rule in enumerate(problem.rules)}
    numbers = [places[id(rule)] for rule in folded.rules]
    progress = Progress(folded, numbers, task.deadline, task.watch, prices=task.prices)
    if task.incumbent is not None:
        progress.judge(task.incumbent)
    ended = _rounds(progress, 1 if task.within is not None else task.top)
    if ended.settled and ended.paths and task.within is not None:
        progress.floor = progress.value - task.within
        ended = _rounds(progress, task.top)
    yield from _answers(progress, ended, task)


@dataclass(frozen=True)
class Ended:
    """What the rounds have come to.

    Parameters
    ----------
    paths : the best labellings, best first, equal ones by label ids; empty where there is none or it is not proved
    why : in a few words
    settled : whether they are proved to be the best, and all that were asked for or that there are
    tree : what proves it
    """

    paths: list[Path]
    why: str
    settled: bool
    tree: Leaf | None = None


@dataclass
class Round:
    """One relaxation: the rules taken up so far, and the bounds that go with them."""

    progress: Progress
    active: list[Priced]
    top: int

    def __post_init__(self) -> None:
        lattice, alive = self.progress.folded.lattice, self.progress.alive if self.top == 1 else None
        self.inside, self.charged, self.others = place(self.active, lattice, alive)
        self.guide = Guide(lattice, self.inside, self.charged, alive)
        self.prices: Integers = np.array([self.progress.prices.get(p.key, 0) for p in self.charged], np.int64)
        self.parts = [*self.inside, *self.charged, *self.others]

    def tighten(self, relaxed: Relaxed) -> Relaxed:
        """The relaxation at better prices, which later rounds begin with."""
        self.prices, relaxed = tighten(self.guide, self.prices, relaxed, self.progress)
        self.progress.prices |= zip((p.key for p in self.charged), self.prices.tolist(), strict=True)
        self.progress.prove(relaxed.bound, self.leaf(followed=False))
        return relaxed

    def leaf(self, *, followed: bool) -> Leaf:
        """The proof that this relaxation gives."""
        charged = zip(self.charged, self.prices.tolist(), strict=True)
        return Leaf(
            {part.part: price << 10 for part, price in charged},
            tuple(part.key for part in self.inside),
            tuple(part.key for part in self.parts) if followed else (),
        )

    def run(self) -> tuple[list[Path], str] | None:
        """The best labellings of this relaxation, and how they were found; None where it stays open."""
        progress = self.progress
        relaxed = self.guide.solve(self.prices, progress.deadline)
        if relaxed is None:
            return None
        if is_forbidden(relaxed.bound):
            progress.prove(FORBIDDEN, self.impossible(followed=False))
            return [], "no labelling is possible"
        progress.prove(relaxed.bound, self.leaf(followed=False))
        if self.guide.whole and not self.parts:
            progress.completion = relaxed.completion[:, :, 0]
        if self.charged:
            relaxed = self.tighten(relaxed)
        if self.top == 1 and (self.attained(relaxed) or progress.fresh([relaxed.path], self.active)):
            inside = f"{len(self.inside)} machines in the lattice" if self.inside else ""
            prices = f"{np.count_nonzero(self.prices)} prices" if self.prices.any() else ""
            return [relaxed.path], ", ".join(filter(None, (inside, prices))) or "viterbi"
        return self.label_setting(relaxed)

    def attained(self, relaxed: Relaxed) -> bool:
        """Whether the relaxation's labelling is worth the bound where all that it leaves out is left out."""
        if len(self.parts) == len(self.inside):
            return True
        return self.progress.judge(relaxed.path).value == relaxed.bound

    def label_setting(self, relaxed: Relaxed) -> tuple[list[Path], str] | None:
        """Wider and wider, with a beam in between for a better labelling to measure prefixes by."""
        progress = self.progress
        floor = progress.floor if self.top > 1 else progress.value
        for width in WIDTHS:
            found = self.follow(relaxed, width, floor)
            if found.exact:
                return self.proved(found)
            if progress.deadline.passed:
                return None
            beam = self.follow(relaxed, max(32, width // 8, self.top), floor, beam=True)
            for path in beam.paths[: self.top]:
                progress.judge(path)
            if beam.exact and self.top == 1:
                return self.proved(beam)
            if progress.deadline.passed:
                return None
            if self.top == 1:
                floor = progress.value
                if self.charged:
                    relaxed = self.tighten(relaxed)
            else:
                floor = max(floor, self.worst(beam))
        return None

    def worst(self, beam: Followed) -> int:
        """The lowest value among as many known labellings as are asked for."""
        values = sorted(
            (self.progress.judge(path).value for path in beam.paths[: 2 * self.top]), reverse=True
        )
        return values[self.top - 1] if len(values) >= self.top else FORBIDDEN

    def follow(self, relaxed: Relaxed, width: int, floor: int, *, beam: bool = False) -> Followed:
        deadline = self.progress.deadline
        return follow(
            self.guide,
            self.prices,
            relaxed,
            self.parts,
            deadline,
            floor=floor,
            width=width,
            beam=beam,
            copies=self.top,
        )

    def proved(self, found: Followed) -> tuple[list[Path], str]:
        """The labellings of label setting that was exact."""
        if found.paths:
            self.progress.prove(found.values[0], self.leaf(followed=True))
        else:
            self.progress.prove(FORBIDDEN, self.impossible(followed=True))
        return found.paths[: self.top], f"label setting over {len(self.parts)} machines"

    def impossible(self, *, followed: bool) -> Leaf:
        """The proof that hard rules leave no labelling: a price of 0 names a sum that no labelling can have."""
        inside = tuple(part.key for part in self.inside if part.penalty is None)
        charged = {part.part: 0 for part in self.charged if part.penalty is None}
        return Leaf(charged, inside, tuple(p.key for p in self.parts if p.penalty is None) if followed else ())


def place(
    active: list[Priced], lattice: Lattice, alive: Alive | None
) -> tuple[list[Priced], list[Priced], list[Priced]]:
    """Which machines the lattice is multiplied with, which sums bear prices, and which machines are only followed.

    Sums go inside where all of them fit, since prices do as well and cost less than most of them inside.
    """
    work = lattice.node.size * lattice.pool.shape[2] if alive is None else alive.steps
    inside: list[Priced] = []
    others: list[Priced] = []
    states = 1
    for part in sorted((p for p in active if p.total is None), key=lambda p: p.machine.states):
        more = states * part.machine.states
        if part.shared or more > MOST_INSIDE or work * more > MOST_WORK:
            others.append(part)
        else:
            inside.append(part)
            states = more
    sums = [p for p in active if p.total is not None]
    more = states * math.prod(p.machine.states for p in sums)
    if more <= MOST_INSIDE and work * more <= SUMS_WORK and more <= states * SUMS_INSIDE:
        return [*inside, *sums], [], others
    return inside, sums, others


def _rounds(progress: Progress, top: int) -> Ended:
    """Take up what labellings break, until the best ones break nothing new."""
    active: list[Priced] = []
    why = ""
    while True:
        if active or top > 1:
            progress.deadline.excuse(warm("engine"))
        current = Round(progress, active, top)
        answer = current.run()
        if answer is None:
            return Ended([], why + "not closed", False)
        paths, how = answer
        fresh = progress.fresh(paths, active)
        if not active and paths:
            count = len({r for path in paths for r, _ in progress.judge(path).broken})
            rules = len(progress.folded.rules)
            why = f"viterbi breaks {count} of {rules} rules that do not fold; " if count else ""
        taken = progress.parts(fresh)
        if taken:
            active = [*active, *taken]
            progress.drop()
            continue
        unseen = sorted({rule for path in paths for rule in progress.unseen(path)})
        if unseen:
            return Ended([], f"{why}no machine for {', '.join(unseen)}; ", False)
        return Ended(paths, why + how, True, current.leaf(followed=True))


def _answers(progress: Progress, ended: Ended, task: Task) -> Iterator[Found]:
    """What the rounds have found, or what a solver makes of what they have left."""
    if ended.settled:
        for place, path in enumerate(ended.paths):
            excluded = tuple(tuple(p.tolist()) for p in ended.paths[:place])
            tree = progress.tree if task.top == 1 else ended.tree
            proof = Certificate("exact", ended.why, tree=tree, excluded=excluded)
            yield Found(path, progress.judge(path).value, f"auto: {ended.why}", proof)
        if len(ended.paths) < task.top:
            proof = Certificate("exact", ended.why, tree=progress.tree)
            yield Found(None, float("-inf"), f"auto: {ended.why}", proof)
        return
    if task.top > 1:
        yield from _best_few(progress.folded, task, "auto: " + ended.why)
    else:
        yield _finished(progress, ended, task)


def _finished(progress: Progress, ended: Ended, task: Task) -> Found:
    """The folded program on a solver; a better labelling from there may let the rounds close after all."""
    why = f"auto: {ended.why}"
    if not task.deadline.passed:
        answer = next(_by_program(progress.folded, task))
        words = why + "folded program on " + answer.method
        if answer.exhausted:
            return replace(answer, method=words)
        if answer.path is not None:
            progress.judge(answer.path)
        if progress.value >= answer.bound:
            again = _rounds(progress, 1) if not task.deadline.passed else ended
            if again.settled:
                proof = Certificate("exact", words + ", then " + again.why, tree=progress.tree)
                return Found(again.paths[0], progress.bound, proof.source, proof)
        if answer.bound < progress.bound:
            return Found(progress.path, answer.bound, words, answer.certificate)
        why = words
    proof = Certificate("exact", why, tree=progress.tree)
    return Found(progress.path, progress.bound, why, proof)


def _best_few(folded: Problem, task: Task, why: str) -> Iterator[Found]:
    """Several labellings by a solver, and further ones while they equal the last, so that label ids decide."""
    answers: list[Found] = []
    scores: list[int] = []
    for answer in _by_program(folded, replace(task, top=task.top + MORE_TIES)):
        score = FORBIDDEN if answer.path is None else folded.value(answer.path).score
        if len(answers) >= task.top and score < scores[task.top - 1]:
            break
        answers.append(replace(answer, method=why + "folded program on " + answer.method))
        scores.append(score)
    yield from sorted(answers, key=lambda answer: _order(answer, folded))[: task.top]


def _by_program(folded: Problem, task: Task) -> Iterator[Found]:
    """What the solver finds, or nothing where the program would be too large to build."""
    try:
        yield from best_of_program(folded, task, FASTEST)
    except TooLarge:
        yield Found(None, best_score(folded.lattice), f"{FASTEST}: too large to build", FOLDED_BOUND)


def _order(answer: Found, folded: Problem) -> tuple[float, list[int]]:
    """Best first, equal scores by label ids, and the one without a labelling last."""
    if answer.path is None:
        return float("inf"), []
    return -folded.value(answer.path).score, answer.path.tolist()
