"""Decoding of one sequence: from a trellis and rules to a labelling with a proved bound."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis, time_limits
from formulations.arguments import function, instance
from formulations.grid import nats
from formulations.problem.problem import Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.methods import Method
from ilpinfer.core.options import Options
from ilpinfer.core.request import Request, natural
from ilpinfer.core.result import Result, Task
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding.calls import Calls
from ilpinfer.decoding.direct import Direct
from ilpinfer.decoding.few import Few
from ilpinfer.decoding.reporting import nats_of_bound, solution_of

Callback = Callable[[float, float, float], None]
"""Seconds, the best score so far and the bound so far, in nats."""
Kind = TypeVar("Kind", bound=Solution)


@overload
def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
    callback: Callback | None = None,
    **options: Unpack[Options],
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
    **options: Unpack[Options],
) -> list[Solution]: ...


def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    callback: Callback | None = None,
    **options: Unpack[Options],
) -> Solution | list[Solution]:
    """The best labelling of a trellis under rules (Stokman 2011, eq. 38 and 57).

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules, optional
        Rules and features, or a rule set. They are compiled once, as long as calls give the same rules and
        labels.
    method : str, default "auto"
        "auto", or a name from `methods()`.
    time_limit : float, optional
        Time limit in seconds, formulation included; the first compilation and loading of kernels does not
        count.
    top : int, optional
        Number of different labellings to return, best first, as a list.
    callback : Callback, optional
        Function of seconds, incumbent and bound, the latter two in nats. "auto" calls it each time it
        improves one of them, and every method at the end; the arguments are -inf and inf where there is no
        incumbent or bound yet.
    **options : Options
        Options of the method; see `Options`.

    Returns
    -------
    Solution or list of Solution
        A list if `top` is a number. It is empty if no labelling is feasible or none was found in time. The
        status is "feasible" rather than "optimal" if a limit ended the method before its proof.

    Raises
    ------
    ValueError
        For an unknown method, option or field, and for numbers out of range.
    SolverError
        If a solver cannot be started or breaks down.

    Examples
    --------
    >>> from formulations import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solution = decode(trellis, [C.requires_present("a", "b", penalty=0.75)])
    >>> solution.labels, solution.score, solution.status.value
    (['b', 'b'], -0.5, 'optimal')
    """
    compiler, request = compiler_of(rules), Request.of(method, time_limit, options)
    if top is None:
        return decode_best(trellis, compiler, request, callback)
    return decode_top(trellis, compiler, request, top, callback)


def decode_best(
    trellis: Trellis, rules: RuleCompiler, request: Request, callback: Callback | None = None
) -> Solution:
    """The best labelling: by compiled rules in a kernel where they prove it, else by the method."""
    incumbent = None
    if callback is None and request.direct and isinstance(trellis, Trellis):
        rules.prepare()
        answer = Direct(Calls(rules, request, decode)).trellis(trellis)
        if isinstance(answer, Solution):
            return answer
        incumbent = answer
    return run_method(trellis, rules, request, callback, incumbent)


def decode_top(
    trellis: Trellis,
    rules: RuleCompiler,
    request: Request,
    top: int,
    callback: Callback | None = None,
    calls: Calls | None = None,
) -> list[Solution]:
    """At most `top` labellings, best first: by compiled rules in a kernel where they prove them, else by the method."""
    if callback is None and request.direct and isinstance(trellis, Trellis):
        rules.prepare()
        calls = calls or Calls(rules, request, decode)
        answer = Few(calls, natural(top, "top")).trellis(trellis)
        if answer is not None:
            return answer.solutions
    return run_top(trellis, rules, request, top, callback)


def run_top(
    trellis: Trellis, rules: RuleCompiler, request: Request, top: int, callback: Callback | None = None
) -> list[Solution]:
    """At most `top` labellings by the method itself."""
    solutions = _run(trellis, rules, request, callback, top=top)
    return [solution for solution in solutions if solution.has_labelling]


def run_method(
    trellis: Trellis,
    rules: RuleCompiler,
    request: Request,
    callback: Callback | None = None,
    incumbent: NDArray[np.int64] | None = None,
) -> Solution:
    """The best labelling by the method itself, which may begin with the label ids (T,) of an incumbent."""
    return _run(trellis, rules, request, callback, incumbent)[0]


def _run(
    trellis: Trellis,
    rules: RuleCompiler,
    request: Request,
    callback: Callback | None = None,
    incumbent: NDArray[np.int64] | None = None,
    top: int | None = None,
) -> list[Solution]:
    rules.prepare()
    if callback is not None:
        function(callback, "callback", "of seconds, incumbent and bound")
    task = request.task(top, None if callback is None else _in_nats(callback))
    instance(trellis, Trellis, "trellis", "a Trellis")
    solutions = run_task(trellis, rules, request, replace(task, incumbent=incumbent))
    if callback is not None:
        callback(solutions[0].seconds, solutions[0].score, solutions[0].bound)
    return solutions


def run_task(trellis: Trellis, rules: RuleCompiler, request: Request, task: Task) -> list[Solution]:
    """The solutions of a method's results: at least one, and the last one without labels where there are no more."""
    problem: Problem | None = None
    results: list[Result] = []
    deadline = task.deadline
    try:
        with time_limits.time_limit(lambda: deadline.passed, lambda: deadline.remaining):
            problem = rules.problem(trellis)
            results = [] if deadline.passed else _results(trellis, rules, problem, request.method, task)
    except time_limits.OutOfTime:
        pass
    context = context_of(trellis, rules, request, problem)
    results = results or [Result(None, math.inf, f"{request.method.name}: no time left")]
    solutions = [solution_of(result, context, deadline) for result in results]
    solutions[0] = with_reasons(solutions[0], deadline)
    return solutions


def _results(
    trellis: Trellis, rules: RuleCompiler, problem: Problem, method: Method, task: Task
) -> list[Result]:
    if method.function is None:
        return list(method.run(problem, task))
    from ilpinfer.decoding import outside

    return list(outside.run(method, trellis, rules.rules, problem, task))


def context_of(
    trellis: Trellis, rules: RuleCompiler, request: Request, problem: Problem | None = None
) -> Context:
    """The context of solutions to a request."""
    return Context(rules, trellis, partial(decode, trellis, time_limit=request.time_limit), problem)


def _in_nats(callback: Callback) -> Callable[[float, int, float], None]:
    return lambda seconds, incumbent, bound: callback(seconds, nats(incumbent), nats_of_bound(bound))


def with_reasons(solution: Kind, deadline: Deadline) -> Kind:
    """The solution; where it is infeasible, with the reasons."""
    if solution.status is not Status.INFEASIBLE or solution.context is None:
        return solution
    from ilpinfer.exact.infeasibility import explain_infeasibility

    infeasibility = explain_infeasibility(solution.context, deadline)
    return replace(solution, reason=infeasibility.reason, infeasibility=infeasibility)
