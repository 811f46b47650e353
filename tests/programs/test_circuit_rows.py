"""Rows of formulas whose literals are about the two tokens of a step: the optimum, and the linear relaxation."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from support.checks import check_optimum
from support.strategies import by_numbers

import ilpinfer
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate

LABELS = ["a", "b", "O"]
FORMULAS = {
    "forall t > 0: not (a(t - 1) and b(t))": lambda y: sum(
        p == ("a", "b") for p in zip(y, y[1:], strict=False)
    ),
    "forall t > 0: a(t) -> a(t - 1) or b(t - 1)": lambda y: sum(
        p == ("O", "a") for p in zip(y, y[1:], strict=False)
    ),
    "forall s, t > s: a(s) and a(t) -> a(t - 1)": lambda y: sum(
        y[s] == y[t] == "a" and y[t - 1] != "a" for s in range(len(y)) for t in range(s + 1, len(y))
    ),
    "forall t in 1..last - 1: O(t - 1) or a(t) or O(t) or b(t + 1)": lambda y: sum(
        y[t - 1] != "O" and y[t] == "b" and y[t + 1] != "b" for t in range(1, len(y) - 1)
    ),
    "exists t > 0: a(t) and b(t - 1)": lambda y: int(("b", "a") not in zip(y, y[1:], strict=False)),
    "exists t > 1: a(t) and b(t - 1) and not a(t - 2)": lambda y: int(
        not any(y[t] == "a" and y[t - 1] == "b" and y[t - 2] != "a" for t in range(2, len(y)))
    ),
}


def draw(formula, penalty, seed, T=5):
    rng = np.random.default_rng(seed)
    start, edges = rng.integers(-8, 8, 3) / 4, rng.integers(-8, 8, (T - 1, 3, 3)) / 4
    return by_numbers(start, edges, LABELS, (C.logic(formula, penalty=penalty), FORMULAS[formula]))


@pytest.mark.parametrize("penalty", [0.75, math.inf])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_optimum_is_that_of_brute_force(formula, penalty):
    for seed in range(6):
        problem = draw(formula, penalty, seed)
        check_optimum(problem, ilpinfer.decode(*problem.given, method="cp-sat"))


@pytest.mark.parametrize(("number", "most"), [(2, 1.9), (3, 1.2)])
def test_an_indicator_for_both_tokens_of_a_step_makes_the_relaxation_tighter(number, most):
    """Nats above the optimum, of six problems together; with an indicator for each literal they are 2.83 and 2.02."""
    above = 0.0
    for seed in range(6):
        trellis, rules = draw(list(FORMULAS)[number], math.inf, seed, T=8).given
        program = formulate(compile_problem(trellis, rules)).soft()
        lower, upper = program.float_sides
        rows = csr_matrix(
            (program.data, program.indices, program.indptr), (program.n_rows, program.n_columns)
        )
        sides = np.concatenate([upper, -lower])
        kept = np.flatnonzero(np.isfinite(sides))
        both = csr_matrix(np.vstack([rows.toarray(), -rows.toarray()])[kept])
        boxes = np.stack([program.lower, program.upper], 1)
        relaxed = linprog(-program.objective, both, sides[kept], bounds=boxes)
        above += -relaxed.fun / UNITS_PER_NAT - ilpinfer.decode(trellis, rules).score
    assert -1e-6 < above < most
