"""What holds of every solution, by brute force."""

import math

import pytest
from hypothesis import strategies as st
from support.oracles import snap
from support.strategies import UNIT, Problem, near_ties, problems

import ilpinfer
from ilpinfer import Solution, TwoPhaseSolution

GENERAL_METHODS = [method for method in ilpinfer.methods() if method.name != "greedy-spans"]
"""The methods that take labels of any scheme."""
SEARCHES = {
    "beam": {"width": 3},
    "lds": {"time_limit": 0.02},
    "evolutionary": {"iterations": 20},
    "hybrid": {"time_limit": 0.02},
}
"""Searches, with options by which they end soon."""


def of_any_order(**more):
    """Problems of first and second order, among them near ties."""
    first, second = ((problems(**more, order=order), near_ties(**more, order=order)) for order in (1, 2))
    return st.one_of(*first, *second)


def ranking(solutions: list[Solution]) -> list[tuple[int | None, tuple[int, ...]]]:
    """Scores in grid units, and label ids."""
    return [(snap(solution.score), tuple(solution.ids.tolist())) for solution in solutions]


def check_optimum(problem: Problem, solution: Solution, *, first: bool = False) -> None:
    """It is optimal and its parts are right; with `first`, it is the first in the order of label ids."""
    expected, labellings = problem.best()
    if expected is None:
        assert (solution.status, solution.score, solution.bound) == ("infeasible", -math.inf, -math.inf)
        assert solution.gap == 0
        with pytest.raises(ValueError, match="no labelling"):
            _ = solution.labels
        return
    assert solution.status == "optimal"
    assert snap(solution.score) == snap(solution.bound) == expected
    labelling = tuple(solution.ids.tolist())
    assert labelling == min(labellings) if first else labelling in labellings
    assert list(solution.violations.values()) == problem.violations(labelling)
    assert solution.score == solution.model_score + solution.feature_score - solution.penalty


def check_claims(problem: Problem, solution: Solution) -> None:
    """It is worth what its labels are, and neither score nor bound passes the optimum."""
    expected, _ = problem.best()
    if expected is None:
        assert solution.status in ("infeasible", "unknown") and solution.score == -math.inf
        return
    assert solution.status != "infeasible"
    assert solution.bound >= expected * UNIT
    if not solution.has_labelling:
        assert solution.status == "unknown"
        return
    labelling = tuple(solution.ids.tolist())
    if problem.cost(labelling) is None or problem.units(labelling) is None:
        assert (solution.status, solution.score) == ("unknown", -math.inf)
        return
    assert snap(solution.score) == problem.units(labelling) - problem.cost(labelling) <= expected
    assert list(solution.violations.values()) == problem.violations(labelling)
    assert (solution.status == "optimal") <= (snap(solution.score) == expected)


def check_two_phase(solution: TwoPhaseSolution, expected: tuple | None) -> None:
    """It is what `oracles.two_phase` returns."""
    if expected is None:
        assert solution.status == "infeasible"
        return
    best_score, floor, order = expected
    cost, minus, _ = order[0]
    assert solution.status == "optimal"
    assert (snap(solution.best_score), snap(solution.floor)) == (best_score, floor)
    assert snap(solution.penalty) == snap(solution.cost_bound) == cost
    assert snap(solution.model_score) == -minus
    assert solution.score == solution.bound
    assert (cost, minus, tuple(solution.ids.tolist())) in order
