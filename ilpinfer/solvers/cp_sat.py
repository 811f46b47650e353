"""CP-SAT, through OR-tools, with integer coefficients throughout."""

import json
from collections.abc import Mapping
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from ortools.sat.python.cp_model_helper import (
    CpModelProto,
    CpSolverStatus,
    SatParameters,
    SolutionCallback,
    SolveWrapper,
)

from formulations.programs.record import IntegerProgram, smallest_program
from ilpinfer.solvers.answer import NO_CHOICES, Choices, Claim, Progress, Report, solver_seconds
from ilpinfer.system.solver_versions import VERSIONS

STATUS = {
    CpSolverStatus.OPTIMAL: "optimal",
    CpSolverStatus.FEASIBLE: "feasible",
    CpSolverStatus.INFEASIBLE: "infeasible",
}
VERSION = VERSIONS["cp-sat"]()
PARAMETERS = {
    "cp_model_probing_level": 0,
    "symmetry_level": 0,
    "cp_model_presolve": False,
    "add_lp_constraints_lazily": False,
    "root_lp_iterations": 100_000,
}
RESERVED = {
    "max_time_in_seconds": "time_limit",
    "num_workers": "threads",
    "num_search_workers": "threads",
    "log_search_progress": "solver_log",
}


class _Solutions(SolutionCallback):
    def __init__(self, report: Report, constant: int) -> None:
        super().__init__()
        self._report, self._constant = report, constant

    def OnSolutionCallback(self) -> None:  # noqa: N802
        response: Any = self.Response()  # type: ignore[no-untyped-call]
        bound = -float(response.inner_objective_lower_bound)
        bound = bound + self._constant if bound != 0 else inf
        self._report(Progress(np.array(response.solution, np.int64), bound))


def load() -> None:
    """Solve the smallest program, since CP-SAT loads libraries at the first solve."""
    solve(smallest_program(), inf, 1, lambda progress: None)


def solve(
    program: IntegerProgram,
    deadline: float,
    threads: int,
    report: Report,
    choices: Choices = NO_CHOICES,
) -> Claim:
    ours = {**PARAMETERS, "num_workers": threads, "log_search_progress": bool(choices.log) or None}
    settings = choices.over(ours, RESERVED)
    model = model_of(program)
    if deadline < inf:
        settings["max_time_in_seconds"] = solver_seconds(deadline, late=0.03)
    solver: Any = SolveWrapper()
    solver.set_parameters(_parameters(settings, choices))
    constant = program.constant or 0
    solutions = _Solutions(report, constant)  # must live as long as the solver
    solver.add_solution_callback(solutions)
    solver.add_best_bound_callback(lambda bound: report(Progress(bound=bound + constant)))
    response = solver.solve(model)
    if response.status == CpSolverStatus.MODEL_INVALID:
        raise ValueError(f"it refuses the program: {response.solution_info}")
    status = STATUS.get(response.status, "unknown")
    has_solution = status in ("optimal", "feasible")
    bound = -float(response.inner_objective_lower_bound)
    return Claim(
        status=status,
        x=np.array(response.solution, float) if has_solution else None,
        objective=response.objective_value + constant if has_solution else None,
        bound=bound + constant if has_solution or bound != 0 else inf,  # 0 also means "not set"
        version=VERSION,
        settings=settings,
    )


def _parameters(settings: Mapping[str, Any], choices: Choices) -> SatParameters:
    """CP-SAT parameters from settings: enumerations by the names of their values, repeated fields as lists."""
    lines = []
    names = [name for name in dir(SatParameters) if name.islower() and not name.startswith(("_", "clear_"))]
    for name, value in settings.items():
        if name not in names:
            raise choices.unknown("CP-SAT", name, names)
        values = value if isinstance(value, list | tuple) else [value]
        texts = [
            "\n".join(f"{name}: {json.dumps(one)}" for one in values),
            "\n".join(f"{name}: {one}" for one in values),
        ]
        read = next((text for text in texts if SatParameters().parse_text_format(text)), None)
        if read is None:
            raise choices.refused("CP-SAT", name)
        lines.append(read)
    result = SatParameters()
    result.parse_text_format("\n".join(lines))
    return result


def model_of(program: IntegerProgram) -> CpModelProto:
    """The CP-SAT model: minimise the negated objective in grid units, without the constant."""
    model = CpModelProto()
    boxes = list(zip(program.lower.tolist(), program.upper.tolist(), strict=True))
    shelf = CpModelProto()
    kinds = {box: shelf.variables.add() for box in set(boxes)}
    for box, variable in kinds.items():
        variable.domain.extend(box)
    model.variables.extend([kinds[box] for box in boxes])
    objective = np.flatnonzero(program.objective)
    model.objective.vars.extend(objective.tolist())
    model.objective.coeffs.extend((-program.objective[objective]).tolist())
    model.objective.scaling_factor = -1.0
    columns, weights, ends = program.indices.tolist(), program.data.tolist(), program.indptr.tolist()
    if program.start is not None:
        hinted = np.flatnonzero(program.start >= 0)
        model.solution_hint.vars.extend(hinted.tolist())
        model.solution_hint.values.extend(program.start[hinted].tolist())
    rows = zip(pairwise(ends), program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
    for (first, last), lower, upper in rows:
        linear = model.constraints.add().linear
        linear.vars.extend(columns[first:last])
        linear.coeffs.extend(weights[first:last])
        linear.domain.extend([lower, upper])
    return model
