"""Decoding: a trellis and rules in, a labelling and what is proved about it out."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, overload

from formulations import Feature, Rule, Trellis, limits
from formulations.compiled.problem import Problem, compile_problem
from formulations.grid import nats
from formulations.rules import RuleSet
from ilpinfer.deadline import Deadline
from ilpinfer.explanation import Context
from ilpinfer.found import Found, Task
from ilpinfer.infeasibility import explain_infeasibility
from ilpinfer.methods import method as method_named
from ilpinfer.solution import Solution

Rules = Iterable[Rule | Feature]

LONGEST = 1e6
"""Seconds; a longer limit is none."""
MOST = {"top": 10_000, "threads": 1024, "width": 1_000_000, "budget": 10**9, "n": 10**7}
"""The largest values of options that are whole numbers."""


@overload
def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
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
    **options: Any,
) -> list[Solution]: ...


def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
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
    options : `threads` for solvers (default 1), `width` for beam search (default 10)

    Returns
    -------
    Solution, or a list of them where `top` is a number; empty where no labelling is feasible

    Raises
    ------
    ValueError
        for an unknown method, option or field, and for numbers that make no sense.
    SolverError
        where a solver cannot be started or breaks down.
    """
    chosen = method_named(method)
    task = Task(deadline_for(time_limit), top=1 if top is None else natural(top, "top"), **checked(options))
    unknown = [name for name in options if name not in chosen.options]
    if unknown:
        raise ValueError(
            f"method {method} has no option {unknown[0]!r}; it has {', '.join(chosen.options) or 'none'}"
        )
    rules = rules if isinstance(rules, RuleSet | str | Rule | Feature) else list(rules)
    context = Context(trellis, rules, options={"time_limit": time_limit})
    problem, found = Problem(trellis.lattice, trellis.lattice, ()), []
    try:
        with limits.until(lambda: task.deadline.passed):
            problem = compile_problem(trellis, rules)
            found = [] if task.deadline.passed else list(chosen.run(problem, task))
    except limits.OutOfTime:
        pass
    if top is not None:
        return [_report(f, problem, context, task.deadline) for f in found if f.path is not None]
    first = found[0] if found else Found(None, math.inf, f"{method}: no time left")
    solution = _report(first, problem, context, task.deadline)
    return (
        explained(solution, problem, context, task.deadline) if solution.status == "infeasible" else solution
    )


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


def decode_many(trellises: Iterable[Trellis], rules: Rules = (), **options: Any) -> Iterator[Solution]:
    """`decode` for each of many trellises, one at a time; a time limit is for each of them."""
    rules = rules if isinstance(rules, RuleSet) else list(rules)
    for trellis in trellises:
        yield decode(trellis, rules, **options)


def _report(found: Found, problem: Problem, context: Context, deadline: Deadline) -> Solution:
    """Value a labelling from scratch, and say what the bound makes of it."""
    common: dict[str, Any] = {
        "method": found.method,
        "certificate": found.certificate,
        "seconds": deadline.elapsed,
        "warm_up_seconds": deadline.warm_up,
        "names": context.trellis.labels.names,
        "overruled": {rule.name: list(rule.overruled) for rule in problem.rules if rule.overruled},
        "context": context,
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


def checked(options: dict[str, Any]) -> dict[str, int]:
    """Known options with values that make sense; unknown ones are left to be named by the method."""
    return {name: natural(value, name) for name, value in options.items() if name in ("threads", "width")}
