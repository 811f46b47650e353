"""Rows of formulas whose literals are about the two tokens of a step: the optimum, and the linear relaxation."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from support.trellises import valued

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate

FORMULAS = [
    "forall t > 0: not (a(t - 1) and b(t))",
    "forall t > 0: a(t) -> a(t - 1) or b(t - 1)",
    "forall s, t > s: a(s) and a(t) -> a(t - 1)",
    "forall t in 1..last - 1: O(t - 1) or a(t) or O(t) or b(t + 1)",
    "exists t > 0: a(t) and b(t - 1)",
    "exists t > 1: a(t) and b(t - 1) and not a(t - 2)",
]


def example(formula, penalty, seed, T=5):
    rng = np.random.default_rng(seed)
    start, edges = rng.integers(-8, 8, 3) / 4, rng.integers(-8, 8, (T - 1, 3, 3)) / 4
    return Trellis(start, edges, labels=["a", "b", "O"]), [C.logic(formula, penalty=penalty)]


@pytest.mark.parametrize("penalty", [0.75, math.inf])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_optimum_is_that_of_brute_force(formula, penalty):
    for seed in range(6):
        given = example(formula, penalty, seed)
        solution, ranked = ilpinfer.decode(*given, method="cp-sat"), valued(compile_problem(*given))
        assert (solution.status, solution.score) == ("optimal", ranked[0][0] / UNITS_PER_NAT)


@pytest.mark.parametrize(("number", "most"), [(2, 1.9), (3, 1.2)])
def test_an_indicator_for_both_tokens_of_a_step_makes_the_relaxation_tighter(number, most):
    """Nats above the optimum, of six problems together; with an indicator for each literal they are 2.83 and 2.02."""
    above = 0.0
    for seed in range(6):
        trellis, rules = example(FORMULAS[number], math.inf, seed, T=8)
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
