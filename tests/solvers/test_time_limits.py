"""What is kept of a solver that has to be stopped, and what its next load costs."""

import os
import signal
from math import inf

import numpy as np
import pytest
from support.family import running, wait_until

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate
from ilpinfer.solvers import SOLVERS, SolverError, pool, solve
from ilpinfer.solvers.answer import Claim, Progress, check_claim, with_progress

NAME = "obedient"
LIMIT = 1.0
"""Seconds in which the backend says what it has to, and after which it is stopped."""


def program():
    trellis = Trellis([0.5, 0.25], [[[0.0, 1.0], [1.5, 0.0]]], labels=["a", "b"])
    return formulate(compile_problem(trellis, [C.at_most_runs("a", 1)])).soft()


@pytest.fixture
def order(tmp_path, monkeypatch):
    """Gives the backend its orders; its processes end with the test."""
    path = tmp_path / "orders"
    path.write_text("")
    monkeypatch.setenv("OBEDIENT_SOLVER", str(path))
    monkeypatch.setitem(SOLVERS, NAME, "support.obedient_solver")

    def give(words=""):
        path.with_name("new").write_text(words)
        path.with_name("new").replace(path)

    yield give
    for worker in pool._idle.pop(NAME, []):
        worker.end()


def process_of():
    (worker,) = pool._idle[NAME]
    return worker.process.pid


def test_a_stopped_solver_leaves_its_incumbent_and_its_bound(order):
    best = solve(NAME, program())
    assert best.status == "optimal"
    order("tells waits")
    stopped = solve(NAME, program(), time_limit=LIMIT)
    assert (stopped.status, stopped.settings) == ("feasible", {"stopped": True})
    assert np.array_equal(stopped.x, best.x)
    assert 2**30 <= stopped.bound <= 2**30 + 2


def test_the_next_call_does_not_load_the_solver_again(order):
    solve(NAME, program())
    first = process_of()
    order("waits")
    for _ in range(2):
        answer = solve(NAME, program(), time_limit=LIMIT)
        assert (answer.status, answer.x, answer.bound) == ("unknown", None, inf)
    order("tells ")
    answer = solve(NAME, program())
    assert answer.status == "optimal"
    assert process_of() == first


def test_a_vector_that_breaks_a_row_is_not_kept(order):
    order("lies waits")
    answer = solve(NAME, program(), time_limit=LIMIT)
    assert (answer.status, answer.x) == ("unknown", None)


def test_what_a_stopped_solver_started_ends_with_it(order, tmp_path):
    solve(NAME, program())
    order("starts waits")
    child = tmp_path / "child"
    solve(NAME, program(), time_limit=LIMIT)
    wait_until(lambda: not running(int(child.read_text())))
    assert not running(int(child.read_text()))


def test_a_crash_of_one_request_is_an_error(order):
    solve(NAME, program())
    order("crashes starts")
    with pytest.raises(SolverError, match="obedient: its process ended with code 7; try again"):
        solve(NAME, program())
    order("tells")
    answer = solve(NAME, program())
    assert answer.status == "optimal"


def test_a_process_killed_between_calls_is_replaced_and_the_wait_is_not_excused(order):
    solve(NAME, program())
    os.kill(process_of(), signal.SIGKILL)
    pool._idle[NAME][0].process.wait()
    answer = solve(NAME, program())
    assert answer.status == "optimal"


def test_a_load_that_takes_longer_than_the_limit_goes_on_behind_it(order):
    solve(NAME, program())
    os.kill(process_of(), signal.SIGKILL)
    pool._idle[NAME][0].process.wait()
    order("load-waits")
    answers = [solve(NAME, program(), time_limit=0.05) for _ in range(2)]
    assert {(answer.status, answer.bound) for answer in answers} == {("unknown", inf)}
    loading = process_of()
    order("tells")
    assert solve(NAME, program()).status == "optimal"
    assert process_of() == loading


def test_a_process_that_does_not_stop_is_replaced_at_once(order, monkeypatch):
    solve(NAME, program())
    first = process_of()
    order("waits")
    os.kill(first, signal.SIGSTOP)
    monkeypatch.setattr(pool, "STOP_LIMIT", 0.1)
    answer = solve(NAME, program(), time_limit=LIMIT)
    assert (answer.status, answer.settings) == ("unknown", {"killed": True})
    assert process_of() != first
    assert not running(first)


@pytest.mark.parametrize("again", [False, True])
def test_a_load_in_the_background_that_fails(order, again, monkeypatch):
    """The next call tries once more, and says why where that fails, too."""
    solve(NAME, program())
    order("load-fails")
    os.kill(process_of(), signal.SIGSTOP)
    monkeypatch.setattr(pool, "STOP_LIMIT", 0.1)
    assert solve(NAME, program(), time_limit=0.05).settings == {"killed": True}
    wait_until(lambda: not pool._idle[NAME][0].alive)
    if again:
        with pytest.raises(SolverError, match=r"obedient: its process ended .*as ordered"):
            solve(NAME, program())
    order("tells")
    answer = solve(NAME, program())
    assert answer.status == "optimal"


def test_what_was_told_before_a_claim_counts():
    small = program()
    best = solve("cp-sat", small)
    lost = Claim("unknown", None, None, inf, "", {})
    wrong = Claim("infeasible", None, None, -inf, "", {})
    told = Progress(best.x, best.bound + 3)
    for claim in (lost, wrong):
        status, x, _ = check_claim(with_progress(claim, told, small), small)
        assert status == "feasible"
        assert np.array_equal(x, best.x)
    assert with_progress(lost, told, small).bound == best.bound + 3
    assert with_progress(lost, Progress(), small) == lost


@pytest.mark.parametrize("method", ["cbc", "cp-sat", "highs", "scip"])
def test_a_limit_that_passes_while_the_program_is_stated_leaves_the_bound_of_the_scores(method):
    trellis = Trellis(np.zeros(3), np.ones((40, 3, 3)), labels=["a", "b", "O"])
    solution = ilpinfer.decode(trellis, [C.at_most_runs("a", 1)], method=method, time_limit=1e-9)
    assert (solution.status, solution.has_labelling) == ("unknown", False)
    assert solution.bound in (inf, 40.0)
