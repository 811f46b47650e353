"""Compilation of all kernels."""

from contextlib import suppress
from importlib import import_module

from ilpinfer.core.methods import BUILT_IN, WHOLE_PROGRAM
from ilpinfer.core.request import Request
from ilpinfer.kernels.warming import STAGES, Stage

MODULES = ("ilpinfer.exact.compiled", "ilpinfer.exact.product")
"""Modules with stages, beside those that the methods import."""


EXACT = (*MODULES, "ilpinfer.exact.auto")
"""Modules that import all stages of the certifying engine, of lists and of marginals."""
SEARCHES = "ilpinfer.search."
"""Begin of the modules of searches, which warm what they need when they begin."""


def exact_stages() -> list[Stage]:
    """The stages without those of searches."""
    for name in EXACT:
        import_module(name)
    return [stage for stage in STAGES if not stage.module.startswith(SEARCHES)]


def stages() -> list[Stage]:
    """The stages of all methods, of compiled rules and of marginals."""
    for name in (*MODULES, *(method.runner.partition(":")[0] for method in BUILT_IN)):
        import_module(name)
    return STAGES


def start_solver(request: Request, *, wait: bool) -> None:
    """Start the process of a request's solver, which else counts in the time limit of the first sequence.

    Where it waits for that, it checks the solver's options too, and raises SolverOptionError before any sequence.
    """
    if request.method.runner == WHOLE_PROGRAM:
        from ilpinfer import solvers

        options = getattr(request.settings["parameters"], "solver_options", None)
        with suppress(solvers.SolverError):  # the first call raises it, with its place
            solvers.start(request.method.name, wait=wait)
            if wait and options:
                solvers.check_options(request.method.name, options)


def warm_up() -> float:
    """Compile or load all kernels now instead of in the first call.

    Returns
    -------
    float
        Wall time in seconds.

    Examples
    --------
    >>> import ilpinfer
    >>> ilpinfer.warm_up() >= 0
    True
    """
    return sum(stage.warm() for stage in stages())
