"""Every rule, program, solver and search against brute force over all labellings, exactly on the grid."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import examples
from support.strategies import NEAR_TIES, UNIT, Case, Instance, cost_units, instances, problems

import ilpinfer
from formulations import constraints as C
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem

EXACT = ["auto", "cbc", "cp-sat", "highs", "scip"]
SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def units(nats: float) -> int | None:
    return None if nats == -math.inf else round(nats * 2**20)


def best(instance: Instance, cases: list[Case]) -> tuple[int | None, set]:
    return oracles.best(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y))


def rules(cases: list[Case]) -> list:
    return [case.rule for case in cases]


@settings(max_examples=examples(300), **SLOW)
@given(problems())
def test_a_rule_means_the_same_to_the_checker_the_machines_and_the_oracle(problem):
    instance, cases = problem
    compiled = compile_problem(instance.trellis, rules(cases))
    for labelling in oracles.labellings(*instance.shape):
        names, tokens = instance.names(labelling), instance.trellis.tokens
        expected = [case.violations(names, tokens) for case in cases]
        checked = [c.rule.violations(names, tokens, instance.trellis.labels) for c in cases]
        value = compiled.value(instance.trellis.ids(labelling))
        assert checked == expected
        assert list(value.violations.values()) == expected


@settings(max_examples=examples(200), **SLOW)
@given(problems())
def test_folding_changes_no_score(problem):
    instance, cases = problem
    compiled = compile_problem(instance.trellis, rules(cases))
    folded = compiled.fold()
    for labelling in oracles.labellings(*instance.shape):
        path = instance.trellis.ids(labelling)
        before, after = compiled.value(path).score, folded.value(path).score
        assert before == after or (is_forbidden(before) and is_forbidden(after))


def check_optimum(instance: Instance, cases: list[Case], method: str) -> None:
    expected, labellings = best(instance, cases)
    solution = ilpinfer.decode(instance.trellis, rules(cases), method=method)
    if expected is None:
        assert (solution.status, solution.score, solution.bound) == ("infeasible", -math.inf, -math.inf)
        assert solution.gap == 0
        with pytest.raises(ValueError, match="no labelling"):
            _ = solution.labels
        return
    assert solution.status == "optimal"
    assert units(solution.score) == units(solution.bound) == expected
    assert tuple(solution.ids.tolist()) in labellings
    if method == "auto":
        assert tuple(solution.ids.tolist()) == min(labellings), "equal scores are ordered by label ids"
    parts = solution.model_score + solution.feature_score - solution.penalty
    assert solution.score == parts


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=examples(60), **SLOW)
@given(problem=problems())
def test_exact_methods_find_the_optimum(method, problem):
    check_optimum(*problem, method)


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=examples(60), **SLOW)
@given(problem=problems(NEAR_TIES, st.one_of(st.just(math.inf), st.integers(1, 3).map(lambda k: k * UNIT))))
def test_exact_methods_find_the_optimum_of_near_ties(method, problem):
    check_optimum(*problem, method)


@settings(max_examples=examples(150), **SLOW)
@given(problems(longest=5))
def test_a_beam_of_full_width_is_exact(problem):
    instance, cases = problem
    expected, labellings = best(instance, cases)
    solution = ilpinfer.decode(instance.trellis, rules(cases), method="beam", width=2000)
    if expected is None:
        assert solution.status == "infeasible"
    else:
        assert (solution.status, units(solution.score)) == ("optimal", expected)
        assert tuple(solution.ids.tolist()) in labellings


@settings(max_examples=examples(150), **SLOW)
@given(problems(longest=5), st.integers(1, 3))
def test_a_narrow_beam_never_claims_too_much(problem, width):
    instance, cases = problem
    expected, _ = best(instance, cases)
    solution = ilpinfer.decode(instance.trellis, rules(cases), method="beam", width=width)
    if expected is None:
        assert solution.status in ("unknown", "infeasible")
        return
    assert solution.status != "infeasible"
    assert units(solution.bound) >= expected
    if solution.status == "optimal":
        assert units(solution.score) == expected
    elif solution.has_labelling:
        assert units(solution.score) <= expected


@settings(max_examples=examples(150), **SLOW)
@given(problems())
def test_viterbi_ignores_rules_and_says_what_that_proves(problem):
    instance, cases = problem
    free, labellings = best(instance, [])
    expected, _ = best(instance, cases)
    solution = ilpinfer.decode(instance.trellis, rules(cases), method="viterbi")
    if free is None:
        assert solution.status == "infeasible"
        return
    assert tuple(solution.ids.tolist()) == min(labellings)
    assert units(solution.model_score) == free
    cost = cost_units(instance, cases, tuple(solution.ids.tolist()))
    if cost is None:
        assert (solution.status, solution.score, solution.gap) == ("unknown", -math.inf, math.inf)
        assert solution.labels
    else:
        assert units(solution.score) == free - cost
        assert solution.status == ("feasible" if cost else "optimal")
    assert expected is None or units(solution.bound) >= expected


@settings(max_examples=examples(60), **SLOW)
@given(instances(), st.integers(1, 6))
def test_the_best_few_without_rules(instance, top):
    expected = oracles.top(*instance.shape, instance.units, lambda y: 0, top)
    for method in ("auto", "viterbi"):
        result = ilpinfer.decode(instance.trellis, method=method, top=top)
        assert [(units(s.score), tuple(s.ids.tolist())) for s in result] == expected


@pytest.mark.parametrize("method", ["auto", "highs"])
@settings(max_examples=examples(25), **SLOW)
@given(problem=problems(longest=3), top=st.integers(1, 4))
def test_the_best_few_under_rules(method, problem, top):
    instance, cases = problem
    expected = oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), top)
    result = ilpinfer.decode(instance.trellis, rules(cases), method=method, top=top)
    assert [units(s.score) for s in result] == [score for score, _ in expected]
    assert len({tuple(s.ids.tolist()) for s in result}) == len(result)
    if method == "auto":
        assert [tuple(s.ids.tolist()) for s in result] == [labelling for _, labelling in expected]
    assert all(s.status == "optimal" for s in result)


@settings(max_examples=examples(60), **SLOW)
@given(problems())
def test_a_hard_rule_never_raises_the_optimum(problem):
    instance, cases = problem
    before = ilpinfer.decode(instance.trellis, rules(cases))
    name = next(iter(instance.trellis.labels.fields))
    after = ilpinfer.decode(instance.trellis, [*rules(cases), C.at_most_runs(name, 0)])
    assert after.score <= before.score


def check_two_phase(instance: Instance, cases: list[Case], tau: float, bound: str, method: str) -> None:
    expected = oracles.two_phase(
        *instance.shape,
        instance.units,
        lambda y: cost_units(instance, cases, y) is not None,
        lambda y: cost_units(instance, cases, y, hard=False),
        tau,
        bound,
    )
    solution = ilpinfer.decode_two_phase(instance.trellis, rules(cases), tau, bound, method=method)
    if expected is None:
        assert solution.status == "infeasible"
        return
    best_score, floor, cost, score, labellings = expected
    assert solution.status == "optimal"
    assert units(solution.best_score) == best_score
    assert units(solution.floor) == floor
    assert units(solution.penalty) == units(solution.cost_bound) == cost
    assert units(solution.model_score) == score
    assert solution.score == solution.bound
    assert tuple(solution.ids.tolist()) in labellings


TAUS = st.sampled_from((0.0, 0.3, 0.9, 1.0))


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=examples(25), **SLOW)
@given(problem=problems(), tau=TAUS, bound=st.sampled_from(("relative", "odds")))
def test_two_phase(method, problem, tau, bound):
    check_two_phase(*problem, tau, bound, method)


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=examples(25), **SLOW)
@given(
    problem=problems(NEAR_TIES, st.one_of(st.just(math.inf), st.integers(1, 3).map(lambda k: k * UNIT))),
    tau=TAUS,
    bound=st.sampled_from(("relative", "odds")),
)
def test_two_phase_of_near_ties(method, problem, tau, bound):
    check_two_phase(*problem, tau, bound, method)
