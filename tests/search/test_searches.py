"""Every search against brute force: nothing above the optimum, nothing said that does not hold, the same for a seed."""

import math
import random
import time

import numpy as np
import pytest
import test_second_order as second
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import at_most, examples
from support.strategies import NEAR_TIES, UNIT, cost_units, problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.search.beam import search, with_forced_rules
from ilpinfer.search.population import Population

SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck)}
SEARCHES = {
    "beam": {"width": 3},
    "best-first": {},
    "greedy": {},
    "relaxation-guided": {},
    "lds": {"time_limit": 0.02},
    "evolutionary": {"iterations": 20},
    "annealing": {"iterations": 300},
    "tabu": {"iterations": 40},
    "hybrid": {"time_limit": 0.02},
}
SEEDED = {
    "evolutionary": {"iterations": 40},
    "annealing": {"iterations": 3000},
    "tabu": {"iterations": 100},
    "hybrid": {"variant": "published"},
}
ANY = st.one_of(problems(), problems(NEAR_TIES), second.problems(), second.NEAR)


@pytest.mark.parametrize("method", SEARCHES)
@settings(max_examples=examples(25), **SLOW)
@given(problem=ANY)
def test_scores_are_those_of_the_labels_and_claims_hold(method, problem):
    instance, cases = problem
    expected, _ = oracles.best(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y))
    rules = [case.rule for case in cases]
    solution = ilpinfer.decode(instance.trellis, rules, method=method, **SEARCHES[method])
    if expected is None:
        assert solution.status in ("infeasible", "unknown")
        assert solution.score == -math.inf
        return
    assert solution.status != "infeasible"
    assert solution.bound >= expected * UNIT
    if not solution.has_labelling:
        assert solution.status == "unknown"
        return
    labelling = tuple(solution.ids.tolist())
    names, tokens = instance.names(labelling), instance.trellis.tokens
    assert solution.score == (instance.units(labelling) - cost_units(instance, cases, labelling)) * UNIT
    assert list(solution.violations.values()) == [case.violations(names, tokens) for case in cases]
    assert solution.score <= expected * UNIT
    assert (solution.status == "optimal") <= (solution.score == expected * UNIT)


@settings(max_examples=examples(50), **SLOW)
@given(problem=ANY, top=st.integers(1, 9))
def test_a_beam_of_full_width_has_the_best_few(problem, top):
    instance, cases = problem
    rules = [case.rule for case in cases]
    assume(not any(rule.machineless for rule in compile_problem(instance.trellis, rules).rules))
    expected = oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), top)
    result = ilpinfer.decode(instance.trellis, rules, method="beam", width=5000, top=top)
    assert [(round(s.score / UNIT), tuple(s.ids.tolist())) for s in result] == expected
    assert all(s.status == "optimal" for s in result)


@settings(max_examples=examples(50), **SLOW)
@given(problem=ANY, top=st.integers(2, 6), width=st.integers(1, 6))
def test_a_narrow_beam_has_different_labellings_in_order(problem, top, width):
    instance, cases = problem
    rules = [case.rule for case in cases]
    best = oracles.top(*instance.shape, instance.units, lambda y: cost_units(instance, cases, y), top)
    result = ilpinfer.decode(instance.trellis, rules, method="beam", width=width, top=top)
    scores = [round(s.score / UNIT) for s in result if s.score > -math.inf]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(s.ids.tolist()) for s in result}) == len(result) <= top
    assert all(mine <= theirs for mine, (theirs, _) in zip(scores, best, strict=False))
    for place, s in enumerate(result):
        others = [score for score, y in best if y not in [tuple(f.ids.tolist()) for f in result[:place]]]
        assert not others or s.bound >= others[0] * UNIT


def test_a_beam_drops_what_cannot_come_right_and_what_has_a_better_twin():
    rng = np.random.default_rng(0)
    labels, T = ["a", "b", "c"], 30
    trellis = Trellis.from_emissions(rng.normal(size=(T, 3)), rng.normal(size=(3, 3)), labels=labels)
    all_a = ilpinfer.decode(trellis, [C.at_most_tokens(["b", "c"], 0)], method="beam", width=1)
    assert set(all_a.labels) == {"a"}
    apart = ilpinfer.decode(trellis, [C.never_together("a", "b")], method="beam", width=1)
    assert apart.has_labelling and {"a", "b"} - set(apart.labels)
    assert ilpinfer.decode(trellis, [], method="beam", width=3).status == "optimal"
    problem = with_forced_rules(compile_problem(trellis, [C.at_most_tokens("a", 2, penalty=0.5)]).fold())
    for copies in (1, 2):
        result = search(problem, 1000, Deadline(), copies)
        assert len(result.paths) == 8 * copies
        assert result.scores == sorted(result.scores, reverse=True)


def long_example(T=70):
    rng = np.random.default_rng(8)
    labels = [f"L{k}" for k in range(6)]
    trellis = Trellis.from_emissions(rng.normal(size=(T, 6)), rng.normal(size=(6, 6)), labels=labels)
    return trellis, [
        *(C.at_most_runs(label, 4, penalty=1.0) for label in labels),
        C.requires_before("L0", "L1"),
    ]


@pytest.mark.parametrize("method", SEEDED)
def test_a_seed_gives_one_labelling_and_global_random_numbers_stay(method):
    trellis, rules = long_example(50 if method == "hybrid" else 70)
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    result = [ilpinfer.decode(trellis, rules, method=method, seed=s, **SEEDED[method]) for s in (7, 7)]
    assert result[0].labels == result[1].labels
    passed = [[(i.score, i.violations) for i in solution.incumbents] for solution in result]
    assert passed[0] == passed[1]
    assert before == (random.getstate(), np.random.get_state()[1].tolist())


@pytest.mark.parametrize("method", ["greedy", "evolutionary", "annealing", "tabu"])
def test_searches_go_on_where_there_is_little_room_for_joint_states(method, monkeypatch):
    rng = np.random.default_rng(4)
    T, labels = 60, [f"L{k}" for k in range(6)]
    trellis = Trellis.from_emissions(rng.normal(size=(T, 6)), rng.normal(size=(6, 6)), labels=labels)
    rules = [C.at_most_tokens(label, 9, penalty=0.7) for label in labels]
    room = Population._memo
    monkeypatch.setattr("ilpinfer.search.population._LARGEST_MEMO", 0)
    monkeypatch.setattr(
        Population,
        "_memo",
        lambda self, n: room(self, n if n > 4000 else min(n, 900)),
    )
    options = {"time_limit": 1.0} if method == "greedy" else {"iterations": 800}
    solution = ilpinfer.decode(trellis, rules, method=method, **options)
    assert solution.score > ilpinfer.decode(trellis, rules, method="best-first").score
    assert solution.score <= ilpinfer.decode(trellis, rules).score


@pytest.mark.parametrize("method", SEARCHES)
def test_a_limit_that_is_over_before_the_search_begins_is_kept(method):
    labels = ["a", "b", "O"]
    rng = np.random.default_rng(0)
    rules = [C.linear("runs(a) - runs(b) <= 1", penalty=1.0), C.at_most_runs("a", 500, penalty=1.0)]
    seconds = []
    for T in (20, 2000, 2000):
        trellis = Trellis.from_emissions(rng.normal(size=(T, 3)), rng.normal(size=(3, 3)), labels=labels)
        began = time.process_time()
        solution = ilpinfer.decode(trellis, rules, method=method, time_limit=1e-3)
        seconds.append(time.process_time() - began)
        assert solution.bound >= solution.score
    assert min(seconds[1:]) < at_most(0.05)
