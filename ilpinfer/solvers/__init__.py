"""Integer-program solvers with one interface. A solver is imported when it is first used.

A solver is a module of this folder. Its name is the name in `ilpinfer.core.methods`, with underscores for hyphens. It has

- `VERSION`, a text: the solver, its version, and the package that contains it;
- `solve(program, deadline, threads, report, choices=NO_CHOICES) -> Claim`: maximise `program.value` over integer vectors `x` with
  `lower <= x <= upper` and `row_lower <= A x <= row_upper`, A in compressed rows. `deadline` is a time of `time.monotonic()`, or
  inf. `report(Progress(x, bound))` may be called with each better vector or bound; they are kept if the solver is killed.
  `choices` are a user's options, passed if there are any; the output of the solver goes to the user's log;
- optionally `load()`, which loads what the solver otherwise loads at the first solve.

`solve` runs in a fork of a process that imported the module and called `load`; these must not start threads. The fork is killed
shortly after the deadline. Claims are checked in exact integers; an exception becomes a `SolverError` in the caller.
`tests/support/brute_force_solver.py` is an example to copy.
"""

import time
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from formulations.programs.record import IntegerProgram, smallest_program
from ilpinfer.core.methods import BUILT_IN, WHOLE_PROGRAM
from ilpinfer.solvers.answer import (
    Answer,
    Choices,
    Claim,
    SolverError,
    SolverOptionError,
    check_claim,
)
from ilpinfer.solvers.models import to_cp_sat, to_mathopt, to_pulp
from ilpinfer.solvers.solution_files import SolutionFile, read_solution_file
from ilpinfer.system.posix import require_posix

__all__ = [
    "SOLVERS",
    "Answer",
    "SolutionFile",
    "SolverError",
    "SolverOptionError",
    "read_solution_file",
    "solve",
    "to_cp_sat",
    "to_mathopt",
    "to_pulp",
]

SOLVERS = {
    method.name: f"ilpinfer.solvers.{method.name.replace('-', '_')}"
    for method in BUILT_IN
    if method.runner == WHOLE_PROGRAM
}
"""The module of each solver, by name."""


def solve(
    name: str,
    program: IntegerProgram,
    *,
    time_limit: float | None = None,
    threads: int = 1,
    options: Mapping[str, Any] | None = None,
    log: str = "",
) -> Answer:
    """Solve a program and check the answer in exact integers.

    Parameters
    ----------
    name : str
        Name of a solver, a key of `SOLVERS`.
    program : IntegerProgram
        The program, whose objective is maximised.
    time_limit : float, optional
        Time limit in seconds, including the start of the solver. None for no limit.
    threads : int, default 1
        Number of threads, for solvers that support it.
    options : mapping of str to object, optional
        Options by the solver's own names; they replace the toolkit's settings. None is the solver's default.
    log : str, default ""
        A file to which the output of the solver is appended.

    Returns
    -------
    Answer
        The answer, after an exact check.

    Raises
    ------
    SolverError
        If the solver cannot be started or breaks down.
    RuntimeError
        On systems other than POSIX.
    ValueError
        For an unknown solver, and for an option that the solver refuses.

    Examples
    --------
    >>> from ilpinfer import Trellis, formulate
    >>> program = formulate(Trellis([0.0, -1.0], [], labels=["a", "b"]))
    >>> solve("highs", program.integer).status
    'optimal'
    """
    if name not in SOLVERS:
        raise ValueError(f'no solver "{name}"; choose from {", ".join(sorted(SOLVERS))}')
    return watched(name, program, time_limit, threads, Choices(options or {}, log))


def watched(
    name: str,
    program: IntegerProgram,
    time_limit: float | None,
    threads: int,
    choices: Choices,
    heard: Callable[[Answer], None] | None = None,
) -> Answer:
    """As `solve`; `heard` gets each better answer during the solve. If it raises an error, the solver is stopped."""
    require_posix(f"solver {name}", "run it on such a system")
    program = program.shifted()

    def answer(claim: Claim) -> Answer:
        return Answer(*check_claim(claim, program, gaps=bool(choices.options)), claim.version, claim.settings)

    def reported(claim: Claim) -> None:
        if heard is not None:
            heard(answer(claim))

    result = answer(_claim(name, program, time_limit, threads, choices, reported))
    if result.status == "unknown" and time_limit is None and not choices.options:
        raise SolverError(f"{name}: ended without a labelling or a reason; try another solver")
    return result


def start(name: str, *, wait: bool = False) -> None:
    """Start the process of a solver, so that its start does not count for the time limit of a later call; with `wait`, SolverError if it fails."""
    from ilpinfer.solvers import pool

    pool.start(name, SOLVERS[name])
    if wait:
        with pool.borrow_worker(name, SOLVERS[name], inf):
            pass


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raise SolverOptionError for options that a solver refuses on the smallest program."""
    solve(name, smallest_program(), options=options)


def _claim(
    name: str,
    program: IntegerProgram,
    time_limit: float | None,
    threads: int,
    choices: Choices,
    heard: Callable[[Claim], None],
) -> Claim:
    if time_limit is not None and time_limit <= 0:
        return Claim("unknown", None, None, inf, name, {"time_limit": time_limit})
    deadline = inf if time_limit is None else time.monotonic() + time_limit
    from ilpinfer.solvers import pool

    with pool.borrow_worker(name, SOLVERS[name], deadline) as worker:
        if worker is None:
            return Claim("unknown", None, None, inf, name, {"no time": "to load the solver"})
        return worker.solve(program, deadline, threads, choices, heard)
