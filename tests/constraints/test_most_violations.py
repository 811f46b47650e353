"""Upper bounds on violations: no labelling passes them, and they are near what long sequences can have."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from support.effort import examples
from support.strategies import problems

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem


@settings(max_examples=examples(300))
@given(problems())
def test_no_labelling_passes_them(problem):
    stated = problem.compiled()
    T, K = stated.shape
    for path in product(range(K), repeat=T):
        for rule in stated.rules:
            assert rule.violations(np.array(path)) <= rule.most
            for machine in rule.machines:
                assert machine.violations(np.array(path)) <= machine.most


@pytest.mark.parametrize("rule", [C.presence_precedence, C.requires_before, C.precedence])
def test_an_order_in_a_long_document_counts_runs(rule):
    T = 5000
    scores = np.tile([1.0, 0.0, 0.5], (T, 1))
    trellis = Trellis.from_emissions(scores, np.zeros((3, 3)), labels=["a", "b", "O"])
    rules = [rule("b", "a", penalty=60.0)]
    (stated,) = compile_problem(trellis, rules).rules
    assert T / 2 <= stated.most <= 2 * T
    assert ilpinfer.decode(trellis, rules).status == "optimal"
