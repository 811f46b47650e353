"""Sequences that the call for compiled rules gives up: the method goes on from its bound, machines and multipliers."""

import math

import numpy as np
import pytest
from support.checks import check_optimum
from support.strategies import by_numbers
from support.template_oracles import between_runs

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.decoding.chunks import BROKEN, STEPS
from ilpinfer.exact import compiled, stages
from ilpinfer.exact.known import Known

LABELS = ["a", "b", "O"]


@pytest.fixture
def few_steps(monkeypatch):
    """Label setting for compiled rules ends after a few steps."""
    monkeypatch.setattr(compiled, "PASSES", 0)
    monkeypatch.setattr(compiled, "LEAST_STEPS", 20)


def draw(seed, T=6):
    rng = np.random.default_rng(seed)
    start, edges = rng.integers(-8, 8, 3) / 4, rng.integers(-8, 8, (T - 1, 3, 3)) / 4
    one, two, three = rng.choice([0.25, 0.5, 1.0, 2.0, math.inf], 3).tolist()
    return by_numbers(
        *(start, edges, LABELS),
        (C.at_most_runs("a", 1, penalty=one), lambda y: between_runs(y, y, "a", 0, 1, "plain")),
        (C.at_least_tokens("b", 3, penalty=two), lambda y: max(0, 3 - y.count("b"))),
        (C.at_most_tokens("O", 1, penalty=three), lambda y: max(0, y.count("O") - 1)),
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_is_found_and_proved(seed, few_steps):
    problem = draw(seed)
    solution = ilpinfer.decode(*problem.given)
    check_optimum(problem, solution)
    verdict = ilpinfer.verify(*problem.given, solution)
    assert verdict.ok and verdict.proved, verdict.reasons


def test_the_kernels_do_not_begin_again(few_steps, monkeypatch):
    calls = []
    monkeypatch.setattr(stages, "by_kernels", lambda known, share: calls.append(share))
    seen = [ilpinfer.decode(*draw(seed).given).method for seed in range(20)]
    given_up = [method for method in seen if STEPS in method]
    assert len(given_up) > 5 and not any(BROKEN in method for method in given_up)
    assert len(calls) < len(given_up), "only problems with sums, which have several turns, call them"


def test_a_rule_on_the_whole_sequence_begins_with_the_bound_of_the_others(monkeypatch):
    """The best labelling without the rule is worth 6."""
    emissions = [[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    trellis = Trellis.from_emissions(emissions, np.zeros((2, 2)), labels=["a", "b"], tokens=list("xyx"))
    bounds = []
    begin = Known.begin

    def spy(known, start):
        begin(known, start)
        bounds.append(known.bound)

    monkeypatch.setattr(Known, "begin", spy)
    solution = ilpinfer.decode(trellis, [C.consistent(penalty=1.0)])
    assert bounds == [6 * 2**20] and solution.status == "optimal" and solution.score == 5.0
