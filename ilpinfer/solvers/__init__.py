"""Integer-program solvers behind one call; nothing heavy is imported before a solver is asked for."""

import time
from math import inf

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Answer, Claim, SolverError, checked

__all__ = ["SOLVERS", "Answer", "SolverError", "solve"]

SOLVERS = {
    "cbc": "ilpinfer.solvers.cbc",
    "cp-sat": "ilpinfer.solvers.cp_sat",
    "highs": "ilpinfer.solvers.highs",
    "scip": "ilpinfer.solvers.scip",
}
"""Name of a solver -> module with `solve(program, deadline, threads) -> Claim` and `VERSION`, which runs in a worker."""


def solve(name: str, program: IntegerProgram, *, time_limit: float | None = None, threads: int = 1) -> Answer:
    """Solve a program and check the answer in exact integers.

    Parameters
    ----------
    name : a key of SOLVERS
    program : what to maximise
    time_limit : seconds, without the time to start and load the solver the first time; None for no limit
    threads : threads of the solver, where it has any

    Raises
    ------
    SolverError : the solver could not be started or broke down
    """
    if name not in SOLVERS:
        raise ValueError(f'no solver "{name}"; there are {", ".join(sorted(SOLVERS))}')
    started = time.monotonic()
    claim, warm_up = _claim(name, program, time_limit, threads)
    status, x, bound = checked(claim, program)
    if status == "unknown" and time_limit is None:
        raise SolverError(f"{name}: gave up without a labelling or a reason; try another solver")
    seconds = time.monotonic() - started - warm_up
    return Answer(status, x, bound, claim.version, claim.settings, seconds, warm_up)


def _claim(name: str, program: IntegerProgram, time_limit: float | None, threads: int) -> tuple[Claim, float]:
    """The solver's claim and the seconds that it took to load it."""
    if time_limit is not None and time_limit <= 0:
        return Claim("unknown", None, None, inf, name, {"time_limit": time_limit}), 0.0
    started = time.monotonic()
    from ilpinfer.solvers import pool

    with pool.borrowed(name) as worker:
        warm_up = time.monotonic() - started
        return worker.solve(program, inf if time_limit is None else time_limit, threads), warm_up
