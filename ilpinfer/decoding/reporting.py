"""Runs methods and turns their results into solutions. Scores are always recomputed from the labelling."""

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from formulations import Trellis
from formulations.arguments import choice, function, instance
from formulations.grid import FORBIDDEN, nats
from formulations.problem.problem import Problem, Value
from formulations.programs.loss_bounds import best_score
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import NONE, VITERBI_BOUND, Certificate, Rest, proof
from ilpinfer.core.context import Context
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Method
from ilpinfer.core.request import Request
from ilpinfer.core.result import NOTHING_KNOWN, Result, Start, Task
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.core.trees import Leaf
from ilpinfer.core.watching import Best, Stopped
from ilpinfer.errors import describe

Callback = Callable[[float, float, float], object]
"""Receives seconds, the best score and the bound so far, in nats; the search ends if it returns True."""
OnError = Literal["raise", "row"]
"""Raise an error, or return a solution in its place."""
Decoded = TypeVar("Decoded")
Kind = TypeVar("Kind", bound=Solution)

EMPTY = Result(
    np.zeros(0, np.int64), 0, "empty sequence", proof("empty sequence", Leaf(), rest=Rest(-math.inf, Leaf()))
)
"""The result of an empty sequence: its only labelling, of score 0."""
NOTHING = Value(FORBIDDEN, 0, 0, {}, True)
"""The value without a labelling."""


def run_method(
    context: Context,
    request: Request,
    top: int | None = None,
    callback: Callback | None = None,
    start: Start = NOTHING_KNOWN,
    *,
    keep_on_interrupt: bool = False,
) -> list[Solution]:
    """The solutions of a request's method. See `run_task`."""
    context.rules.prepare()
    if callback is not None:
        function(callback, "callback", "of seconds, incumbent and bound")
    best = Best(None if callback is None else _in_nats(callback), keep_on_interrupt)
    task = request.task(top, None if callback is None and not keep_on_interrupt else best)
    instance(context.trellis, Trellis, "trellis", "a Trellis")
    task = replace(task, start=start, deadline=start.deadline or task.deadline)
    solutions = run_task(context, request.method, task)
    if callback is not None:
        callback(solutions[0].seconds, solutions[0].score, solutions[0].bound)
    return solutions


def run_task(context: Context, method: Method, task: Task) -> list[Solution]:
    """The solutions of a method's results: at least one; the last one has no labels if there are no more labellings.

    If the callback or an interrupt ends the method, the earlier solutions and the best reported one.
    """
    problem: Problem | None = None
    results: list[Result] = []
    deadline, stop = task.deadline, ""
    best = task.watch if isinstance(task.watch, Best) else Best()
    try:
        with deadline.as_limit():
            problem = context.rules.problem(context.trellis)
            late = deadline.passed and len(context.trellis)
            for result in () if late else _results(context, problem, method, task):
                results.append(result)
    except OutOfTime:
        results = []
    except (Stopped, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) and not best.interruptible:
            raise
        stop = "stopped by the callback" if isinstance(error, Stopped) else "interrupted"
        results = _until_then(results, best, problem, f"{method.name}: {stop}")
    context = replace(context, known_problem=problem)
    if not results:
        start, why = task.start, f"{method.name}: no time left"
        path = None if problem is None else start.path
        results = [Result(path, start.bound, why, proof(why, start.proof))]
    if method.name == "auto" and problem is not None:
        results = [with_any_labelling(results[0], problem), *results[1:]]
    if task.start.declined:
        why = f"not by compiled rules: {task.start.declined}"
        results = [replace(each, method=f"{each.method}; {why}") for each in results]
    solutions = [solution_of(Solution, result, context, deadline) for result in results]
    if stop and not solutions[0].has_labelling:
        words = f"the method was {stop} before it reached a labelling that keeps the hard rules"
        solutions[0] = replace(solutions[0], reason=words)
    try:
        solutions[0] = with_reasons(solutions[0], deadline)
    except KeyboardInterrupt:
        if not best.interruptible:
            raise
        words = "no labelling keeps the hard rules; the search for the reason was interrupted"
        solutions[0] = replace(solutions[0], reason=words)
    return solutions


def _until_then(results: list[Result], best: Best, problem: Problem | None, words: str) -> list[Result]:
    """The results so far and the best reported labelling, with the bound of the scores if no other bound is known."""
    bound, certificate = best.bound, best.certificate
    if bound == math.inf and problem is not None:
        bound, certificate = float(best_score(problem.lattice)), VITERBI_BOUND
    last = Result(best.path, bound, words, certificate, tuple(best.improvements))
    if not results:
        return [last]
    known = {each.path.tobytes() for each in results if each.path is not None}
    return results if last.path is None or last.path.tobytes() in known else [*results, last]


