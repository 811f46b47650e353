"""Proofs for labellings that another method has found."""

from dataclasses import replace
from typing import Any

from formulations import Trellis
from formulations.grid import UNITS_PER_NAT
from ilpinfer.core.registry import method
from ilpinfer.core.request import Request
from ilpinfer.core.result import Result
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding.reporting import solution_of
from ilpinfer.decoding.single import run_task


def prove(trellis: Trellis, rules: Rules, solution: Solution, *, time_limit: float | None = None) -> Solution:
    """Let the certifying engine prove a solution.

    The labelling is evaluated anew under this trellis and these rules. The engine begins with it as the incumbent, so that only
    the bound is left to prove.

    Parameters
    ----------
    solution : of any method
    time_limit : seconds

    Returns
    -------
    Solution
        The same labelling with the engine's bound and certificate, or a better labelling. Where the time limit ends the
        engine, bound and certificate of the solver stay if its bound is the lower one and the figures of the solution
        are right.

    Raises
    ------
    ValueError
        for a labelling that does not fit the trellis, a solution of two phases, and an object that is no solution.
    """
    if hasattr(solution, "best_score"):
        raise ValueError("the solution is of two-phase inference, which decode_two_phase itself proves")
    if not hasattr(solution, "path"):
        raise ValueError(
            f"the solution is of type {type(solution).__name__}; expected one that decode returns"
        )
    incumbent = None if solution.path is None else trellis.ids(solution.path)
    request = Request(method("auto"), time_limit, {"incumbent": incumbent})
    task = request.task()
    result = run_task(trellis, compiler_of(rules), request, task)[0]
    if incumbent is None or result.status is Status.INFEASIBLE:
        return result
    assert result.context is not None
    bound = result.bound * UNITS_PER_NAT
    again = Result(incumbent, bound, f"{solution.method}; proved by {result.method}", result.certificate)
    own = solution_of(again, result.context, task.deadline)
    if result.has_labelling and result.score > own.score:
        return result
    common: dict[str, Any] = {
        "seconds": solution.seconds + result.seconds,
        "warm_up_seconds": solution.warm_up_seconds + result.warm_up_seconds,
        "improvements": solution.improvements,
    }
    if _keeps_word(solution, own):
        common |= {name: getattr(solution, name) for name in ("status", "bound", "certificate", "method")}
    return replace(own, **common)


def _keeps_word(solution: Any, own: Solution) -> bool:
    """Whether a solver's bound is lower than the engine's, and the figures of the solution are right."""
    figures = ("score", "model_score", "feature_score", "penalty", "violations")
    return (
        solution.certificate.kind == "solver"
        and own.score <= solution.bound < own.bound
        and all(getattr(solution, name) == getattr(own, name) for name in figures)
    )
