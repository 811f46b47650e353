"""SCIP, through OR-tools' model builder."""

from math import inf
from typing import Any

import numpy as np
from ortools.linear_solver.python.model_builder_helper import (
    ModelBuilderHelper,
    ModelSolverHelper,
    SolveStatus,
)
from scipy.sparse import csr_matrix

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import (
    NO_CHOICES,
    Choices,
    Claim,
    Report,
    SolverOptionError,
    check_claim,
    solver_seconds,
)
from ilpinfer.system.solver_versions import VERSIONS

STATUS = {
    SolveStatus.OPTIMAL: "optimal",
    SolveStatus.FEASIBLE: "feasible",
    SolveStatus.INFEASIBLE: "infeasible",
}
VERSION = VERSIONS["scip"]()
PARAMETERS = {
    "limits/gap": "0",
    "limits/absgap": "0",
    "numerics/feastol": "1e-9",
    "presolving/maxrounds": "0",
    "separating/maxroundsroot": "0",
    "separating/maxrounds": "0",
}
"""Settings of SCIP. Presolving a path program takes 100 times as long as solving it. Rows of scores have
coefficients of 2^24, where the default tolerance of 1e-6 amounts to whole units."""
RESERVED = {"limits/time": "time_limit"}


def solve(
    program: IntegerProgram,
    deadline: float,
    threads: int,
    report: Report,
    choices: Choices = NO_CHOICES,
) -> Claim:
    """Solve on one thread, without reports: OR-tools has no callbacks for SCIP."""
    claim = _solve(program, deadline, PARAMETERS, choices)
    if deadline == inf and check_claim(claim, program)[0] == "unknown":  # invalid, or a row is broken
        exact = {name: value for name, value in PARAMETERS.items() if name.startswith(("limits", "numerics"))}
        return _solve(program, deadline, exact, choices)
    return claim


def _solve(program: IntegerProgram, deadline: float, ours: dict[str, str], choices: Choices) -> Claim:
    settings = choices.over(ours, RESERVED)
    solver = ModelSolverHelper("scip")
    solver.enable_output(bool(choices.log))
    solver.set_solver_specific_parameters(
        "".join(f"{name} = {_text(value)}\n" for name, value in settings.items())
    )
    model = _model(program)
    if deadline < inf:
        settings["time_limit"] = solver_seconds(deadline, late=0.3)
        solver.set_time_limit_in_seconds(settings["time_limit"])
    solver.solve(model)
    if solver.status() == SolveStatus.INVALID_SOLVER_PARAMETERS:
        raise SolverOptionError(
            f"SCIP refuses the solver options {dict(choices.options)}: {solver.status_string()}"
        )
    if solver.status() == SolveStatus.MODEL_INVALID:
        raise ValueError(f"it refuses the program: {solver.status_string()}")
    has_solution, constant = solver.has_solution(), program.constant or 0
    return Claim(
        status=STATUS.get(solver.status(), "unknown"),
        x=np.asarray(solver.variable_values()) if has_solution else None,
        objective=solver.objective_value() + constant if has_solution else None,
        bound=solver.best_objective_bound() + constant
        if has_solution
        else inf,  # without a solution it returns 0
        version=VERSION,
        settings=settings,
    )


def _text(value: Any) -> str:
    return str(value).upper() if isinstance(value, bool) else " ".join(str(value).split())


def _model(program: IntegerProgram) -> ModelBuilderHelper:
    entries = program.data.astype(float), program.indices, program.indptr
    arrays: list[Any] = [
        program.lower.astype(float),
        program.upper.astype(float),
        program.objective.astype(float),
        *program.float_sides,
        csr_matrix(entries, (program.n_rows, program.n_columns)),
    ]
    model = ModelBuilderHelper()
    model.fill_model_from_sparse_data(*arrays)
    for column in range(program.n_columns):
        model.set_var_integrality(column, True)
    model.set_maximize(True)
    return model