def with_any_labelling(result: Result, problem: Problem) -> Result:
    """A result without a labelling, completed with `O` for all tokens if that keeps the hard rules."""
    outside, (T, _) = problem.labels.outside, problem.shape
    if result.path is not None or result.proves_infeasibility or outside is None or not T:
        return result
    path = problem.labels.ids([outside] * T)
    if not problem.value(path).feasible:
        return result
    return replace(result, path=path, method=f"{result.method}; {outside} for all tokens")


def _results(context: Context, problem: Problem, method: Method, task: Task) -> Iterable[Result]:
    if not len(context.trellis):
        return [EMPTY]
    if method.function is None:
        return method.run(problem, task)
    from ilpinfer.decoding import outside

    return outside.run(method, context.trellis, context.rules.rules, problem, task)


def _in_nats(callback: Callback) -> Callable[[float, int, float], object]:
    return lambda seconds, incumbent, bound: callback(seconds, nats(incumbent), nats_of_bound(bound))


def with_reasons(solution: Kind, deadline: Deadline) -> Kind:
    """The solution, with the reasons if it has no labelling."""
    if solution.status is Status.UNKNOWN and not solution.reason:
        within = "" if deadline.remaining is None else f" within {deadline.limit:g} s"
        return replace(solution, reason=f"the method reached no labelling that keeps the hard rules{within}")
    if solution.status is not Status.INFEASIBLE or solution.context is None:
        return solution
    from ilpinfer.exact.infeasibility import explain_infeasibility

    infeasibility = explain_infeasibility(solution.context, deadline.remaining)
    return replace(solution, reason=infeasibility.reason, infeasibility=infeasibility)


def solution_of(
    kind: Callable[..., Kind],
    result: Result,
    context: Context,
    deadline: Deadline,
    status: Status | None = None,
    **own: object,
) -> Kind:
    """The solution of a result, of a class with further fields `own`; `status` is given if the bound does not decide it.

    The engine's value is compared with the value under the rules: ArithmeticError if they differ.
    """
    value = NOTHING if result.path is None else context.problem.value(result.path)
    if result.path is not None and result.value not in (None, value.score):
        raise ArithmeticError(
            f"the engine's value {result.value} of a labelling is not that under the rules, {value.score}"
        )
    bound = max(result.bound, value.score)
    if result.path is None:
        status = Status.INFEASIBLE if result.proves_infeasibility else Status.UNKNOWN
        bound = -math.inf if result.proves_infeasibility else result.bound
    elif not value.feasible:
        status = Status.UNKNOWN
    elif status is None:
        status = Status.OPTIMAL if value.score >= bound else Status.FEASIBLE
    elif status is Status.OPTIMAL:
        bound = value.score
    rules = () if context.known_problem is None else context.known_problem.rules
    open_bound = result.bound == math.inf and result.certificate.kind != "none"
    return kind(
        status=status,
        score=nats(value.score),
        model_score=nats(value.model),
        feature_score=nats(value.features),
        penalty=nats(value.penalty) if value.feasible else math.inf,
        violations=value.violations,
        bound=nats_of_bound(bound),
        method=result.method,
        certificate=with_digest(NONE if open_bound else result.certificate, context),
        seconds=deadline.elapsed,
        path=result.path,
        names=context.trellis.labels.names,
        overruled={rule.name: list(rule.overruled) for rule in rules if rule.overruled},
        context=context,
        improvements=result.improvements,
        stages=result.stages,
        given=context.trellis.given,
        **own,
    )


def with_digest(certificate: Certificate, context: Context) -> Certificate:
    """The certificate with the digest of its problem, if it contains a proof."""
    digest = partial(attrgetter("digest"), context)
    return certificate if certificate.tree is None else replace(certificate, make_digest=digest)


def nats_of_bound(units: float) -> float:
    """A bound in grid units as nats."""
    return units if math.isinf(units) else nats(math.floor(units))


def check_on_error(on_error: str) -> None:
    """Raise ValueError for a value that is no `OnError`."""
    choice(on_error, "on_error", get_args(OnError))


def attempt(
    call: Callable[[], Decoded], on_error: OnError, failed: Callable[[Exception, float], Decoded]
) -> Decoded:
    """The value of a call; with `on_error="row"`, for an error, the result of `failed` for the error and the seconds
    until then.
    """
    began = time.perf_counter()
    try:
        return call()
    except Exception as error:
        if on_error == "raise":
            raise
        return failed(error, time.perf_counter() - began)


def failure(kind: Callable[..., Kind], error: BaseException, method: str, **fields: Any) -> Kind:
    """A solution of class `kind` and status "unknown" with the message and type of an error; `fields` are further fields."""
    nothing: tuple[Any, ...] = (Status.UNKNOWN, -math.inf, -math.inf, 0.0, 0.0, {}, math.inf, method)
    return kind(*nothing, reason=describe(error), error=type(error).__name__, **fields)
