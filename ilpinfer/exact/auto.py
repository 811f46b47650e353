"""The certifying engine, `method="auto"`.

Fold local rules into the scores, and Viterbi: a labelling that breaks nothing else is the optimum. Otherwise only the
rules that labellings break are taken up, in rounds, until the best labelling of what is known breaks nothing new
(lazy constraints: Riedel and Clarke 2006; Tromble and Eisner 2006). A round bounds by Viterbi over the lattice
multiplied with small machines, with Lagrangian multipliers on the sums of others, and ends with a decision diagram of all
labellings that these bounds do not rule out, or with label setting where several labellings are wanted. Where a diagram
gets too large, a linear relaxation of the sums says whether hard ones contradict each other, and by which rows it is
fractional; cases are told apart (branch and bound); what that leaves open, and what has no machine, goes to a solver.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from formulations.automata.sums import Sum
from formulations.grid import FORBIDDEN, is_forbidden, nats
from formulations.problem.problem import Problem
from formulations.programs.formulation import TooLarge, best_score
from ilpinfer.core.certificate import FOLDED_BOUND, Rest, proof
from ilpinfer.core.result import Result, Task
from ilpinfer.exact import branch, refinement
from ilpinfer.exact import rounds as limits
from ilpinfer.exact.agreement_lists import only_agree
from ilpinfer.exact.agreements import agree
from ilpinfer.exact.branch import Branching
from ilpinfer.exact.contradiction import FEW_CASES, MOST_CASES, chosen, contradiction
from ilpinfer.exact.counting import Counting
from ilpinfer.exact.programs import FASTEST, best_of_program, reduced_program
from ilpinfer.exact.progress import Progress
from ilpinfer.exact.rounds import Ended, rounds
from ilpinfer.exact.viterbi import VITERBI

MORE_TIES = 50
"""How many equal labellings beyond the last one wanted are looked at, so that label ids decide which is kept."""

COUNTED_CASES = 64
"""Of a problem with sums, before a solver has its turn."""


def auto(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings and the proof of each."""
    task.deadline.excuse(VITERBI.warm())
    progress = Progress.of(problem, task.deadline, task.watch)
    if task.incumbent is not None:
        progress.judge(task.incumbent)
    if task.top > 1 and task.within is None:
        ended = rounds(progress, task.top)
    else:
        ended = _best(problem, progress)
        if ended.settled and ended.paths and task.within is not None:
            progress.floor = progress.value - task.within
            ended = rounds(progress, task.top)
    for place, result in enumerate(_answers(progress, ended, task)):
        yield result if place else replace(result, improvements=tuple(progress.improvements))


def _best(problem: Problem, progress: Progress) -> Ended:
    """The best labelling, where rounds and cases come to an end.

    While no labelling is known, cases have nothing to measure bounds by: a solver has its turn before they do. What
    decomposition leaves open of tokens that agree goes to it soon.
    """
    agreed = agree(progress)
    if agreed is not None:
        if agreed.settled or only_agree(progress) or progress.deadline.passed:
            return agreed
        ended = rounds(progress, most=min(refinement.FEW, limits.MOST_STEPS))
        return replace(ended, why=f"{agreed.why}; {ended.why}")
    counted = any(isinstance(part, Sum) for rule in progress.folded.rules for part in rule.components)
    if counted:
        ended = _counted(problem, progress)
        only_sums = all(part.total is not None for part in progress.active)
        if ended.settled or (only_sums and is_forbidden(progress.value)):
            return ended
    ended = rounds(progress)
    if ended.settled or ended.unseen or (counted and is_forbidden(progress.value)):
        return ended
    return Branching(problem, progress).run(ended)


def _counted(problem: Problem, progress: Progress) -> Ended:
    """The same for sums, which may contradict each other, or nearly: few steps and cases, before others have their turn."""
    ended = rounds(progress, most=min(refinement.FEW, limits.MOST_STEPS))
    if ended.settled or ended.unseen or progress.deadline.passed:
        return ended
    counting = Counting(problem, chosen(problem, progress.active))
    refuted = _refuted(counting, progress, FEW_CASES)
    if refuted is not None:
        return refuted
    relaxed = counting.bound(problem, progress)
    if not counting.divided(relaxed):
        ended = rounds(progress, most=min(refinement.FEW * refinement.GROWTH, limits.MOST_STEPS))
        known = not is_forbidden(progress.value)
        if ended.settled or ended.unseen or (known and any(part.total is None for part in progress.active)):
            return ended
    ended = Branching(problem, progress, counting, min(COUNTED_CASES, branch.MOST_CASES)).run(ended)
    return ended if ended.settled else _refuted(counting, progress, MOST_CASES) or ended


