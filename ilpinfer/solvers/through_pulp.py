"""All solvers of PuLP, by their names in PuLP: `pulp:GUROBI`, `pulp:CPLEX_PY`."""

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from typing import TYPE_CHECKING, Any

from formulations.dtypes import Floats
from formulations.programs.record import IntegerProgram
from ilpinfer.core.methods import PULP
from ilpinfer.solvers.answer import SolverError, SolverOptionError
from ilpinfer.solvers.models import pulp_model, values_of

if TYPE_CHECKING:
    from pulp import LpSolver

PACKAGES = {
    "COPT": "coptpy",
    "CPLEX_PY": "cplex",
    "CUOPT": "cuopt",
    "CyLP": "cylp",
    "GUROBI": "gurobipy",
    "HiGHS": "highspy",
    "MOSEK": "mosek",
    "SCIP_PY": "pyscipopt",
    "XPRESS_PY": "xpress",
}
"""Python packages of PuLP's solvers."""
RESERVED = {"timeLimit": "time_limit", "threads": "threads", "logPath": "solver_log", "msg": "solver_log"}
GAP = 1e-12
"""Relative gap for solvers that support it; in PuLP, 0 means the solver's default."""


@dataclass(frozen=True)
class PulpSolver:
    name: str

    @classmethod
    def of(cls, method: str) -> "PulpSolver":
        """The solver of a method name such as `pulp:GUROBI`."""
        return cls(method.removeprefix(PULP))

    def __call__(
        self,
        program: IntegerProgram,
        *,
        time_limit: float | None,
        threads: int,
        log: str = "",
        **options: Any,
    ) -> tuple[Floats | None, float | None]:
        """Values, and their value as the bound if PuLP reports an optimum and the user set no gap."""
        import pulp

        problem, columns = pulp_model(program)
        solver = self.made(time_limit, threads, log, options)
        try:
            problem.solve(solver)
        except pulp.PulpError as error:
            raise SolverError(f"pulp:{self.name}: {error}") from error
        if problem.sol_status == pulp.LpSolutionInfeasible:
            return None, -inf
        values = values_of(columns)
        proved = problem.sol_status == pulp.LpSolutionOptimal and not {"gapRel", "gapAbs"} & options.keys()
        if values is None or not proved:
            return values, None
        return values, float(program.objective @ values) + (program.constant or 0)

    def made(
        self, time_limit: float | None, threads: int, log: str, options: Mapping[str, Any]
    ) -> "LpSolver":
        """PuLP's solver object; SolverOptionError for an option that it refuses, and for an unavailable solver."""
        import pulp

        for option in options:
            if option in RESERVED:
                raise SolverOptionError(
                    f"solver option {option!r} is set by {RESERVED[option]}; give that instead"
                )
        wanted = {
            "timeLimit": time_limit,
            "threads": threads if threads > 1 else None,
            "gapRel": GAP,
            "logPath": log or None,
        }
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            kind = type(pulp.getSolver(self.name, msg=False))
            known = inspect.signature(kind).parameters
            any_option = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
            ours = {key: x for key, x in wanted.items() if x is not None and (key in known or any_option)}
            try:
                solver = kind(msg=False, **{**ours, **options})
            except TypeError as error:
                raise SolverOptionError(
                    f"pulp:{self.name} does not accept the solver options {dict(options)}: {error}"
                ) from None
            available = solver.available()
        if not available:
            raise SolverOptionError(self._missing(solver, [str(each.message) for each in warned]))
        return solver

    def _missing(self, solver: "LpSolver", warned: list[str]) -> str:
        package, path = PACKAGES.get(self.name), getattr(solver, "path", None)
        why = "; ".join(warned) or "it gives no reason"
        if package and find_spec(package) is None:
            why = f"the Python package {package} is missing; install it, with its licence"
        elif path:
            why = f"the program {path} is missing; install it, or name it by the solver option path"
        return f"pulp:{self.name} is not available: {why}"
