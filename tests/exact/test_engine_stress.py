"""The certifying engine where brute force cannot reach: its routes against each other, and every proof checked."""

import math
import time

import numpy as np
import pytest
from routes import PLAIN, SMALL, take
from support.effort import seeds
from support.strategies import UNIT
from support.trellises import random_trellis

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem

LABEL_SETS = [
    LabelSet(tuple("abcdefgh"), "plain"),
    LabelSet((*(f"{p}-{f}" for f in "abc" for p in "BI"), "O"), "bio"),
    LabelSet((*(f"{p}-{f}" for f in "ab" for p in "BIES"), "O"), "iobes"),
]
ROUTES = {
    "as it is": {},
    "few steps": {"PASSES": 1, "LEAST_STEPS": 0},
    "multipliers and beams": PLAIN | {"LEAST_STEPS": 2000, "BEAMS": 6},
    "large products": PLAIN,
    "cases": PLAIN | SMALL | {"BRANCH_CASES": 60},
    "few cases": PLAIN | SMALL | {"BRANCH_CASES": 1},
}
SCORES = {
    "near ties": lambda rng, shape: UNIT * rng.integers(-3, 4, shape),
    "whole numbers": lambda rng, shape: 1.0 * rng.integers(-2, 3, shape),
    "usual": lambda rng, shape: rng.normal(size=shape),
    "near the limit": lambda rng, shape: 2.0**24 * rng.uniform(-1, 1, shape),
}


def rule(rng, fields):
    a, b = (fields[i] for i in rng.permutation(len(fields))[:2])
    n, width = int(rng.integers(0, 4)), int(rng.integers(2, 5))
    penalty = (math.inf, rng.uniform(0.05, 4), UNIT * rng.integers(1, 5))[rng.integers(3)]
    how = {"penalty": float(penalty), "distance": ("count", "count", "binary")[rng.integers(3)]}
    templates = [
        lambda: C.at_most_runs(a, n, **how),
        lambda: C.at_least_runs(a, n + 1, **how),
        lambda: C.exactly_tokens(a, n + 1, **how),
        lambda: C.requires_present(a, b, **how),
        lambda: C.requires_before(a, b, **how),
        lambda: C.precedence(a, b, **how),
        lambda: C.alternation(a, b, **how),
        lambda: C.next_field(a, b, required=bool(n), **how),
        lambda: C.never_together(a, b, **how),
        lambda: C.min_run_length(a, width, **how),
        lambda: C.max_run_length(a, width, **how),
        lambda: C.at_most_in_window(a, n, width=width, **how),
        lambda: C.at_most_runs(C.EACH_FIELD, n + 1, **how),
        lambda: C.never_together("X", "Y", scope="each pair", **how),
        lambda: C.linear(f"{n + 2} * tokens({a}) - 5 * tokens({b}) <= {width}", **how),
        lambda: C.linear(f"1000 * runs({a}) + 7 * tokens({b}) >= 2000", **how),
    ]
    return templates[rng.integers(len(templates))]()


def problem(rng, scores, longest: int = 18):
    labels = LABEL_SETS[rng.integers(len(LABEL_SETS))]
    T, K = int(rng.integers(8, longest)), len(labels)
    start, edges = scores(rng, (K,)), scores(rng, (T - 1, K, K))
    edges[rng.random(edges.shape) < rng.choice([0, 0.2])] = -np.inf
    rules = [rule(rng, list(labels.fields)) for _ in range(rng.integers(1, 6))]
    return Trellis(start, edges, labels=labels), rules


@pytest.mark.parametrize("kind", SCORES)
@seeds(12, 1)
def test_routes_agree_and_their_proofs_hold(monkeypatch, kind, seed):
    rng = np.random.default_rng([seed, *kind.encode()])
    trellis, rules = problem(rng, SCORES[kind])
    optimum = ilpinfer.decode(trellis, rules)
    assert optimum.status in ("optimal", "infeasible")
    verdict = ilpinfer.verify(trellis, rules, optimum)
    assert verdict.ok and verdict.proved, verdict.reasons
    for route in list(ROUTES)[1:]:
        with monkeypatch.context() as patch:
            take(patch, ROUTES[route])
            solution = ilpinfer.decode(trellis, rules, time_limit=2)
        verdict = ilpinfer.verify(trellis, rules, solution)
        assert verdict.ok, (route, verdict.reasons)
        assert solution.score <= optimum.score <= solution.bound, route
        if solution.status == optimum.status and verdict.proved:
            assert solution.score == optimum.score
            by_solver = "reduced program" in solution.method
            assert by_solver or not optimum.has_labelling or (solution.ids == optimum.ids).all(), route


