"""HiGHS, through `scipy.optimize.milp`."""

from math import inf

import numpy as np
import scipy
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from formulations.programs.record import UNBOUNDED, IntegerProgram
from ilpinfer.solvers.answer import Claim
from ilpinfer.solvers.time_limits import solver_seconds

STATUS = {0: "optimal", 1: "unknown", 2: "infeasible", 3: "unknown", 4: "unknown"}
VERSION = f"HiGHS (scipy {scipy.__version__})"


def solve(program: IntegerProgram, deadline: float, threads: int) -> Claim:
    """Solve in this process; it cannot be interrupted."""
    options: dict[str, float] = {"mip_rel_gap": 0.0, "presolve": False}
    shape = (program.n_rows, program.n_columns)
    matrix = csr_matrix((program.data.astype(float), program.indices, program.indptr), shape)
    lower = np.where(program.row_lower == -UNBOUNDED, -inf, program.row_lower)
    upper = np.where(program.row_upper == UNBOUNDED, inf, program.row_upper)
    if deadline < inf:
        options["time_limit"] = solver_seconds(deadline, late=0.35)
    result = milp(
        -program.objective.astype(float),
        integrality=np.ones(program.n_columns),
        bounds=Bounds(program.lower, program.upper),
        constraints=LinearConstraint(matrix, lower, upper),
        options=options,
    )
    dual = result.get("mip_dual_bound")
    return Claim(
        status=STATUS[result.status],
        x=result.x,
        objective=None if result.x is None else -result.fun,
        bound=inf if dual is None else -dual,
        version=VERSION,
        settings=options,
    )
