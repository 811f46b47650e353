"""Proofs of labellings that are known already, such as a solver's."""

from collections.abc import Iterable
from dataclasses import replace

from formulations import Feature, Rule, Trellis
from ilpinfer.decoding import deadline_for, listed, run
from ilpinfer.found import Task
from ilpinfer.method_table import method
from ilpinfer.solution import Solution


def prove(
    trellis: Trellis, rules: Iterable[Rule | Feature], solution: Solution, *, time_limit: float | None = None
) -> Solution:
    """The solution with what the certifying engine can prove about it.

    The engine begins with the solution's labelling, so that it has only to show that nothing is better.

    Parameters
    ----------
    solution : of any method, for this trellis and these rules
    time_limit : seconds

    Returns
    -------
    Solution
        the same labelling with the bound and the certificate found; a better one where there is one.

    Raises
    ------
    ValueError
        where the labelling does not fit the trellis.
    """
    incumbent = None if solution.path is None else trellis.ids(solution.path)
    task = Task(deadline_for(time_limit), incumbent=incumbent)
    found = run(method("auto"), trellis, listed(rules), task, time_limit)[0]
    if solution.path is None or not found.found or found.score > solution.score:
        return found
    seconds, warm_up = solution.seconds + found.seconds, solution.warm_up_seconds + found.warm_up_seconds
    bound = min(solution.bound, found.bound) if found.certificate.tree is None else found.bound
    return replace(
        solution,
        status="optimal" if solution.score >= bound else solution.status,
        bound=bound,
        certificate=found.certificate if bound == found.bound else solution.certificate,
        method=f"{solution.method}; proved by {found.method}" if bound == found.bound else solution.method,
        seconds=seconds,
        warm_up_seconds=warm_up,
    )
