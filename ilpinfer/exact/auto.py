"""The certifying engine, `method="auto"`: the best labelling, or the best few, and the proof of each."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from formulations.grid import nats
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Rest, proof
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.best_few import best_few, best_few_by_solver
from ilpinfer.exact.engine import PROVING, best
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.many_labels import Rounds, problem_has_many
from ilpinfer.exact.state import State


def auto(problem: Problem, task: Task, name: str) -> Iterator[Result]:
    """The best labellings and the proof of each."""
    if problem_has_many(problem):
        return Rounds(problem, task, _solved).run()
    return _solved(GroundProblem.of(problem, task.deadline, task.threads, task.start.packed), task, {})


def _solved(problem: GroundProblem, task: Task, seconds: Mapping[str, float]) -> Iterator[Result]:
    """The results of the engine; `seconds` are the times of stages so far."""
    state = State.of(problem, task.start, task.watch, seconds)
    state = best(state) if task.top == 1 else _listed(state, task)
    if state.closed:
        results = _answers(state, task)
    elif task.top == 1:
        results = iter([_open(state)])
    else:
        state, answers = best_few_by_solver(state, task)
        results = iter(answers)
    for place, result in enumerate(results):
        result = replace(result, stages=tuple(state.seconds.items()))
        yield result if place else replace(result, improvements=state.improvements)


def _listed(state: State, task: Task) -> State:
    """The state with the best few labellings; with `task.within`, labellings at most that far below the best, which is found first."""
    if task.within is None:
        return best_few(state, task.top)
    state = best(state, PROVING)
    return best_few(state, task.top, state.value - task.within) if state.answer else state


def _answers(state: State, task: Task) -> Iterator[Result]:
    """The results of a state that is closed."""
    paths, words = state.answer or (), state.words
    labellings = [tuple(path.tolist()) for path in paths]
    for place, path in enumerate(paths):
        rest = _rest(state, task) if place == len(paths) - 1 else None
        certificate = proof(words, state.proof, tuple(labellings[:place]), rest)
        worth = state.problem.evaluate(path).value
        yield Result(path, worth, f"auto: {words}", certificate, value=worth)
    if len(paths) < task.top:
        yield Result(None, -math.inf, f"auto: {words}", proof(words, state.proof))


def _rest(state: State, task: Task) -> Rest | None:
    """The proof that there are no more labellings, if there are fewer than wanted."""
    if state.proof is None or len(state.answer or ()) >= task.top:
        return None
    bound = -math.inf if task.within is None else nats(state.value - task.within - 1)
    return Rest(bound, state.proof)


def _open(state: State) -> Result:
    """The result of an open state, with the lower of its bound and a solver's bound."""
    words = f"auto: {state.words or 'no time left'}"
    if state.claim is not None and state.claim[0] < state.bound:
        bound, certificate = state.claim
        return Result(state.path, bound, words, certificate)
    return Result(state.path, state.bound, words, proof(words, state.proof))
