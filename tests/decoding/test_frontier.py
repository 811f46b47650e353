"""Pareto frontiers against brute force over all labellings."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from support.checks import of_any_order
from support.effort import examples, seeds
from support.trellises import feasible

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core import deadline
from ilpinfer.decoding.frontier_search import decode_frontier
from ilpinfer.decoding.two_phase_search import TwoPhaseSearch
from ilpinfer.exact import limits
from ilpinfer.exact.ground import pack_problem, reweighted
from ilpinfer.exact.weighted_search import WeightedSearch


def undominated(best):
    """(cost, score) of those in {cost: best score} that score more than every cheaper one."""
    result = []
    for cost in sorted(best):
        if not result or best[cost] > result[-1][1]:
            result.append((cost, best[cost]))
    return result


def by_oracle(problem):
    """All Pareto-optimal (cost, score), grid units, by the meanings of the rules."""
    best = {}
    for y in problem.labellings:
        score = problem.units(y)
        if score is not None and problem.cost(y) is not None:
            cost = problem.cost(y, hard=False)
            best[cost] = max(score, best.get(cost, score))
    return undominated(best)


def by_enumeration(trellis, rules):
    """The same by the compiled rules."""
    best = {}
    for _, worth in feasible(compile_problem(trellis, rules)):
        score = worth.model + worth.features
        best[worth.penalty] = max(score, best.get(worth.penalty, score))
    return undominated(best)


def units(point):
    return round(point.cost * 2**20), round(point.score * 2**20)


def corners(points):
    """Those of (cost, score) that are the only best one at some weight."""
    result = []
    for cost, score in points:
        while len(result) > 1:
            (c0, s0), (c1, s1) = result[-2:]
            if (s1 - s0) * (cost - c1) > (score - s1) * (c1 - c0):
                break
            result.pop()
        result.append((cost, score))
    return result


@settings(max_examples=examples(120))
@given(of_any_order())
def test_every_kind_of_rule(problem):
    frontier, expected = decode_frontier(*problem.given), by_oracle(problem)
    assert frontier.complete and [units(p) for p in frontier.points] == expected
    assert frontier.reason == ("" if expected else "no labelling keeps the hard rules")
    for point in frontier.points:
        value = problem.compiled().value(problem.trellis.ids(point.labels))
        assert value.feasible and point.proved and point.violations == value.violations
        assert (value.penalty, value.model + value.features) == units(point)


def random_problem(seed):
    """A trellis of up to 6 tokens and 4 labels under several soft rules, whose frontier has up to a dozen points."""
    rng = np.random.default_rng(seed)
    T, K = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    labels = list("abcd")[:K]

    def scores(*shape):
        return np.round(rng.normal(0, 2, shape), int(rng.integers(0, 4)))

    def penalty():
        return float(rng.choice([0.5, 1.0, 2.0])) if seed % 2 else float(rng.uniform(0.1, 3))

    tokens = [str(token) for token in rng.choice(list(".xy"), T)]
    trellis = Trellis.from_emissions(scores(T, K), scores(K, K), labels=labels, tokens=tokens)
    rules = []
    for _ in range(int(rng.integers(3, 7))):
        a, b = rng.choice(labels, 2, replace=False).tolist()
        n, cost = int(rng.integers(0, 3)), penalty()
        kinds = [
            lambda a, b, n, cost: C.at_most_runs(a, n, penalty=cost),
            lambda a, b, n, cost: C.at_least_tokens(a, n + 1, penalty=cost),
            lambda a, b, n, cost: C.requires_present(a, b, penalty=cost),
            lambda a, b, n, cost: C.requires_before(a, b, penalty=cost),
            lambda a, b, n, cost: C.forbidden_transition(a, b, penalty=cost),
            lambda a, b, n, cost: C.changes_only_after(penalty=cost),
            lambda a, b, n, cost: C.at_most_tokens(a, n, penalty=cost, distance="binary"),
            lambda a, b, n, cost: C.exactly_tokens(a, n, penalty=cost),
        ]
        rules.append(kinds[int(rng.integers(len(kinds)))](a, b, n, cost))
    if seed % 3 == 0:
        rules.append(C.at_most_runs(labels[0], 1))
    return trellis, rules


def whole_frontier(trellis, rules):
    """The frontier, and what it is by enumeration."""
    frontier, expected = decode_frontier(trellis, rules), by_enumeration(trellis, rules)
    assert frontier.complete and not frontier.reason
    assert [units(p) for p in frontier.points] == expected
    return frontier, expected


@seeds(6)
def test_machines_packed_once_have_the_penalties_of_each_weight(seed):
    problem = compile_problem(*random_problem(seed))
    weights = WeightedSearch(problem, deadline.Deadline(), np.zeros(problem.shape[0], np.int64))
    first, other = (weights.weighted(weights.ratio(*ratio)).fold() for ratio in ((1, 2), (7, 3)))
    (once, tokens), (anew, same_tokens) = reweighted(pack_problem(first), other), pack_problem(other)
    assert len(once.sources) > 0 and once.sources == anew.sources
    parts = [(once.scores, anew.scores), (once.machines, anew.machines), (tokens, same_tokens)]
    assert all(np.array_equal(*pair) for both in parts for pair in zip(*both, strict=True))


@seeds(40)
def test_many_points(seed):
    trellis, rules = random_problem(seed)
    frontier, expected = whole_frontier(trellis, rules)
    check_claims(frontier, expected)


def test_there_are_points_that_no_weight_finds_among_the_random_ones():
    """So that the tests above are about something."""
    frontiers = [by_enumeration(*random_problem(seed)) for seed in range(40)]
    assert sum(len(points) - len(corners(points)) for points in frontiers) >= 10


@seeds(12, 2)
@pytest.mark.parametrize("tau", [1.0, 0.95, 0.8, 0.3])
def test_two_phases_land_on_the_frontier(seed, tau):
    trellis, rules = random_problem(seed)
    frontier = decode_frontier(trellis, rules)
    solution = ilpinfer.decode_two_phase(trellis, rules, tau)
    point = frontier.at_floor(solution.floor)
    assert (point.cost, point.score) == (solution.penalty, solution.model_score + solution.feature_score)


@seeds(12, 2)
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0, 7.0])
def test_one_phase_lands_on_the_hull(seed, weight):
    trellis, rules = random_problem(seed)
    point = decode_frontier(trellis, rules).at_weight(weight)
    hard, soft = ([r for r in rules if (r.penalty == math.inf) == kind] for kind in (True, False))
    kept = [*hard, *(replace(rule, penalty=rule.penalty * weight) for rule in soft if weight)]
    assert ilpinfer.decode(trellis, kept).score == pytest.approx(point.score - weight * point.cost, abs=1e-4)


@seeds(12)
def test_gaps_that_label_setting_leaves_open_go_to_a_solver(seed, monkeypatch):
    monkeypatch.setattr(limits, "WIDTHS", ())
    whole_frontier(*random_problem(seed))


def test_no_rules():
    trellis, _ = random_problem(2)
    (point,) = decode_frontier(trellis, ()).points
    assert point.cost == 0
    assert list(point.labels) == ilpinfer.decode(trellis).labels


class Readings:
    """A clock that goes on by a second with each reading, so that limits end a search after so many readings."""

    def __init__(self):
        self.count = 0

    def perf_counter(self):
        self.count += 1
        return float(self.count)


def check_claims(frontier, expected):
    """Everything that a frontier says is true of all Pareto-optimal pairs, those that it lacks among them."""
    assert all(units(point) in expected for point in frontier.points if point.proved)


def interrupted(monkeypatch, trellis, rules):
    """The frontier after every number of readings of the clock that is too small for all of it."""
    clock = Readings()
    monkeypatch.setattr(deadline, "time", clock)
    decode_frontier(trellis, rules)
    result = [decode_frontier(trellis, rules, time_limit=n) for n in range(1, clock.count)]
    monkeypatch.undo()
    return result


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_what_an_interrupted_search_says_is_true(seed, monkeypatch):
    trellis, rules = random_problem(seed)
    expected = by_enumeration(trellis, rules)
    for frontier in interrupted(monkeypatch, trellis, rules):
        check_claims(frontier, expected)


def test_an_interrupted_search_says_what_it_has_proved(monkeypatch):
    """So that the test above is about something."""
    parts = interrupted(monkeypatch, *random_problem(10)) + interrupted(monkeypatch, *random_problem(20))
    points = [p for part in parts if not part.complete for p in part.points]
    assert any(p.proved for p in points) and any(not p.proved for p in points)


@seeds(14)
def test_gaps_that_stay_open(seed, monkeypatch):
    """Neither label setting nor a solver closes a gap: points that are best at a weight are proved all the same."""
    monkeypatch.setattr(limits, "WIDTHS", ())
    monkeypatch.setattr(TwoPhaseSearch, "at_floor", lambda *_: None)
    trellis, rules = random_problem(3 * seed)
    frontier, expected = decode_frontier(trellis, rules), by_enumeration(trellis, rules)
    check_claims(frontier, expected)
    assert frontier.complete or frontier.reason == "a solver gave no answer"
    proved = [units(p) for p in frontier.points if p.proved]
    assert set(corners(expected)[1:]) <= set(proved), (
        "all but the cheapest are best at a weight that was tried"
    )


def test_an_incomplete_frontier_says_why():
    problems = map(random_problem, range(40))
    trellis, rules = next(each for each in problems if len(decode_frontier(*each).points) > 6)
    none = decode_frontier(trellis, rules, time_limit=1e-9)
    assert (none.complete, none.reason) == (False, "no time left")
    assert not any(point.proved for point in none.points)


@seeds(12)
def test_each_point_is_proved_at_its_own_score_as_the_floor(seed):
    trellis, rules = random_problem(seed)
    for point in decode_frontier(trellis, rules).points:
        solution = ilpinfer.decode_two_phase(trellis, rules, floor=point.score)
        assert (solution.floor, solution.floor_kind, solution.penalty) == (point.score, "score", point.cost)
        verdict = ilpinfer.verify(trellis, rules, solution)
        assert verdict.proved, verdict.reasons
        lied = replace(solution, floor=point.score + 1.0)
        assert not ilpinfer.verify(trellis, rules, lied).ok
