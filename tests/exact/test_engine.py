"""The certifying engine, each of its routes forced, against brute force over all labellings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples
from support.strategies import NEAR_TIES, UNIT, cost_units, problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.exact import branch, refinement, stages

SLOW = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
}
PLAIN = {"stages.PASSES": 0, "stages.LEAST_STEPS": 0, "stages.BEAMS": 0}
SMALL = {"stages.MOST_STEPS": 20, "refinement.FEW": 20, "branch.MOST_STEPS": 20}
ROUTES = {
    "as it is": {},
    "few steps": {"stages.PASSES": 1, "stages.LEAST_STEPS": 0},
    "multipliers": PLAIN | {"stages.LEAST_STEPS": 200},
    "beams": PLAIN | {"stages.BEAMS": 6},
    "refinement": PLAIN,
    "refinement by small diagrams": PLAIN
    | {"refinement.FEW": 1, "refinement.GROWTH": 3, "refinement.TOGETHER": 1, "refinement.DIVE": 2},
    "cases": PLAIN | SMALL,
    "a solver": PLAIN
    | SMALL
    | {"refinement.FEW": 2**40, "stages.FEW_PASSES": 0, "stages.FEW_STEPS": 0, "branch.MOST_CASES": 1},
}
MODULES = {"stages": stages, "refinement": refinement, "branch": branch}
TIES = problems(NEAR_TIES, st.one_of(st.just(math.inf), st.integers(1, 3).map(lambda k: k * UNIT)))


@pytest.fixture
def route(request, monkeypatch):
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    for name, value in ROUTES[request.param].items():
        module, _, limit = name.partition(".")
        monkeypatch.setattr(MODULES[module], limit, value)
    return request.param


def units(nats: float) -> int | None:
    return None if nats == -math.inf else round(nats * 2**20)


def check_proof(instance, rules, solution, name):
    verdict = ilpinfer.verify(instance.trellis, rules, solution)
    assert verdict.ok, verdict.reasons
    if name not in ("a solver", "cases") and not any(unseen(instance, rules)):
        assert verdict.proved, verdict.reasons


def unseen(instance, rules):
    return [rule.machineless for rule in compile_problem(instance.trellis, rules).rules]


def expected(problem, k):
    instance, cases = problem
    return oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), k)


@pytest.mark.parametrize("route", ROUTES, indirect=True)
@settings(max_examples=examples(60), **SLOW)
@given(problem=st.one_of(problems(), TIES))
def test_every_route_finds_the_first_optimum(route, problem):
    best = expected(problem, 1)
    instance, rules = problem[0], [case.rule for case in problem[1]]
    solution = ilpinfer.decode(instance.trellis, rules)
    check_proof(instance, rules, solution, route)
    if not best:
        assert solution.status == "infeasible"
        return
    score, labelling = best[0]
    assert solution.status == "optimal"
    assert units(solution.score) == units(solution.bound) == score
    assert tuple(solution.ids.tolist()) == labelling


@pytest.mark.parametrize("route", ROUTES, indirect=True)
@settings(max_examples=examples(40), **SLOW)
@given(problem=st.one_of(problems(), TIES), top=st.integers(1, 60))
def test_every_route_finds_the_best_few_in_order(route, problem, top):
    instance, rules = problem[0], [case.rule for case in problem[1]]
    solutions = ilpinfer.decode(instance.trellis, rules, top=top)
    if solutions:
        check_proof(instance, rules, solutions, route)
    result = [(units(s.score), tuple(s.ids.tolist())) for s in solutions]
    best = expected(problem, top)
    assert [score for score, _ in result] == [score for score, _ in best]
    assert all(s.status == "optimal" and s.score == s.bound for s in solutions)
    assert len({labels for _, labels in result}) == len(result)
    assert result == best, "equal scores are ordered by label ids"


@settings(max_examples=examples(100), **SLOW)
@given(problem=st.one_of(problems(), TIES), within=st.integers(0, 4))
def test_everything_within_a_distance_of_the_best(problem, within):
    instance, rules = problem[0], [case.rule for case in problem[1]]
    solutions = ilpinfer.decode(instance.trellis, rules, top=10_000, within=within * UNIT)
    best = expected(problem, None)
    near = [(score, labels) for score, labels in best if score >= best[0][0] - within]
    assert [(units(s.score), tuple(s.ids.tolist())) for s in solutions] == near


@settings(max_examples=examples(100), **SLOW)
@given(problem=st.one_of(problems(), TIES), data=st.data())
def test_a_known_labelling_is_proved_or_bettered(problem, data):
    instance, rules = problem[0], [case.rule for case in problem[1]]
    best = expected(problem, None)
    if not best:
        return
    score, labels = data.draw(st.sampled_from(best))
    known = replace(ilpinfer.decode(instance.trellis, rules, method="viterbi"), path=np.array(labels))
    value = compile_problem(instance.trellis, rules).value(known.path)
    claim = replace(known, score=value.score / 2**20, status="feasible", bound=math.inf)
    proved = ilpinfer.prove(instance.trellis, rules, claim)
    assert units(proved.score) == units(proved.bound) == best[0][0]
    assert proved.status == "optimal"
    if score == best[0][0]:
        assert tuple(proved.ids.tolist()) == labels


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
    rng = np.random.default_rng(3)
    trellis = Trellis(rng.normal(size=6), rng.normal(size=(59, 6, 6)), labels=list("abcdef"))
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
    for name, value in (("PASSES", 0), ("LEAST_STEPS", 200), ("BEAMS", 0)):
        monkeypatch.setattr(stages, name, value)
    trellis = Trellis([0, 0, 1.0], np.zeros((3, 3, 3)), labels=["a", "b", "c"])
    rules = [
        C.at_most_tokens(("a", "b", "c"), 2, penalty=3.0),
        C.requires_present("c", "a", penalty=0.5),
        C.requires_present("a", "b", penalty=0.25),
    ]
    solution = ilpinfer.decode(trellis, rules)
    assert (solution.status, solution.score) == ("optimal", -5.0)
    assert ilpinfer.verify(trellis, rules, solution).proved
