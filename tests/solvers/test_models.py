"""Programs as models of PuLP, CP-SAT and MathOpt: the optimum of the engine, and its labelling read back."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.math_opt.python import mathopt
from ortools.sat.python import cp_model
from support.effort import examples
from support.processes import python
from support.strategies import NEAR_TIES, UNIT, problems
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis, formulate
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from ilpinfer.solvers import to_cp_sat, to_mathopt, to_pulp

CLOSE = st.one_of(problems(NEAR_TIES, longest=3), problems(longest=3))


def by_pulp(program):
    """Objective in nats and labels, None where there is no solution."""
    problem = to_pulp(program)
    if problem.solve() != 1:
        return None
    values = {variable.name: variable.varValue for variable in problem.variables()}
    assert round(problem.objective.value() * UNITS_PER_NAT) == round(program.value(values) * UNITS_PER_NAT)
    return program.value(values), program.labelling(values)


def by_cp_sat(program, units="nats"):
    model, solver = to_cp_sat(program, units=units), cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if units == "nats":
        solver.parameters.absolute_gap_limit = 0.0
    if solver.solve(model) != cp_model.OPTIMAL:
        return None
    columns = map(model.get_int_var_from_proto_index, range(program.n_columns))
    values = {column.name: solver.value(column) for column in columns}
    expected = program.value(values) * (1 if units == "nats" else UNITS_PER_NAT)
    assert solver.objective_value == pytest.approx(expected, rel=1e-12)
    return program.value(values), program.labelling(values)


def by_cp_sat_in_grid_units(program):
    """By a solver with its own settings."""
    return by_cp_sat(program, "grid")


def by_mathopt(program, solver=mathopt.SolverType.CP_SAT, units="nats"):
    model = to_mathopt(program, units=units)
    limits = mathopt.SolveParameters(time_limit=timedelta(minutes=1), threads=1)
    result = mathopt.solve(model, solver, params=limits)
    if result.termination.reason != mathopt.TerminationReason.OPTIMAL:
        return None
    values = {variable.name: value for variable, value in result.variable_values().items()}
    return program.value(values), program.labelling(values)


@pytest.mark.parametrize("solve", [by_pulp, by_cp_sat, by_cp_sat_in_grid_units])
@settings(max_examples=examples(40))
@given(problem=CLOSE, folded=st.booleans(), kind=st.sampled_from(["soft", "hard"]))
def test_models_have_the_optimum_of_the_engine_and_of_brute_force(solve, problem, folded, kind):
    program = formulate(*problem.given, program=kind, folded=folded)
    answer = solve(program)
    values = [units for units, y in problem.top() if kind == "soft" or not any(problem.violations(y))]
    assert (answer is None) == (not values)
    if answer is None:
        return
    score, labels = answer
    assert score * UNITS_PER_NAT == max(values)
    assert problem.trellis.score(labels) >= score
    if kind == "soft":
        best = ilpinfer.decode(*problem.given)
        assert (best.status, best.score) == ("optimal", score)


@pytest.mark.parametrize("solve", [by_pulp, by_cp_sat, by_mathopt])
def test_two_phase_and_second_order_programs(solve):
    rules = [
        C.at_most_runs("a", 1, penalty=0.3),
        C.requires_before("b", "a", penalty=0.2),
        C.starts_with("O"),
    ]
    for seed in range(3):
        trellis = random_trellis(seed, 4, order=2)
        assert solve(formulate(trellis, rules))[0] == ilpinfer.decode(trellis, rules).score
        two = ilpinfer.decode_two_phase(trellis, rules, 0.8)
        value, names = solve(formulate(trellis, rules, program="two-phase", tau=0.8))
        assert value == -two.penalty and trellis.score(names) >= two.floor


def ties():
    """A trellis whose best labelling is one grid unit better than 2 ** 12 - 1 others."""
    start, edges = np.full(2, -3.1), np.full((11, 2, 2), -2.7)
    edges[5, 1, 0] += UNIT
    return Trellis(start, edges, labels=["a", "O"])


def test_one_grid_unit_decides():
    program = formulate(ties(), [C.at_most_tokens("a", 6, penalty=0.5)])
    expected = ilpinfer.decode(ties(), [C.at_most_tokens("a", 6, penalty=0.5)]).score
    assert {by_pulp(program)[0], by_cp_sat(program)[0], by_mathopt(program, units="grid")[0]} == {expected}


def test_models_have_readable_names_and_sizes():
    program = formulate(ties(), [C.at_most_tokens("a", 6, penalty=0.5, name="six a")])
    problem, model, opt = to_pulp(program), to_cp_sat(program), to_mathopt(program)
    assert (
        {v.name for v in problem.variables()}
        == {v.name for v in opt.variables()}
        == set(program.file_columns)
    )
    assert [v.name for v in model.proto.variables] == list(program.file_columns)
    assert "sigma._qsix__a_q" in program.file_columns and "rule._qsix__a_q" in program.file_rows
    assert [c.name for c in opt.linear_constraints()] == list(program.file_rows)
    assert problem.numConstraints() == program.n_rows
    names = [c.name for c in model.proto.constraints]
    assert names == [*program.file_rows, *(f"one.{t}" for t in range(program.tokens))]
    assert model.validate() == ""


def test_the_canonical_and_standard_forms_are_models_too():
    rules = [C.between_runs("a", 1, 2, penalty=0.5), C.requires_before("O", "a", penalty=0.25)]
    program = formulate(ties(), rules)
    best = ilpinfer.decode(ties(), rules).score
    for form in (program.canonical(), program.standard()):
        assert by_pulp(form)[0] == by_cp_sat(form)[0] == best


@pytest.mark.parametrize("model_of", [to_pulp, to_cp_sat, to_mathopt])
def test_the_matrix_of_a_program_is_no_program(model_of):
    with pytest.raises(TypeError) as raised:
        model_of(formulate(ties(), []).integer)
    expected = "expected a Program from ilpinfer.formulate, not its part program.integer"
    assert str(raised.value) == f"program is of type IntegerProgram; {expected}"
    with pytest.raises(TypeError, match="program is of type NoneType; expected a Program from"):
        model_of(None)


def test_pulp_highspy_and_ortools_share_a_process():
    code = """
import pulp, highspy
from ortools.math_opt.python import mathopt
from formulations import Trellis, formulate
from ilpinfer.solvers import to_cp_sat, to_mathopt, to_pulp
program = formulate(Trellis([0.0, 1.5], [], labels=["a", "b"]))
problem, model = to_pulp(program), to_cp_sat(program)
problem.solve()
assert problem.objective.value() == 1.5
for solver in (mathopt.SolverType.HIGHS, mathopt.SolverType.GSCIP, mathopt.SolverType.CP_SAT):
    assert abs(mathopt.solve(to_mathopt(program), solver).objective_value() - 1.5) < 1e-9
solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
solver.addVariable(0, 5, obj=-1)
solver.run()
assert solver.getInfo().objective_function_value == -5
print("solved")
"""
    run = python("-c", code)
    assert "solved" in run.stdout, run.stderr
