"""HiGHS, through highspy, whose callbacks report incumbents and bounds during the solve."""

from math import inf
from typing import Any

import highspy
import numpy as np

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import NO_CHOICES, Choices, Claim, Progress, Report, solver_seconds
from ilpinfer.system.solver_versions import VERSIONS

STATUS = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
}
VERSION = VERSIONS["highs"]()
OPTIONS = {
    "presolve": "off",
    "mip_rel_gap": 0.0,
    "mip_heuristic_run_feasibility_jump": False,  # takes a third of the time, without more proofs
}
RESERVED = {"time_limit": "time_limit", "threads": "threads", "output_flag": "solver_log"}


def solve(
    program: IntegerProgram,
    deadline: float,
    threads: int,
    report: Report,
    choices: Choices = NO_CHOICES,
) -> Claim:
    ours = {**OPTIONS, "output_flag": bool(choices.log), "threads": threads}
    options = choices.over(ours, RESERVED)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    _pass(program, solver)
    if deadline < inf:
        options["time_limit"] = solver_seconds(deadline, late=0.05)
    for name, value in options.items():
        _set(solver, name, value, choices)
    constant = program.constant or 0
    _watch(solver, report, constant)
    solver.run()
    status = STATUS.get(solver.getModelStatus(), "unknown")
    info = solver.getInfo()
    has_solution = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    return Claim(
        status=status,
        x=np.array(solver.getSolution().col_value) if has_solution else None,
        objective=constant - info.objective_function_value if has_solution else None,
        bound=_upper_bound(info.mip_dual_bound, constant) if info.mip_node_count >= 0 else inf,
        version=VERSION,
        settings=options,
    )


def _set(solver: highspy.Highs, name: str, value: Any, choices: Choices) -> None:
    known, default = solver.getOptionValue(name)
    if known != highspy.HighsStatus.kOk:
        names = [one for one in dir(solver.getOptions()) if not one.startswith("_")]
        raise choices.unknown("HiGHS", name, names)
    if isinstance(default, float) and isinstance(value, int):
        value = float(value)
    if solver.setOptionValue(name, value) != highspy.HighsStatus.kOk:
        raise choices.refused("HiGHS", name)


def _watch(solver: highspy.Highs, report: Report, constant: int) -> None:
    """Report each incumbent, and the bound at each point where HiGHS can be interrupted."""
    best = inf

    def tell_solution(event: Any) -> None:
        bound = _upper_bound(event.data_out.mip_dual_bound, constant)
        report(Progress(np.array(event.data_out.mip_solution), bound))

    def tell_bound(event: Any) -> None:
        nonlocal best
        bound = _upper_bound(event.data_out.mip_dual_bound, constant)
        if bound < best:
            best = bound
            report(Progress(None, bound))

    solver.cbMipImprovingSolution.subscribe(tell_solution)
    solver.cbMipInterrupt.subscribe(tell_bound)


def _upper_bound(dual: float, constant: int) -> float:
    """The upper bound on the objective from HiGHS's dual bound of the minimisation; HiGHS returns ±1e30 or ±inf without a bound."""
    return constant - dual if abs(dual) < 1e30 else inf


def _pass(program: IntegerProgram, solver: highspy.Highs) -> None:
    arguments: list[Any] = [
        program.n_columns,
        program.n_rows,
        len(program.data),
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        -program.objective.astype(float),
        program.lower.astype(float),
        program.upper.astype(float),
        *program.float_sides,
        program.indptr.astype(np.int32),
        program.indices.astype(np.int32),
        program.data.astype(float),
        np.full(program.n_columns, int(highspy.HighsVarType.kInteger), np.int32),
    ]
    if solver.passModel(*arguments) == highspy.HighsStatus.kError:
        raise ValueError("it refuses the program")
