"""Every rule, program, solver and search against brute force over all labellings, exactly on the grid."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import oracles
from support.checks import check_optimum, check_two_phase, of_any_order, ranking
from support.effort import examples
from support.oracles import snap
from support.strategies import NEAR_TIES, UNIT, Case, Problem, cases, instances, problems

import ilpinfer
from formulations import constraints as C
from formulations.grid import is_forbidden
from formulations.problem.compiled_rules import compile_problem

EXACT = ["auto", "cbc", "cp-sat", "highs", "scip"]


@settings(max_examples=examples(600))
@given(of_any_order())
def test_a_rule_means_the_same_to_the_checker_the_machines_and_the_oracle(problem):
    trellis, compiled = problem.trellis, problem.compiled()
    folded = compiled.fold()
    for labelling in problem.labellings:
        path, names = np.array(labelling), problem.names(labelling)
        checked = [
            rule.violations(names, tokens=trellis.tokens, labels=trellis.labels) for rule in problem.rules
        ]
        value, again = compiled.value(path), folded.value(path)
        assert checked == list(value.violations.values()) == problem.violations(labelling)
        units, cost = problem.units(labelling), problem.cost(labelling)
        assert trellis.score(labelling) == (-math.inf if units is None else units * UNIT)
        if units is None or cost is None:
            assert is_forbidden(value.score) and is_forbidden(again.score)
        else:
            assert value.score == again.score == units - cost


@settings(max_examples=examples(400))
@given(of_any_order())
def test_auto_finds_the_first_optimum(problem):
    check_optimum(problem, ilpinfer.decode(*problem.given), first=True)


@pytest.mark.parametrize("method", EXACT[1:])
@settings(max_examples=examples(140))
@given(problem=of_any_order())
def test_solvers_find_the_optimum(method, problem):
    check_optimum(problem, ilpinfer.decode(*problem.given, method=method))


@settings(max_examples=examples(250))
@given(of_any_order() | problems(longest=5))
def test_a_beam_of_full_width_is_exact(problem):
    check_optimum(problem, ilpinfer.decode(*problem.given, method="beam", width=3000))


@settings(max_examples=examples(250))
@given(of_any_order())
def test_viterbi_ignores_rules_and_says_what_that_proves(problem):
    free, labellings = problem._replace(cases=[]).best()
    expected, _ = problem.best()
    solution = ilpinfer.decode(*problem.given, method="viterbi")
    if free is None:
        assert solution.status == "infeasible"
        return
    labelling = tuple(solution.ids.tolist())
    assert labelling == min(labellings)
    assert snap(solution.model_score) == free
    cost = problem.cost(labelling)
    if cost is None:
        assert (solution.status, solution.score, solution.gap) == ("unknown", -math.inf, math.inf)
        assert solution.labels
    else:
        assert snap(solution.score) == free - cost
        assert solution.status == ("feasible" if cost else "optimal")
    assert expected is None or snap(solution.bound) >= expected


@pytest.mark.parametrize("method", ["auto", "viterbi"])
@settings(max_examples=examples(160))
@given(
    instance=instances() | instances(st.one_of(NEAR_TIES, st.just(-math.inf)), order=2), top=st.integers(1, 8)
)
def test_the_best_few_without_rules_come_in_the_order_of_label_ids(method, instance, top):
    expected = oracles.top(*instance.shape, instance.units, lambda y: 0, top)
    assert ranking(ilpinfer.decode(instance.trellis, method=method, top=top)) == expected


@pytest.mark.parametrize("method", ["auto", "highs"])
@settings(max_examples=examples(40))
@given(problem=of_any_order(longest=3), top=st.integers(1, 4))
def test_the_best_few_under_rules(method, problem, top):
    expected = problem.top(top)
    result = ranking(solutions := ilpinfer.decode(*problem.given, method=method, top=top))
    assert [score for score, _ in result] == [score for score, _ in expected]
    assert len({labelling for _, labelling in result}) == len(result)
    assert result == expected or method != "auto"
    assert all(s.status == "optimal" for s in solutions)


@settings(max_examples=examples(60))
@given(problems())
def test_a_hard_rule_never_raises_the_optimum(problem):
    trellis, rules = problem.given
    name = next(iter(trellis.labels.fields))
    after = ilpinfer.decode(trellis, [*rules, C.at_most_runs(name, 0)])
    assert after.score <= ilpinfer.decode(trellis, rules).score


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=examples(60))
@given(
    problem=of_any_order(),
    tau=st.sampled_from((0.0, 0.3, 0.9, 1.0)),
    bound=st.sampled_from(("relative", "odds")),
)
def test_two_phase(method, problem, tau, bound):
    solution = ilpinfer.decode_two_phase(*problem.given, tau, bound, method=method)
    check_two_phase(solution, problem.two_phase(tau, bound))


@pytest.mark.parametrize("method", ["auto", "beam", "cp-sat", "highs"])
@settings(max_examples=examples(40))
@given(instance=instances(NEAR_TIES, 3) | instances(longest=3, order=2), hard=st.booleans(), data=st.data())
def test_a_hamming_distance_counts_tokens_to_relabel(method, instance, hard, data):
    case = data.draw(cases(instance.trellis.labels, st.just(math.inf)))
    try:
        rule = replace(case.rule, distance="hamming", penalty=math.inf if hard else 2 * UNIT)
        compile_problem(instance.trellis, [rule])
    except ValueError:
        assume(False)
    whole, tokens = Problem(instance, []), instance.trellis.tokens
    kept = [y for y in whole.labellings if not case.count(instance.names(y), tokens)]

    def distance(names, tokens):
        return oracles.hamming(instance.trellis.ids(names).tolist(), kept)

    options = {"width": 3000} if method == "beam" else {}
    solution = ilpinfer.decode(instance.trellis, [rule], method=method, **options)
    check_optimum(Problem(instance, [Case(rule, distance)]), solution)
