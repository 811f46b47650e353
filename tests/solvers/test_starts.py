"""Labellings that solvers begin with, and the root bound of the engine: never trusted, always reported."""

import math
import tempfile
import time

import numpy as np
import pytest
from support.checks import check_optimum
from support.effort import examples
from support.strategies import counts

import ilpinfer
from benchmarks.data.hard import by_name
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate
from ilpinfer import solvers
from ilpinfer.core.certificate import Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact import programs
from ilpinfer.exact.programs import Reply
from ilpinfer.search.evolution import best_first_labelling
from ilpinfer.solvers import pool
from ilpinfer.solvers.worker import Request

SOLVERS = ("cbc", "cp-sat", "highs", "scip")
OPTIMUM = 34857472
"""Of the instance orders-20-9-00, grid units, as its proof says."""


@pytest.mark.examples
@pytest.mark.parametrize("root_bound", [False, True])
@pytest.mark.parametrize("start", [None, "lds", "beam:width=2", ["b"] * 6, [1, 1, 0, 0, 1, 2]])
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_optimum_is_that_of_brute_force(solver, start, root_bound):
    for seed, scale in ((0, 4), (1, 2**20), (2, 4))[: examples(3, 1)]:
        problem = counts(seed, scale=scale)
        solution = ilpinfer.decode(*problem.given, method=solver, start=start, root_bound=root_bound)
        check_optimum(problem, solution)
        assert ilpinfer.verify(*problem.given, solution).ok
        assert ("begun with" in solution.method) == (start is not None)
        assert ("root bound of the engine" in solution.method) == root_bound
        if isinstance(start, list):
            begun = ilpinfer.evaluate_labelling(*problem.given, start)
            assert solution.incumbents[0].score == begun.score
            assert f"begun with labels, {begun.score:.6g} nats" in solution.method


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_bound_on_the_way_is_below_the_optimum(solver):
    """That of the columns which complete a start is none of the program; the start is far from the best labelling."""
    hard = by_name("orders-20-9-00")
    problem = compile_problem(hard.trellis(), hard.rules)
    start = best_first_labelling(problem.fold(), Deadline())
    program = formulate(problem).soft().starting_with(start)
    with pool.borrow_worker(solver, solvers.SOLVERS[solver], math.inf) as (worker, _):
        request = Request(program, time.monotonic() + 1.0, 1, tempfile.gettempdir())
        claim, progress = worker._request(request)
    assert min(claim.bound, progress.bound) >= OPTIMUM > problem.value(start).score


def given():
    return Trellis(np.zeros(2), np.array([[[1.0, 0.0], [0.0, 0.0]]] * 3), labels=["a", "b"]), [
        C.at_most_tokens("a", 1)
    ]


@pytest.mark.parametrize("start", ["viterbi", ["a"] * 4])
def test_a_start_that_breaks_a_hard_rule_is_left_out(start):
    solution = ilpinfer.decode(*given(), method="highs", start=start)
    assert (solution.status, solution.score) == ("optimal", 0.0)
    assert "no labelling to begin with" in solution.method and not solution.incumbents[:-1]


@pytest.mark.parametrize(
    ("status", "path", "bound", "expected"),
    [
        ("unknown", None, math.inf, 3 * 2**20),
        ("feasible", None, 2**21, 2**21),
        ("infeasible", None, -math.inf, 3 * 2**20),
        ("optimal", [0, 0, 0, 1], 0.0, 3 * 2**20),
    ],
)
def test_a_solver_that_finds_nothing_better_leaves_the_start(status, path, bound, expected, monkeypatch):
    """Claims that the start refutes are not believed."""
    reply = Reply(status, None if path is None else np.array(path), bound, Certificate("solver", "obedient"))
    monkeypatch.setattr(programs, "solve", lambda *arguments: reply)
    solution = ilpinfer.decode(*given(), method="cp-sat", start=["b"] * 4)
    assert (solution.status, solution.labels, solution.score) == ("feasible", ["b"] * 4, 0.0)
    assert solution.bound == expected / 2**20


def test_the_root_bound_proves_what_a_solver_leaves_open(monkeypatch):
    reply = Reply("unknown", None, math.inf, Certificate("solver", "obedient"))
    monkeypatch.setattr(programs, "solve", lambda *arguments: reply)
    trellis, rules = given()
    plain = ilpinfer.decode(trellis, rules, method="cp-sat", start=["b"] * 4)
    bounded = ilpinfer.decode(trellis, rules, method="cp-sat", start=["b"] * 4, root_bound=True)
    assert (plain.bound, bounded.bound) == (3.0, 0.0)
    assert (plain.status, bounded.status) == ("feasible", "optimal")
    verdict = ilpinfer.verify(trellis, rules, bounded)
    assert verdict.ok and verdict.proved


def test_the_root_bound_of_contradicting_rules_proves_it():
    trellis, rules = given()
    solution = ilpinfer.decode(trellis, [*rules, C.at_least_tokens("a", 2)], method="cbc", root_bound=True)
    assert solution.status == "infeasible"


def test_further_labellings_begin_without_a_start():
    solutions = ilpinfer.decode(*given(), method="cp-sat", start=["b"] * 4, top=3)
    assert ["begun with" in solution.method for solution in solutions] == [True, False, False]
    assert len({tuple(solution.labels) for solution in solutions}) == 3


def test_the_command_line_and_comparisons_take_them_behind_the_method():
    trellis, rules = given()
    solution = ilpinfer.decode(trellis, rules, method="cp-sat:start=beam:root_bound=true")
    assert solution.status == "optimal" and "begun with beam" in solution.method
