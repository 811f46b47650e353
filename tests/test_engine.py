"""The certifying engine, each of its routes forced, against brute force over all labellings."""

import math

import oracles
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import NEAR_TIES, UNIT, cost_units, problems

import ilpinfer
from ilpinfer.exact import auto

SLOW = {
    "deadline": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
}
ROUTES = {
    "as it is": {},
    "prices and label setting": {"MOST_INSIDE": 1},
    "machines inside": {"SUMS_INSIDE": 64},
    "sums priced, others inside": {"SUMS_INSIDE": 1},
    "beams between": {"MOST_INSIDE": 1, "WIDTHS": (1, 8, 64, 4096)},
    "a solver": {"MOST_INSIDE": 1, "WIDTHS": (1,)},
}
TIES = problems(NEAR_TIES, st.one_of(st.just(math.inf), st.integers(1, 3).map(lambda k: k * UNIT)))


@pytest.fixture
def route(request, monkeypatch):
    for name, value in ROUTES[request.param].items():
        monkeypatch.setattr(auto, name, value)


def units(nats: float) -> int | None:
    return None if nats == -math.inf else round(nats * 2**20)


def expected(problem, k):
    instance, cases = problem
    return oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), k)


@pytest.mark.parametrize("route", ROUTES, indirect=True)
@settings(max_examples=60, **SLOW)
@given(problem=st.one_of(problems(), TIES))
def test_every_route_finds_the_first_optimum(route, problem):
    best = expected(problem, 1)
    instance, cases = problem
    solution = ilpinfer.decode(instance.trellis, [case.rule for case in cases])
    if not best:
        assert solution.status == "infeasible"
        return
    score, labelling = best[0]
    assert solution.status == "optimal"
    assert units(solution.score) == units(solution.bound) == score
    assert tuple(solution.ids.tolist()) == labelling


@pytest.mark.parametrize("route", ROUTES, indirect=True)
@settings(max_examples=40, **SLOW)
@given(problem=st.one_of(problems(), TIES), top=st.integers(1, 60))
def test_every_route_finds_the_best_few_in_order(route, problem, top):
    instance, cases = problem
    solutions = ilpinfer.decode(instance.trellis, [case.rule for case in cases], top=top)
    found = [(units(s.score), tuple(s.ids.tolist())) for s in solutions]
    best = expected(problem, top)
    assert [score for score, _ in found] == [score for score, _ in best]
    assert all(s.status == "optimal" and s.score == s.bound for s in solutions)
    assert len({labels for _, labels in found}) == len(found)
    assert found == best, "equal scores are ordered by label ids"
