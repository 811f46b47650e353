"""Decoding: a trellis and rules in, a labelling and what is proved about it out."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis, time_limits
from formulations.grid import nats
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import Request
from ilpinfer.core.result import Result, Task
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.direct import Direct
from ilpinfer.decoding.reporting import nats_of_bound, reported

Callback = Callable[[float, float, float], None]
"""Seconds, the best score so far and the bound so far, in nats."""


@overload
def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Solution: ...


@overload
def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int,
    callback: Callback | None = None,
    **options: Any,
) -> list[Solution]: ...


def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    callback: Callback | None = None,
    **options: Any,
) -> Solution | list[Solution]:
    """The best labelling of a trellis under rules (Stokman 2011, eq. 38 and 57).

    Parameters
    ----------
    trellis : scores of T tokens and K labels
    rules : rules and features, or a rule set; compiled once while the same ones are given with the same labels
    method : "auto", or a name from `methods()`
    time_limit : seconds, formulation included; compiling and loading the first time is not counted
    top : a number asks for a list of at most that many different labellings, best first
    callback : called with seconds, incumbent and bound, both in nats, as often as "auto" improves one of them, and by
        every method at the end; -inf and inf where there is none yet
    options : `threads` for solvers (default 1), `width` for beam search (default 10), `within` for "auto": with `top`,
        only labellings at most so many nats below the best; 0 for all optima of a tie

    Returns
    -------
    Solution, or a list of them where `top` is a number; empty where no labelling is feasible, or none was found in
    time, and "feasible" rather than "optimal" where a limit left only the best so far

    Raises
    ------
    ValueError
        for an unknown method, option or field, and for numbers that make no sense.
    SolverError
        where a solver cannot be started or breaks down.
    """
    return decoded(trellis, compiler_of(rules), Request.of(method, time_limit, options), top, callback)


def decoded(
    trellis: Trellis,
    rules: RuleCompiler,
    request: Request,
    top: int | None = None,
    callback: Callback | None = None,
) -> Any:
    """A solution, or a list of them where `top` is a number; see `decode`."""
    incumbent = None
    if top is None and callback is None and request.direct and isinstance(trellis, Trellis):
        rules.prepare()
        answer = Direct(rules, request, decode).trellis(trellis)
        if isinstance(answer, Solution):
            return answer
        incumbent = answer
    return searched(trellis, rules, request, top, callback, incumbent)


def searched(
    trellis: Trellis,
    rules: RuleCompiler,
    request: Request,
    top: int | None = None,
    callback: Callback | None = None,
    incumbent: NDArray[np.int64] | None = None,
) -> Any:
    """As `decoded`, by the method itself, which may begin with a labelling (T,) that is known."""
    rules.prepare()
    task = request.task(top, None if callback is None else _in_nats(callback))
    if not isinstance(trellis, Trellis):
        raise ValueError(f"trellis is {trellis!r}; expected a Trellis")
    solutions = run(trellis, rules, request, replace(task, incumbent=incumbent))
    if callback is not None:
        callback(solutions[0].seconds, solutions[0].score, solutions[0].bound)
    return solutions[0] if top is None else [solution for solution in solutions if solution.has_labelling]


def run(trellis: Trellis, rules: RuleCompiler, request: Request, task: Task) -> list[Solution]:
    """What a method makes of a task: at least one solution, and a last one without labels where that is all there is."""
    problem: Problem | None = None
    result: list[Result] = []
    deadline = task.deadline
    try:
        with time_limits.time_limit(lambda: deadline.passed, lambda: deadline.remaining):
            problem = rules.problem(trellis)
            result = [] if deadline.passed else list(request.method.run(problem, task))
    except time_limits.OutOfTime:
        pass
    context = context_of(trellis, rules, request, problem)
    result = result or [Result(None, math.inf, f"{request.method.name}: no time left")]
    solutions = [reported(each, context, deadline) for each in result]
    if solutions[0].status == "infeasible":
        solutions[0] = explained(solutions[0], deadline)
    return solutions


def context_of(
    trellis: Trellis, rules: RuleCompiler, request: Request, problem: Problem | None = None
) -> Context:
    """What solutions to a request are made from."""
    return Context(rules, trellis, partial(decode, trellis, time_limit=request.time_limit), problem)


def _in_nats(callback: Callback) -> Callable[[float, int, float], None]:
    return lambda seconds, incumbent, bound: callback(seconds, nats(incumbent), nats_of_bound(bound))


def explained(solution: Any, deadline: Deadline) -> Any:
    """An infeasible solution with the reasons."""
    from ilpinfer.exact.infeasibility import explain_infeasibility

    result = explain_infeasibility(solution.context, deadline)
    return replace(solution, reason=result.reason, infeasibility=result)
