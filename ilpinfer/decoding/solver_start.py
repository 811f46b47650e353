"""Start of the solver that a request names, and import of the library for linear relaxations."""

from contextlib import suppress

from ilpinfer.core.methods import OUTSIDE_PROGRAM, WHOLE_PROGRAM
from ilpinfer.core.request import Request
from ilpinfer.exact.limits import IMPORT_SECONDS


def start_solver(request: Request, *, wait: bool) -> None:
    """Start the process of a request's solver, so that its start does not count in the time limit of the first sequence.

    If it waits, it also imports the library of linear relaxations, for which a short limit leaves no time, and checks the solver's
    options: SolverOptionError comes before any sequence. A user's solver and one of PuLP run in this process: there is nothing to start.
    """
    if wait and request.direct and request.time_limit is not None and request.time_limit < IMPORT_SECONDS:
        import scipy.optimize  # noqa: F401
    options = getattr(request.settings["parameters"], "solver_options", None)
    if request.method.runner == WHOLE_PROGRAM:
        from ilpinfer import solvers

        with suppress(solvers.SolverError):  # the first call raises it, with its position
            solvers.start(request.method.name, wait=wait)
            if wait and options:
                solvers.check_options(request.method.name, options)
    elif request.method.runner == OUTSIDE_PROGRAM:
        from ilpinfer.solvers import outside
        from ilpinfer.solvers.through_pulp import PulpSolver

        name, solver = request.method.name, request.method.solver
        outside.check(name, solver or PulpSolver.of(name), options or {})
