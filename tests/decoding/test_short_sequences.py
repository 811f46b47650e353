"""Sequences of one to three tokens, by every way into the engine, against brute force."""

import numpy as np
import pytest
from stress import decoder as stress
from support.effort import STRICT

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.exact import compiled


@pytest.mark.parametrize("make", [C.exactly_tokens, C.exactly_runs, C.at_least_tokens, C.at_least_runs])
@pytest.mark.parametrize("fields", ["each field", "a", ["a", "b"]])
def test_one_token_with_soft_sums(make, fields):
    trellis = Trellis([0.0, 1.0, 0.5], [], labels=["a", "b", "O"])
    rules = [make(fields, 2, penalty=2.0)]
    single, many = (
        ilpinfer.decode(trellis, rules),
        list(ilpinfer.decode_many([trellis] * 5, rules, threads=2)),
    )
    optimum = max(
        trellis.score([label]) - ilpinfer.evaluate_labelling(trellis, rules, [label]).penalty
        for label in "abO"
    )
    assert [solution.score for solution in (single, *many)] == [optimum] * 6
    assert ilpinfer.verify(trellis, rules, single).proved


def test_one_token_with_sums_that_are_bounded_on_two_sides():
    trellis = Trellis([0.0, 1.0, 0.5], [], labels=["a", "b", "O"])
    rules = [
        C.between_tokens("a", 2, 3, penalty=2.0),
        C.linear("3*tokens(b) + 2*runs(a) <= 1", penalty=0.375),
    ]
    solutions = ilpinfer.decode(trellis, rules, top=5)
    assert [(s.labels, s.penalty) for s in solutions] == [(["a"], 2.375), (["O"], 4.0), (["b"], 4.75)]


@pytest.mark.parametrize("labels", [["a"], ["O"], ["B-a"]])
@pytest.mark.parametrize("T", [1, 2, 3])
def test_one_label_and_scores_that_forbid_everything(labels, T):
    for score, status in ((0.5, "optimal"), (-np.inf, "infeasible")):
        trellis = Trellis([score], np.full((T - 1, 1, 1), score), labels=labels)
        for rules in ([], [C.at_most_tokens(labels, 0, penalty=1.0)]):
            solution = ilpinfer.decode(trellis, rules)
            assert solution.status == status
            assert ilpinfer.verify(trellis, rules, solution).proved


@pytest.mark.examples
@pytest.mark.parametrize("passes", [0, compiled.PASSES])
def test_random_problems_against_brute_force(monkeypatch, passes):
    monkeypatch.setattr(compiled, "PASSES", passes)
    tally = stress.run(2000 if STRICT else 60, 5 + passes, longest=3)
    assert not tally.findings
    assert tally.cases["all"] >= 60 and tally.cases["optimal"] > 40
