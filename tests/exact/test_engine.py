"""The certifying engine, each of its routes forced, against brute force over all labellings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routes import PLAIN, SMALL, take
from support.checks import check_optimum, ranking
from support.effort import examples
from support.strategies import UNIT, near_ties, problems
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C

ROUTES = {
    "as it is": {},
    "few steps": {"PASSES": 1, "LEAST_STEPS": 0},
    "multipliers": PLAIN | {"LEAST_STEPS": 200},
    "beams": PLAIN | {"BEAMS": 6},
    "large products": PLAIN,
    "cases": PLAIN | SMALL,
    "a solver": PLAIN | SMALL | {"LIST_PASSES": 0, "LIST_STEPS": 0, "BRANCH_CASES": 1},
}
ANY = problems() | near_ties()


@pytest.fixture
def route(request, monkeypatch):
    take(monkeypatch, ROUTES[request.param])
    return request.param


def check_proof(problem, solution, route):
    verdict = ilpinfer.verify(*problem.given, solution)
    assert verdict.ok, verdict.reasons
    machineless = any(rule.machineless for rule in problem.compiled().rules)
    assert verdict.proved or machineless or route in ("a solver", "cases"), verdict.reasons


@pytest.mark.parametrize("route", ROUTES, indirect=True)
@settings(max_examples=examples(60))
@given(problem=ANY)
def test_every_route_finds_the_first_optimum(route, problem):
    """But for equal scores on a solver's word, whose choice it is."""
    solution = ilpinfer.decode(*problem.given)
    check_proof(problem, solution, route)
    check_optimum(problem, solution, first=solution.certificate.kind == "exact")


@pytest.mark.parametrize("route", ROUTES, indirect=True)
@settings(max_examples=examples(40))
@given(problem=ANY, top=st.integers(1, 60))
def test_every_route_finds_the_best_few_in_order(route, problem, top):
    solutions = ilpinfer.decode(*problem.given, top=top)
    if solutions:
        check_proof(problem, solutions, route)
    assert ranking(solutions) == problem.top(top), "equal scores are ordered by label ids"
    assert all(s.status == "optimal" and s.score == s.bound for s in solutions)


@settings(max_examples=examples(100))
@given(problem=ANY, within=st.integers(0, 4))
def test_everything_within_a_distance_of_the_best(problem, within):
    best = problem.top()
    near = [(score, labels) for score, labels in best if score >= best[0][0] - within]
    assert ranking(ilpinfer.decode(*problem.given, top=10_000, within=within * UNIT)) == near


@pytest.mark.parametrize("limit", [1e-9, 1e-4, 1e-3, 3e-3, 0.02])
def test_what_a_short_limit_leaves_is_sound(limit):
    rng = np.random.default_rng(5)
    labels = [f"{prefix}-{field}" for field in "abcdef" for prefix in "BI"]
    rules = [C.at_most_runs(field, 1) for field in "abc"]
    rules += [C.requires_present(a, b, penalty=1.5) for a, b in ("ab", "bc", "cd", "de", "ef")]
    for _ in range(10):
        trellis = Trellis(rng.normal(size=12), rng.normal(size=(99, 12, 12)), labels=labels)
        optimum = ilpinfer.decode(trellis, rules)
        solution = ilpinfer.decode(trellis, rules, time_limit=limit)
        assert solution.score <= optimum.score <= solution.bound
        verdict = ilpinfer.verify(trellis, rules, solution)
        assert verdict.ok, verdict.reasons


def test_the_callback_sees_incumbent_and_bound_come_together():
    trellis = random_trellis(3, 60, "abcdef")
    rules = [C.at_most_runs(field, 2) for field in "abcdef"]
    seen = []
    solution = ilpinfer.decode(trellis, rules, callback=lambda *now: seen.append(now))
    seconds, incumbents, bounds = zip(*seen, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(incumbents) == sorted(incumbents)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert len(set(bounds)) > 2
    assert incumbents[-1] == bounds[-1] == solution.score
    assert all(low <= solution.score <= high for low, high in zip(incumbents, bounds, strict=True))


def test_sums_that_cannot_be_kept_are_given_back_at_a_price_of_zero(monkeypatch):
    take(monkeypatch, PLAIN | {"LEAST_STEPS": 200})
    trellis = Trellis([0, 0, 1.0], np.zeros((3, 3, 3)), labels=["a", "b", "c"])
    rules = [
        C.at_most_tokens(("a", "b", "c"), 2, penalty=3.0),
        C.requires_present("c", "a", penalty=0.5),
        C.requires_present("a", "b", penalty=0.25),
    ]
    solution = ilpinfer.decode(trellis, rules)
    assert (solution.status, solution.score) == ("optimal", -5.0)
    assert ilpinfer.verify(trellis, rules, solution).proved