def _refuted(counting: Counting, progress: Progress, most: int) -> Ended | None:
    """The end, where no labelling is known and the hard sums are found to contradict each other in so many cases."""
    if not is_forbidden(progress.value) or progress.deadline.passed:
        return None
    outcome = contradiction(counting.problem, counting.among, progress.deadline, most)
    if outcome.path is not None:
        progress.judge(outcome.path)
    if outcome.tree is None:
        return None
    progress.prove(FORBIDDEN, outcome.tree)
    return Ended([], "the hard sums contradict each other", True, outcome.tree)


def _answers(progress: Progress, ended: Ended, task: Task) -> Iterator[Result]:
    """What the rounds have found, or what a solver makes of what they have left."""
    if ended.settled:
        labellings = [tuple(path.tolist()) for path in ended.paths]
        for place, path in enumerate(ended.paths):
            tree = progress.tree if task.top == 1 else ended.tree
            rest = _rest(progress, ended, task) if place == len(ended.paths) - 1 else None
            certificate = proof(ended.why, tree, tuple(labellings[:place]), rest)
            worth = progress.judge(path).value
            yield Result(path, worth, f"auto: {ended.why}", certificate, value=worth)
        if len(ended.paths) < task.top:
            yield Result(None, float("-inf"), f"auto: {ended.why}", proof(ended.why, progress.tree))
        return
    if task.top > 1:
        yield from _best_few(progress, task, "auto: " + ended.why.rstrip("; "))
    else:
        yield _finished(progress, ended, task)


def _rest(progress: Progress, ended: Ended, task: Task) -> Rest | None:
    """The proof that there are no more labellings where fewer were found than asked for."""
    if len(ended.paths) >= task.top or ended.tree is None:
        return None
    bound = -math.inf if task.within is None else nats(progress.floor - 1)
    return Rest(bound, ended.tree)


def _finished(progress: Progress, ended: Ended, task: Task) -> Result:
    """The folded program on a solver; a better labelling from there may let the rounds close after all."""
    why = "auto: " + ended.why.rstrip("; ")
    try:
        known = progress.path, progress.value, progress.charged
        answer = reduced_program(progress.folded, task.deadline, task.threads, *known)
    except TooLarge:
        answer, why = None, why + "; too large for a solver"
    if answer is not None:
        why = f"{why}; reduced program on {answer.method}"
        if answer.exhausted:
            return replace(answer, method=why)
        if answer.path is not None:
            progress.judge(answer.path)
        hopeless = ended.unseen or only_agree(progress) or task.deadline.passed
        if progress.value >= answer.bound and not hopeless:
            again = rounds(progress)
            if again.settled and again.paths:
                why = f"{why}; proved by {again.why}"
                return Result(again.paths[0], progress.bound, why, proof(why, progress.tree))
        if answer.bound < progress.bound:
            return Result(progress.path, answer.bound, why, answer.certificate)
    return Result(progress.path, progress.bound, why, proof(why, progress.tree))


def _best_few(progress: Progress, task: Task, why: str) -> Iterator[Result]:
    """Several labellings by a solver, and further ones while they equal the last, so that label ids decide.

    Past the deadline the best labelling so far is all there is.
    """
    folded = progress.folded
    if task.deadline.passed:
        yield Result(progress.path, progress.bound, why, proof(why, progress.tree))
        return
    answers: list[Result] = []
    scores: list[int] = []
    for answer in _by_program(folded, replace(task, top=task.top + MORE_TIES)):
        score = FORBIDDEN if answer.path is None else folded.value(answer.path).score
        if len(answers) >= task.top and score < scores[task.top - 1]:
            break
        if task.within is not None and answers and score < scores[0] - task.within:
            break
        answers.append(replace(answer, method=why + "; folded program on " + answer.method))
        scores.append(score)
    yield from sorted(answers, key=lambda answer: _order(answer, folded))[: task.top]


def _by_program(folded: Problem, task: Task) -> Iterator[Result]:
    """What the solver finds, or nothing where the program would be too large to build."""
    try:
        yield from best_of_program(folded, task, FASTEST)
    except TooLarge:
        yield Result(None, best_score(folded.lattice), f"{FASTEST}: too large to build", FOLDED_BOUND)


def _order(answer: Result, folded: Problem) -> tuple[float, list[int]]:
    """Best first, equal scores by label ids, and the one without a labelling last."""
    if answer.path is None:
        return float("inf"), []
    return -folded.value(answer.path).score, answer.path.tolist()
