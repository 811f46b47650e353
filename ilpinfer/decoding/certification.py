"""Proofs for labellings of other methods."""

from dataclasses import replace
from typing import Any

from formulations import Trellis
from formulations.grid import UNITS_PER_NAT
from formulations.messages import brief
from ilpinfer.core.registry import method
from ilpinfer.core.request import Request
from ilpinfer.core.result import Result, Start
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.decoding.reporting import run_task, solution_of
from ilpinfer.decoding.runner import context_of


def prove(trellis: Trellis, rules: Rules, solution: Solution, *, time_limit: float | None = None) -> Solution:
    """Prove a solution of another method with the certifying engine.

    The labelling is evaluated again under this trellis, these rules and the known labels of the solution. The engine uses it
    as its incumbent, so that only the bound has to be proved.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set.
    solution : Solution
        A solution of any method.
    time_limit : float, optional
        Time limit in seconds.

    Returns
    -------
    Solution
        The same labelling with the engine's bound and certificate, or a better labelling. If the time limit
        ends the engine, the solver's bound and certificate are kept, provided that its bound is lower and the
        figures of the solution are right.

    Raises
    ------
    ValueError
        For a labelling that does not fit the trellis, a solution of two-phase inference, and an object that
        is not a solution.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solution = ilpinfer.decode(trellis, [C.starts_with("b")], method="beam")
    >>> solution.status.value, ilpinfer.prove(trellis, [C.starts_with("b")], solution).status.value
    ('optimal', 'optimal')
    """
    if hasattr(solution, "best_score"):
        raise ValueError("the solution is of two-phase inference, which decode_two_phase itself proves")
    if not hasattr(solution, "path"):
        raise ValueError(f"the solution is {brief(solution)}; expected one that decode returns")
    compiler = compiler_of(rules)
    trellis = compiler.fit(trellis).with_given(solution.given)
    incumbent = None if solution.path is None else trellis.ids(solution.path)
    request = Request(method("auto"), time_limit, {"start": Start(incumbent)})
    task = request.task()
    result = run_task(context_of(trellis, compiler, time_limit), request.method, task)[0]
    if incumbent is None or result.status is Status.INFEASIBLE:
        return result
    assert result.context is not None
    bound = result.bound * UNITS_PER_NAT
    again = Result(incumbent, bound, f"{solution.method}; proved by {result.method}", result.certificate)
    own = solution_of(Solution, again, result.context, task.deadline)
    if result.has_labelling and result.score > own.score:
        return result
    common: dict[str, Any] = {
        "seconds": solution.seconds + result.seconds,
        "improvements": solution.improvements,
        "stages": (*solution.stages, *result.stages),
    }
    if _keeps_claim(solution, own):
        common |= {name: getattr(solution, name) for name in ("status", "bound", "certificate", "method")}
    return replace(own, **common)


def _keeps_claim(solution: Any, own: Solution) -> bool:
    """Whether a solver's bound is lower than the engine's, and the figures of the solution are right."""
    figures = ("score", "model_score", "feature_score", "penalty", "violations")
    return (
        solution.certificate.kind == "solver"
        and own.score <= solution.bound < own.bound
        and all(getattr(solution, name) == getattr(own, name) for name in figures)
    )
