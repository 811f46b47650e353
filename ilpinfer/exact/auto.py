"""The certifying engine, `method="auto"`.

Local rules are folded into the scores. A kernel follows the machines of the rules that the last labelling breaks, until a labelling breaks
no other rule (lazy constraints: Riedel and Clarke 2006; Tromble and Eisner 2006). Problems that it leaves open go through the
stages of `stages.solve`. Equal tokens have a decomposition of their own, which comes first; sums have a linear relaxation, which
finds contradictions of hard sums, and rows for branch and bound. Problems that stay open, and rules without a machine, go to a
solver.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from formulations.automata.sums import Sum
from formulations.grid import FORBIDDEN, is_forbidden, nats
from formulations.problem.problem import Problem
from formulations.programs.formulation import TooLarge
from formulations.programs.loss_bounds import best_score
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import FOLDED_BOUND, Rest, proof
from ilpinfer.core.result import Result, Task
from ilpinfer.core.trees import MachineKey
from ilpinfer.exact import limits
from ilpinfer.exact.agreement_lists import only_agree
from ilpinfer.exact.agreements import agree
from ilpinfer.exact.branch import Branching
from ilpinfer.exact.known import Known, SearchResult
from ilpinfer.exact.many_labels import Rounds, problem_has_many
from ilpinfer.exact.mixtures import SumTerm
from ilpinfer.exact.programs import FASTEST, best_of_program, reduced_program
from ilpinfer.exact.stages import best_few, by_products, solve
from ilpinfer.exact.sum_relaxation import contradiction, relax_sums, sums_within
from ilpinfer.system.posix import missing_posix, require_posix


def auto(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings and the proof of each."""
    if problem_has_many(problem):
        yield from Rounds(problem, task, partial(_solved, name=name)).run()
    else:
        yield from _solved(problem, Known.of(problem, task.deadline, task.watch), task, name)


def _solved(problem: Problem, known: Known, task: Task, name: str) -> Iterator[Result]:
    known.begin(task.start)
    try:
        end = _search(problem, known, task)
    except OutOfTime:
        end = SearchResult([], "no time left", False)
    for place, result in enumerate(_answers(known, end, task)):
        result = replace(result, stages=tuple(known.stages.items()))
        yield result if place else replace(result, improvements=tuple(known.improvements))


def _search(problem: Problem, known: Known, task: Task) -> SearchResult:
    """The best labelling, or the best few, as far as the stages of the engine find them."""
    if task.top > 1 and task.within is None:
        return best_few(known, task.top)
    end = _best(problem, known)
    if end.complete and end.paths and task.within is not None:
        return best_few(known, task.top, known.value - task.within)
    return end


def _best(problem: Problem, known: Known) -> SearchResult:
    """The best labelling by decomposition, kernels, products, and branch and bound.

    Problems with sums and without an incumbent go to a solver, since branch and bound would have nothing to prune by. So do, after few
    steps, problems that the decomposition leaves open.
    """
    agreement = agree(known)
    if agreement is not None:
        if agreement.complete or only_agree(known) or known.deadline.passed:
            return agreement
        end = solve(known)
        return replace(end, why=f"{agreement.why}; {end.why}")
    has_sums = any(isinstance(c, Sum) for rule in known.folded.rules for c in rule.components)
    end = solve(known)
    if end.complete or end.machineless or known.deadline.passed:
        return end
    with known.stage("products"), known.smaller_machines():
        product = by_products(known)
    if product is not None:
        return product
    if has_sums:
        of_sums = _relaxed_sums(problem, known)
        if of_sums is not None or known.deadline.passed:
            return of_sums or end
        end = solve(known)
        if end.complete or end.machineless or is_forbidden(known.value):
            return end
    with known.stage("branch and bound"):
        return Branching(problem, known).run(end)


def _relaxed_sums(problem: Problem, known: Known) -> SearchResult | None:
    """The best labelling by the multipliers of the linear relaxation of sums, or that hard ones contradict each other."""
    sums = sums_within(problem, sorted(known.active_components))
    refuted = _refute(problem, known, sums)
    if refuted is not None:
        return refuted
    with known.stage("sums"):
        relax_sums(known, sums)
    with known.stage("products"):
        product = by_products(known, limits.SUMS_INSIDE)
    if product is None and known.path is not None and known.bound <= known.value:
        return SearchResult([known.path], "the linear relaxation of sums", True, known.tree)
    return product


