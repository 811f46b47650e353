"""Time limits of the engine: calls without a clock get less work, and what is known when time runs out is kept."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.request import Request
from ilpinfer.core.result import Start, Task
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.core.trees import Leaf
from ilpinfer.decoding import chunks
from ilpinfer.decoding.reporting import run_task
from ilpinfer.decoding.runner import context_of
from ilpinfer.exact import engine, kernel_stage, solver
from ilpinfer.exact.auto import auto
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.limits import KERNEL_SHARE, STEPS_PER_SECOND
from ilpinfer.exact.relaxation import cells_within
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State
from ilpinfer.kernels.native import kernels


def problem(T=6):
    return random_trellis(0, T), [C.at_most_runs("a", 1, penalty=0.25), C.exactly_tokens("b", 2, penalty=0.5)]


class Given(Exception):
    """What the kernels are given."""


@pytest.mark.parametrize("limit", [None, 1e-3, 0.2])
def test_the_kernels_have_a_share_of_the_time_that_is_left(limit, monkeypatch):
    def solve(*arguments):
        raise Given(arguments[2])

    monkeypatch.setattr(kernel_stage, "kernels", SimpleNamespace(solve=solve))
    state, T = State.of(GroundProblem.of(compile_problem(*problem()), Deadline(limit))), 6
    with pytest.raises(Given) as told:
        kernel_stage.by_kernels(state)
    ((token, least, _),) = told.value.args
    most = np.inf if limit is None else limit * STEPS_PER_SECOND * KERNEL_SHARE
    assert max(token * T, least) <= most
    assert limit is not None or token > 0


def late(*arguments, **options):
    raise OutOfTime


@pytest.mark.parametrize("name", ["beams", "decomposition", "kernels", "solver"])
def test_time_that_runs_out_leaves_labelling_and_bound(name, monkeypatch):
    incumbent = ilpinfer.decode(*problem()).ids
    stages = {stage.name: stage._replace(improve=lambda state: state) for stage in engine.STAGES}
    stages[name] = stages[name]._replace(improve=late, applies=lambda state: True)
    monkeypatch.setattr(engine.best, "__defaults__", (tuple(stages.values()),))
    monkeypatch.setattr(solver, "formulate", late)
    task = Task(Deadline(60.0), start=Start(incumbent, 2.0**31, Leaf()))
    (result,) = auto(compile_problem(*problem()), task, "auto")
    assert np.array_equal(result.path, incumbent)
    assert result.bound == 2**31 and result.certificate.kind == "exact"
    assert "no time left" in result.method


def test_what_a_stage_has_reported_remains_where_time_runs_out_within_it():
    state = State.of(GroundProblem.of(compile_problem(*problem()), Deadline()))
    first, best = (ilpinfer.decode(problem()[0], rules).ids for rules in ((), problem()[1]))

    def reports(given):
        late(given.with_labellings([first, best]).proved(2.0**31, Leaf()))

    after = Stage("one", lambda state: True, reports).run(state)
    assert np.array_equal(after.path, best) and after.bound == 2**31 and not after.closed
    assert after.words == "no time left" and list(after.seconds) == ["one"]
    assert state.path is None, "states do not change"


def test_a_limit_that_passes_before_the_method_begins_leaves_what_is_known():
    trellis, rules = problem()
    incumbent = ilpinfer.decode(trellis, rules).ids
    request = Request.of("auto", 1e-9, {})
    task = replace(request.task(), start=Start(incumbent, 2.0**31, Leaf()))
    (solution,) = run_task(context_of(trellis, compiler_of(rules)), request.method, task)
    assert solution.bound == 2048 and solution.certificate.kind == "exact"
    assert not solution.has_labelling or np.array_equal(solution.ids, incumbent)


def test_products_are_smaller_where_a_limit_is_near():
    sizes = [cells_within(kernels.MOST_CELLS, 60, Deadline(limit)) for limit in (None, 1.0, 0.01)]
    assert sizes[0] > sizes[1] > sizes[2]
    assert kernels.MOST_CELLS - sizes[0] < 60


def test_the_bound_of_the_kernels_stays_where_time_ends_while_further_rules_are_stated(monkeypatch):
    scores = np.random.default_rng(0).normal(size=(8, 3))
    trellis = Trellis.from_emissions(scores, np.zeros((3, 3)), labels=["a", "b", "O"], tokens=["w"] * 8)
    rules = [*problem()[1], C.at_most_in_window("a", 1, width=2, penalty=1.0)]
    monkeypatch.setattr(chunks, "left_out", late)
    monkeypatch.setattr(RuleCompiler, "problem", late)
    solution = ilpinfer.decode(trellis, rules, time_limit=60)
    monkeypatch.undo()
    assert solution.bound == ilpinfer.decode(trellis, rules[:-1]).bound
    assert ilpinfer.verify(trellis, rules, solution).ok
