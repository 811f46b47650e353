"""Every search against brute force: nothing above the optimum, nothing said that does not hold, the same for a seed."""

import random
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks import SEARCHES, check_claims, of_any_order, ranking
from support.effort import at_most, examples
from support.strategies import UNIT, problems
from support.trellises import many_runs

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.kernels.joint_states import joint_of
from ilpinfer.search.beam import search, with_forced_rules

SEEDED = {"evolutionary": {"iterations": 40}, "hybrid": {"variant": "published"}}


@pytest.mark.parametrize("method", SEARCHES)
@settings(max_examples=examples(25))
@given(problem=of_any_order())
def test_scores_are_those_of_the_labels_and_claims_hold(method, problem):
    check_claims(problem, ilpinfer.decode(*problem.given, method=method, **SEARCHES[method]))


@settings(max_examples=examples(150))
@given(problem=of_any_order() | problems(longest=5), width=st.integers(1, 3))
def test_a_narrow_beam_never_claims_too_much(problem, width):
    check_claims(problem, ilpinfer.decode(*problem.given, method="beam", width=width))


@settings(max_examples=examples(50))
@given(problem=of_any_order(), top=st.integers(1, 9))
def test_a_beam_of_full_width_has_the_best_few(problem, top):
    problem.machined()
    result = ilpinfer.decode(*problem.given, method="beam", width=5000, top=top)
    assert ranking(result) == problem.top(top)
    assert all(s.status == "optimal" for s in result)


@settings(max_examples=examples(50))
@given(problem=of_any_order(), top=st.integers(2, 6), width=st.integers(1, 6))
def test_a_narrow_beam_has_different_labellings_in_order(problem, top, width):
    best = problem.top(top)
    result = ilpinfer.decode(*problem.given, method="beam", width=width, top=top)
    found = [labelling for _, labelling in ranking(result)]
    scores = [score for score, _ in ranking(result) if score is not None]
    assert scores == sorted(scores, reverse=True)
    assert len(set(found)) == len(result) <= top
    assert all(mine <= theirs for mine, (theirs, _) in zip(scores, best, strict=False))
    for place, solution in enumerate(result):
        others = [score for score, labelling in best if labelling not in found[:place]]
        assert not others or solution.bound >= others[0] * UNIT


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


@pytest.mark.parametrize("method", SEEDED)
def test_a_seed_gives_one_labelling_however_the_time_is_cut(method, monkeypatch):
    trellis, rules = many_runs(50 if method == "hybrid" else 70, 6, 4, seed=8, penalty=1.0)
    rules.append(C.requires_before("L0", "L1"))
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    first = ilpinfer.decode(trellis, rules, method=method, seed=7, **SEEDED[method])
    monkeypatch.setattr("ilpinfer.search.population.STRETCH", 1.0)
    monkeypatch.setattr("ilpinfer.search.population._LARGEST_MEMO", 1)
    again = ilpinfer.decode(trellis, rules, method=method, seed=7, **SEEDED[method])
    assert first.labels == again.labels
    passed = [[(i.score, i.violations) for i in solution.incumbents] for solution in (first, again)]
    assert passed[0] == passed[1]
    assert before == (random.getstate(), np.random.get_state()[1].tolist())


@pytest.mark.parametrize("cost", [{}, {"penalty": 1.5}], ids=["hard", "soft"])
def test_evolution_gains_and_keeps_its_time(cost):
    given, method = many_runs(40, 5, 3, **cost), "evolutionary"
    best = ilpinfer.decode(*given).score
    ilpinfer.decode(*given, method=method, time_limit=0.05)
    seen = []
    timed = ilpinfer.decode(*given, method=method, time_limit=0.2, callback=lambda *now: seen.append(now))
    assert timed.seconds < at_most(0.25) and timed.status in ("feasible", "optimal")
    assert seen[0][1] < timed.score <= best
    first, found = (ilpinfer.decode(*given, method=method, seed=4, iterations=n).score for n in (1, 300))
    assert first < found
    assert ilpinfer.decode(*given, method="viterbi").score < found <= best


def test_evolution_goes_on_where_there_is_little_room_for_joint_states(monkeypatch):
    trellis, _ = many_runs(60, 6, 0, seed=4)
    rules = [C.at_most_tokens(label, 9, penalty=0.7) for label in trellis.labels.names]

    def small_at_first(rules, symbols, n, **options):
        return joint_of(rules, symbols, n if n > 4000 else min(n, 900), **options)

    monkeypatch.setattr("ilpinfer.search.population._LARGEST_MEMO", 0)
    monkeypatch.setattr("ilpinfer.search.population.joint_of", small_at_first)
    solution = ilpinfer.decode(trellis, rules, method="evolutionary", iterations=800)
    assert solution.score > ilpinfer.decode(trellis, rules, method="viterbi").score
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