def _refute(
    problem: Problem, known: Known, sums: Sequence[tuple[MachineKey, SumTerm]]
) -> SearchResult | None:
    """A result where no labelling is known and the linear relaxation proves that the hard sums contradict each other."""
    if not is_forbidden(known.value) or known.deadline.passed:
        return None
    with known.stage("contradictions"):
        outcome = contradiction(problem, sums, known.deadline)
    if outcome.path is not None:
        known.evaluate(outcome.path)
    if outcome.tree is None:
        return None
    known.prove(FORBIDDEN, outcome.tree)
    return SearchResult([], "the hard sums contradict each other", True, outcome.tree)


def _answers(known: Known, end: SearchResult, task: Task) -> Iterator[Result]:
    """Results of the search, or of a solver where the search is incomplete."""
    if end.complete:
        labellings = [tuple(path.tolist()) for path in end.paths]
        for place, path in enumerate(end.paths):
            tree = known.tree if task.top == 1 else end.tree
            rest = _rest(known, end, task) if place == len(end.paths) - 1 else None
            certificate = proof(end.why, tree, tuple(labellings[:place]), rest)
            worth = known.evaluate(path).value
            yield Result(path, worth, f"auto: {end.why}", certificate, value=worth)
        if len(end.paths) < task.top:
            yield Result(None, float("-inf"), f"auto: {end.why}", proof(end.why, known.tree))
        return
    if task.top > 1:
        yield from _best_few(known, task, "auto: " + end.why.rstrip("; "))
    else:
        yield _by_solver(known, end, task)


def _rest(known: Known, end: SearchResult, task: Task) -> Rest | None:
    """The proof that there are no more labellings, where there are fewer than wanted."""
    if len(end.paths) >= task.top or end.tree is None:
        return None
    bound = -math.inf if task.within is None else nats(known.value - task.within - 1)
    return Rest(bound, end.tree)


def _by_solver(known: Known, end: SearchResult, task: Task) -> Result:
    """The result of a solver on the folded program. With its labelling, kernels may prove the optimum."""
    why, missing = "auto: " + end.why.rstrip("; "), missing_posix()
    try:
        best = known.path, known.value, known.charged
        answer = None
        if missing:
            why += f"; no solver without {missing}"
        else:
            with known.stage("solver"):
                answer = reduced_program(known.folded, task.deadline, task.threads, *best)
    except TooLarge:
        answer, why = None, why + "; too large for a solver"
    except OutOfTime:
        answer, why = None, why + "; no time left for a solver"
    if answer is not None:
        why = f"{why}; reduced program on {answer.method}"
        if answer.proves_infeasibility:
            return replace(answer, method=why)
        if answer.path is not None:
            known.evaluate(answer.path)
        hopeless = end.machineless or only_agree(known) or task.deadline.passed
        if known.value >= answer.bound and not hopeless:
            again = solve(known)
            if again.complete and again.paths:
                why = f"{why}; proved by {again.why}"
                return Result(again.paths[0], known.bound, why, proof(why, known.tree))
        if answer.bound < known.bound:
            return Result(known.path, answer.bound, why, answer.certificate)
    return Result(known.path, known.bound, why, proof(why, known.tree))


def _best_few(known: Known, task: Task, why: str) -> Iterator[Result]:
    """Several labellings by a solver, and further ones while they equal the last, so that label ids decide.

    Past the deadline, only the incumbent.
    """
    folded = known.folded
    if task.deadline.passed:
        yield Result(known.path, known.bound, why, proof(why, known.tree))
        return
    require_posix(
        "a solver, which lists labellings that the engine leaves open,", "ask for the best one alone"
    )
    answers: list[Result] = []
    scores: list[int] = []
    with known.stage("solver"):
        for answer in _by_program(folded, replace(task, top=task.top + limits.MORE_TIES)):
            score = FORBIDDEN if answer.path is None else folded.value(answer.path).score
            if len(answers) >= task.top and score < scores[task.top - 1]:
                break
            if task.within is not None and answers and score < scores[0] - task.within:
                break
            answers.append(replace(answer, method=why + "; folded program on " + answer.method))
            scores.append(score)
    yield from sorted(answers, key=lambda answer: _order(answer, folded))[: task.top]


def _by_program(folded: Problem, task: Task) -> Iterator[Result]:
    """Results of the solver; none where the program would be too large to build."""
    try:
        yield from best_of_program(folded, task, FASTEST)
    except TooLarge:
        yield Result(None, best_score(folded.lattice), f"{FASTEST}: too large to build", FOLDED_BOUND)


def _order(answer: Result, folded: Problem) -> tuple[float, list[int]]:
    """Best first, equal scores by label ids, and the one without a labelling last."""
    if answer.path is None:
        return float("inf"), []
    return -folded.value(answer.path).score, answer.path.tolist()