@seeds(6)
def test_second_order_scores_that_look_at_one_label_before_are_first_order(seed):
    rng = np.random.default_rng(seed)
    trellis, rules = problem(rng, lambda rng, shape: 0.25 * rng.integers(-9, 9, shape), longest=10)
    (T, K), lattice = (len(trellis), len(trellis.labels)), trellis.lattice
    edges = np.where(lattice.edge_scores() < -(2**59), -np.inf, lattice.edge_scores() / 2**20)
    wide = np.broadcast_to(edges[1:, None], (T - 2, K, K, K))
    second = Trellis.second_order(
        lattice.node[0] / 2**20, edges[0], wide, trellis.labels, tokens=trellis.tokens
    )
    for top in (1, 9):
        first = ilpinfer.decode(trellis, rules, top=top)
        again = ilpinfer.decode(second, rules, top=top)
        assert [(s.score, s.labels) for s in first] == [(s.score, s.labels) for s in again]
        assert not again or ilpinfer.verify(second, rules, again).proved


@pytest.mark.parametrize("seed", [26, 202, 288])
def test_a_case_with_nothing_better_is_not_called_impossible(monkeypatch, seed):
    take(monkeypatch, ROUTES["few cases"])
    rng = np.random.default_rng(seed)
    labels = [f"{prefix}-{field}" for field in "abcde" for prefix in "BI"]
    start, length = 0.3 * rng.normal(size=10), int(rng.integers(8, 26))
    trellis = Trellis(start, 0.3 * rng.normal(size=(length, 10, 10)), labels=labels)
    rules = [
        C.between_runs("e", 1, 3, penalty=3.5),
        C.requires_present("e", "b", penalty=0.1),
        C.at_most_tokens("e", 3, penalty=0.1),
        C.starts_with("d", penalty=1.4),
        C.min_run_length("c", 2),
        C.inside("d", "b"),
        C.at_most_in_window("a", 0, width=5, penalty=1.2),
    ]
    solution = ilpinfer.decode(trellis, rules)
    verdict = ilpinfer.verify(trellis, rules, solution)
    assert "cases told apart" in solution.method
    assert solution.status == "optimal" and verdict.ok, verdict.reasons


def test_a_solver_keeps_within_the_distance_too(monkeypatch):
    take(monkeypatch, ROUTES["few cases"])
    trellis = Trellis([0.0, 0.0], np.zeros((1, 2, 2)), labels=["a", "b"])
    rules = [C.at_least_runs("a", 1, penalty=1.0)]
    result = ilpinfer.decode(trellis, rules, top=4, within=0)
    assert sorted(s.labels for s in result) == [["a", "a"], ["a", "b"], ["b", "a"]]
    assert len(ilpinfer.decode(trellis, rules, top=4, within=1.0)) == 4


def test_proofs_of_large_scores_under_hard_prices_are_checked():
    rng = np.random.default_rng(0)
    edges = 2.0**24 * rng.uniform(-1, 1, (19, 8, 8))
    trellis = Trellis(np.zeros(8), edges, labels=list("abcdefgh"))
    rules = [C.at_most_tokens(field, 2) for field in "abcdef"] + [C.exactly_tokens("g", 4)]
    solution = ilpinfer.decode(trellis, rules)
    verdict = ilpinfer.verify(trellis, rules, solution)
    assert verdict.ok and verdict.proved, verdict.reasons
    assert not any(rule.machineless for rule in compile_problem(trellis, rules).rules)


def test_thousands_of_labellings_take_seconds():
    trellis = random_trellis(0, 10, "abcd")
    rules = [C.at_most_runs("a", 1)]
    few = ilpinfer.decode(trellis, rules, top=50)
    began = time.monotonic()
    many = ilpinfer.decode(trellis, rules, top=4000)
    assert time.monotonic() - began < 20
    assert [s.labels for s in many[:50]] == [s.labels for s in few]
    scores = [s.score for s in many]
    assert len(many) == len({tuple(s.labels) for s in many}) == 4000
    assert scores == sorted(scores, reverse=True)
    assert all(s.status == "optimal" for s in many)
