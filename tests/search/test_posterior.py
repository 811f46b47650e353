"""Minimum-risk decoding against brute force over all labellings."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import Problem, instances, problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.core.result import Result
from ilpinfer.evaluation.counts import FieldTable
from ilpinfer.search.posterior import expected_f1


def right_tokens(shares):
    """{labelling: expected number of right tokens}, over the labellings that are possible."""
    T = len(next(iter(shares)))
    tokens = [{} for _ in range(T)]
    for y, share in shares.items():
        for t, k in enumerate(y):
            tokens[t][k] = tokens[t].get(k, 0.0) + share
    return {y: sum(tokens[t][k] for t, k in enumerate(y)) for y in shares}


def f1(one, other):
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def right_spans(shares, labels):
    """{labelling: expected F1 of its spans}."""
    table = FieldTable.of(labels)
    spans = {y: table.spans(np.array(y)) for y in shares}
    return {y: sum(share * f1(spans[y], spans[z]) for z, share in shares.items()) for y in shares}


def check_best(solution, worth, tolerance=1e-6):
    y = tuple(solution.ids.tolist())
    assert y in worth, "it keeps the hard rules, and its probability is above 0"
    assert worth[y] >= max(worth.values()) - tolerance


@settings(max_examples=examples(150))
@given(problems())
def test_the_most_right_tokens_are_expected(problem):
    _, shares = problem.shares()
    solution = ilpinfer.decode(*problem.given, method="posterior")
    if not shares:
        assert solution.status == "infeasible"
        return
    assume(min(shares.values()) > 0)
    check_best(solution, right_tokens(shares))
    assert solution.bound >= solution.score and solution.status in ("optimal", "feasible")


@settings(max_examples=examples(100))
@given(problems(longest=3))
def test_the_best_f1_of_spans_is_expected(problem):
    """Where the best few labellings are all there are."""
    _, shares = problem.shares()
    solution = ilpinfer.decode(*problem.given, method="posterior", risk="spans", top_k=300)
    if not shares:
        assert solution.status == "infeasible"
        return
    check_best(solution, right_spans(shares, problem.trellis.labels))


@settings(max_examples=examples(80))
@given(problems(longest=3))
def test_the_best_few_stand_for_all_where_sums_are_too_large(problem):
    _, shares = problem.shares()
    assume(problem.shape[1] > 1 and shares and min(shares.values()) > 0)
    solution = ilpinfer.decode(*problem.given, method="posterior", top_k=300, budget=1)
    assert "take too many joint states" in solution.method
    check_best(solution, right_tokens(shares))


@settings(max_examples=examples(40))
@given(instances(), st.integers(2, 5))
def test_several_labellings_come_in_the_order_of_their_risk(instance, top):
    _, shares = Problem(instance, []).shares()
    assume(shares and min(shares.values()) > 0)
    worth = right_tokens(shares)
    result = ilpinfer.decode(instance.trellis, method="posterior", top=top)
    mine = [worth[tuple(s.ids.tolist())] for s in result]
    expected = sorted(worth.values(), reverse=True)[:top]
    assert mine == pytest.approx(expected, abs=1e-6)


def divided() -> Trellis:
    """The most probable labelling is "x x", but each token by itself is rather "y"."""
    start = np.log([0.4, 0.6])
    edges = np.log([[[0.999, 0.001], [0.5, 0.5]]])
    return Trellis(start, edges, labels=["x", "y"])


def test_it_is_not_the_most_probable_labelling():
    trellis = divided()
    assert ilpinfer.decode(trellis).labels == ["x", "x"]
    solution = ilpinfer.decode(trellis, method="posterior")
    assert solution.labels == ["y", "x"]
    assert solution.status == "feasible" and solution.gap > 0
    assert solution.method == "posterior: 1.30 of 2 tokens expected to be right, by sums over all labellings"
    assert ilpinfer.verify(trellis, [], solution).ok


def test_hard_rules_hold():
    solution = ilpinfer.decode(divided(), [C.forbidden_transition("y", "x")], method="posterior")
    assert solution.violations == {"forbidden_transition(y, x)": 0}
    assert solution.labels == ["x", "x"]


def test_second_order_scores_take_the_best_few():
    trellis = Trellis.second_order([0.0, -1.0], [[0.0, -1.0], [0.0, 0.0]], np.zeros((2, 2, 2, 2)))
    solution = ilpinfer.decode(trellis, method="posterior")
    assert "second-order scores have no sums" in solution.method
    assert len(solution.labels) == 4


def test_the_share_of_the_best_few_is_told():
    solution = ilpinfer.decode(divided(), method="posterior", risk="spans", top_k=2)
    assert solution.method.endswith("by the best 2 labellings, which hold 0.6996 of the probability")


@settings(max_examples=examples(100))
@given(instances(), st.data())
def test_spans_are_those_of_the_evaluation(instance, data):
    T, K = instance.shape
    path = np.array(data.draw(st.lists(st.integers(0, K - 1), min_size=T, max_size=T)))
    labels = instance.trellis.labels
    table = FieldTable.of(labels)
    spans = {(table.names[f], first, last + 1) for f, first, last in table.spans(path)}
    assert set(labels.runs(path)) == spans


def test_empty_labellings_agree():
    assert expected_f1([frozenset()], np.ones(1)).tolist() == [1.0]


def test_the_bound_is_that_of_the_scores_where_the_engine_has_no_time(monkeypatch):
    monkeypatch.setattr(
        "ilpinfer.search.posterior.auto", lambda *_: iter([Result(None, math.inf, "auto: late")])
    )
    solution = ilpinfer.decode(divided(), method="posterior", risk="spans")
    assert (solution.status, solution.method) == ("unknown", "posterior: auto: late")
    assert solution.bound == ilpinfer.decode(divided()).score
    assert ilpinfer.verify(divided(), [], solution).ok
