"""The best few labellings in order: by kernels with proof, otherwise one by one by a solver."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from formulations.grid import FORBIDDEN
from formulations.problem.problem import Problem
from formulations.programs.formulation import TooLarge
from formulations.programs.loss_bounds import best_score
from ilpinfer.core.certificate import FOLDED_BOUND, proof
from ilpinfer.core.result import Result, Task
from ilpinfer.exact import limits
from ilpinfer.exact.instance import work_within
from ilpinfer.exact.kernel_stage import work_of
from ilpinfer.exact.programs import FASTEST, best_of_program
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import KERNELS, State
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import DEAD, NO_LABELLING, NO_PATH, PROVED
from ilpinfer.system.posix import require_posix


def best_few(state: State, top: int, lowest: int = FORBIDDEN) -> State:
    """At most `top` labellings of value `lowest` or more as the answer, best first, equal values by label ids."""
    return Stage(KERNELS, lambda _: True, lambda given: _by_kernels(given, top, lowest)).run(state)


def _by_kernels(state: State, top: int, lowest: int) -> State:
    problem, one, tokens = state.problem, state.problem.instance, state.problem.tokens
    T = len(tokens.emission)
    paths, values = np.empty((top, T), np.int64), np.empty(top, np.int64)
    marks = np.zeros((2, len(one.sources)), np.int64)
    steps = max(limits.LIST_PASSES * one.pass_steps * T, limits.LIST_STEPS)
    _, most, _ = work_within((0, steps, limits.DIRECT), T, problem.deadline.remaining)
    work = most // limits.FIRST_SHARE, most, max(lowest, DEAD)
    code, number = kernels.list_best(one.tables, tokens, *work, paths, values, marks)
    state = replace(state, answer=None, words="", multipliers={}).following(marks)
    if code in (NO_PATH, NO_LABELLING):
        return state.impossible()
    if code != PROVED:
        return state.left_open("too many labellings")
    found = [one.labels_of(path) for path in paths[:number][values[:number] >= lowest]]
    state = state.with_labellings(found)
    missed = {name for path in found for name in problem.evaluate(path).machineless}
    if missed:
        state = state.proved(int(values[0]), state.leaf())
        return replace(
            state.left_open(f"no machine for {', '.join(sorted(missed))}"), machineless=tuple(missed)
        )
    state = replace(state, bound=min(state.bound, int(values[0])), proof=state.leaf())
    return state.closed_by(work_of(state), *found)


def best_few_by_solver(state: State, task: Task) -> tuple[State, list[Result]]:
    """Several labellings by a solver, and further labellings with the value of the last, so that label ids decide.

    After the deadline, only the incumbent.
    """
    folded, words, results = state.problem.folded, f"auto: {state.words}", list[Result]()
    if task.deadline.passed:
        return state, [Result(state.path, state.bound, words, proof(words, state.proof))]
    require_posix(
        "a solver, which lists labellings that the engine leaves open,", "ask for the best one alone"
    )

    def listed(given: State) -> State:
        scores: list[int] = []
        for answer in _by_program(folded, replace(task, top=task.top + limits.MORE_TIES)):
            score = FORBIDDEN if answer.path is None else folded.value(answer.path).score
            if len(results) >= task.top and score < scores[task.top - 1]:
                break
            if task.within is not None and results and score < scores[0] - task.within:
                break
            results.append(replace(answer, method=f"{words}; folded program on {answer.method}"))
            scores.append(score)
        return given

    state = Stage("solver", lambda _: True, listed).run(state)
    if not results:
        results.append(Result(state.path, state.bound, words, proof(words, state.proof)))
    return state, sorted(results, key=lambda answer: _order(answer, folded))[: task.top]


def _by_program(folded: Problem, task: Task) -> Iterator[Result]:
    """Results of the solver; none if the program would be too large to build."""
    try:
        yield from best_of_program(folded, task, FASTEST)
    except TooLarge:
        yield Result(None, best_score(folded.lattice), f"{FASTEST}: too large to build", FOLDED_BOUND)


def _order(answer: Result, folded: Problem) -> tuple[float, list[int]]:
    """Sort key: best first, equal scores by label ids, a result without a labelling last."""
    if answer.path is None:
        return float("inf"), []
    return -folded.value(answer.path).score, answer.path.tolist()
