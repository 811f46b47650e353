"""Decoding: a trellis and rules in, a labelling and what is proved about it out."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, overload

from formulations import Feature, Rule, Trellis, limits
from formulations.compiled.problem import Problem
from formulations.compiled.rules import compile_problem, compile_rules
from formulations.grid import nats, snap
from formulations.rules import RuleSet
from ilpinfer.certificate import NONE, Certificate
from ilpinfer.deadline import Deadline
from ilpinfer.explanation import Context
from ilpinfer.found import Found, Task
from ilpinfer.infeasibility import explain_infeasibility
from ilpinfer.method_table import Method
from ilpinfer.method_table import method as method_named
from ilpinfer.solution import Solution

Rules = Iterable[Rule | Feature]
Callback = Callable[[float, float, float], None]
"""Seconds, the best score so far and the bound so far, in nats."""

LONGEST = 1e6
"""Seconds; a longer limit is none."""
MOST = {"top": 10_000, "n_jobs": 1024, "threads": 1024, "width": 1_000_000, "budget": 10**9, "n": 10**7}
"""The largest values of options that are whole numbers."""


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
    rules : rules and features, or a rule set
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
    chosen, task = asked(method, time_limit, top, options)
    if callback is not None:
        task = replace(task, watch=_in_nats(callback))
    if not isinstance(trellis, Trellis):
        raise ValueError(f"trellis is {trellis!r}; expected a Trellis")
    rules = listed(rules)
    solutions = run(chosen, trellis, rules, task, time_limit)
    if callback is not None:
        callback(solutions[0].seconds, solutions[0].score, solutions[0].bound)
    return solutions[0] if top is None else [solution for solution in solutions if solution.found]


def asked(
    method: str, time_limit: float | None, top: int | None, options: dict[str, Any]
) -> tuple[Method, Task]:
    """The method and the task that `decode` is asked for, the time running from now.

    Raises
    ------
    ValueError
        for an unknown method or option, and for numbers that make no sense.
    """
    chosen = method_named(method)
    number = 1 if top is None else natural(top, "top")
    unknown = [name for name in options if name not in chosen.all_options]
    if unknown:
        raise ValueError(
            f"method {method} has no option {unknown[0]!r}; it has {', '.join(chosen.all_options) or 'none'}"
        )
    own = {name: value for name, value in options.items() if name not in chosen.options}
    parameters = chosen.record(**own) if chosen.record else None
    return chosen, Task(deadline_for(time_limit), top=number, parameters=parameters, **checked(options))


def listed(rules: Rules) -> Any:
    """Rules that can be read more than once."""
    return rules if isinstance(rules, RuleSet | str | Rule | Feature) else list(rules)


def run(
    method: Method, trellis: Trellis, rules: Rules, task: Task, time_limit: float | None
) -> list[Solution]:
    """What a method makes of a task: at least one solution, and a last one without labels where that is all there is."""
    context = Context(trellis, rules, options={"time_limit": time_limit})
    problem = Problem(trellis.lattice, trellis.lattice, (), trellis.labels)
    found: list[Found] = []
    try:
        with limits.until(lambda: task.deadline.passed, lambda: task.deadline.remaining):
            problem = compile_problem(trellis, rules)
            found = [] if task.deadline.passed else list(method.run(problem, task))
    except limits.OutOfTime:
        pass
    found = found or [Found(None, math.inf, f"{method.name}: no time left")]
    solutions = [reported(f, problem, context, task.deadline) for f in found]
    if solutions[0].status == "infeasible":
        solutions[0] = explained(solutions[0], problem, context, task.deadline)
    return solutions


def _in_nats(callback: Callback) -> Callable[[float, int, float], None]:
    return lambda seconds, incumbent, bound: callback(seconds, nats(incumbent), nats_of_bound(bound))


def explained(solution: Any, problem: Problem, context: Context, deadline: Deadline) -> Any:
    """An infeasible solution with the reasons."""
    trellis = context.trellis
    found = explain_infeasibility(
        problem,
        trellis.tokens,
        trellis.labels.names,
        deadline,
        lambda name, labels: context.places(name, labels),
    )
    return replace(solution, reason=found.reason, infeasibility=found)


def reported(found: Found, problem: Problem, context: Context, deadline: Deadline) -> Solution:
    """Value a labelling from scratch, and say what the bound makes of it."""
    certificate = NONE if found.bound == math.inf else stamped(found.certificate, context)
    common: dict[str, Any] = {
        "method": found.method,
        "certificate": certificate,
        "seconds": deadline.elapsed,
        "warm_up_seconds": deadline.warm_up,
        "names": context.trellis.labels.names,
        "overruled": {rule.name: list(rule.overruled) for rule in problem.rules if rule.overruled},
        "context": context,
        "improvements": found.improvements,
    }
    if found.path is None:
        status = "infeasible" if found.exhausted else "unknown"
        bound = -math.inf if found.exhausted else nats_of_bound(found.bound)
        return Solution(status, -math.inf, -math.inf, 0.0, 0.0, {}, bound, **common)
    value = problem.value(found.path)
    bound_units = max(found.bound, value.score)
    status = "unknown" if not value.feasible else "optimal" if value.score >= bound_units else "feasible"
    return Solution(
        status=status,
        score=nats(value.score),
        model_score=nats(value.model),
        feature_score=nats(value.features),
        penalty=nats(value.penalty) if value.feasible else math.inf,
        violations=value.violations,
        bound=nats_of_bound(bound_units),
        path=found.path,
        **common,
    )


def stamped(certificate: Certificate, context: Context) -> Certificate:
    """The certificate with the digest of what it speaks about, where it holds a proof."""
    return certificate if certificate.tree is None else replace(certificate, stamp=partial(stamp, context))


def stamp(context: Context) -> str:
    """The digest of a context's trellis and rules."""
    return compile_rules(context.rules, context.trellis.labels).stamp(context.trellis)


def nats_of_bound(units: float) -> float:
    """A bound in grid units as nats."""
    return units if math.isinf(units) else nats(math.floor(units))


def deadline_for(time_limit: float | None) -> Deadline:
    """A deadline from now; none for a limit beyond LONGEST.

    Raises
    ------
    ValueError
        unless the limit is a positive number of seconds, or None.
    """
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise ValueError(f"time_limit is {time_limit!r}; expected seconds above 0, or None for no limit")
    return Deadline(None if time_limit is None or time_limit > LONGEST else float(time_limit))


def natural(value: Any, name: str) -> int:
    """The value, which must be a whole number from 1 to what the option can bear."""
    most = MOST[name]
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= most:
        raise ValueError(f"{name} is {value!r}; expected a whole number from 1 to {most}")
    return int(value)


def checked(options: dict[str, Any]) -> dict[str, Any]:
    """Known options with values that make sense; unknown ones are left to be named by the method."""
    known = {name: natural(value, name) for name, value in options.items() if name in ("threads", "width")}
    if options.get("within") is not None:
        known["within"] = _distance(options["within"])
    return known


def _distance(within: Any) -> int:
    if not (isinstance(within, Real) and 0 <= float(within) < math.inf):
        raise ValueError(f"within is {within!r}; expected nats from 0")
    return int(snap(float(within), "within"))
