"""Users' solvers and PuLP's solvers: calls in this process, and checks of their results."""

import inspect
from collections.abc import Mapping
from math import floor, inf
from typing import Any

import numpy as np

from formulations.messages import brief
from formulations.programs.record import IntegerProgram
from ilpinfer.core.methods import Function
from ilpinfer.solvers.answer import Answer, Choices, SolverError, SolverOptionError, exact_solution
from ilpinfer.solvers.through_pulp import PulpSolver

RESERVED = ("program", "time_limit", "threads", "log")


def check(name: str, solver: Function, options: Mapping[str, Any]) -> None:
    """Raise SolverOptionError for options that the solver refuses, and for an unavailable solver of PuLP."""
    for option in options:
        if option in RESERVED:
            raise SolverOptionError(
                f"solver option {option!r} is reserved for an argument of solvers; choose another name"
            )
    try:
        inspect.signature(solver).bind(None, time_limit=None, threads=1, **options)
    except TypeError as error:
        raise SolverOptionError(
            f"{name} does not accept the solver options {dict(options)}: {error}"
        ) from None
    if isinstance(solver, PulpSolver):
        solver.made(None, 1, "", options)


def solve(
    name: str,
    solver: Function,
    program: IntegerProgram,
    time_limit: float | None,
    threads: int,
    choices: Choices,
) -> Answer:
    """The checked answer of a solver; SolverError for an inconsistent answer."""
    check(name, solver, choices.options)
    settings = dict(choices.options)
    if time_limit is not None and time_limit <= 0:
        return Answer("unknown", None, inf, name, settings)
    log = {"log": choices.log} if choices.log else {}
    given = solver(program, time_limit=time_limit, threads=threads, **log, **choices.options)
    try:
        values, bound = given
        values = None if values is None else np.asarray(values, float)
        bound = inf if bound is None else float(bound)
    except (TypeError, ValueError):
        raise SolverError(f"{name} returned {brief(given)}; expected values and a bound") from None
    if np.isnan(bound):
        raise SolverError(f"{name}: its bound is not a number; return None for no bound")
    if values is None:
        status = "infeasible" if bound == -inf else "unknown"
        return Answer(status, None, bound, name, settings)
    x = exact_solution(values, program)
    if x is None:
        raise SolverError(
            f"{name}: its values are not {program.n_columns} numbers that satisfy all rows and bounds"
        )
    value = program.value(x)
    slack = max(1.0, 1e-9 * abs(value - (program.constant or 0)))
    if bound < value - slack:
        raise below(name, bound, value)
    bound = max(float(floor(bound)) if bound < inf else inf, float(value))
    return Answer("optimal" if bound == value else "feasible", x, bound, name, settings)


def below(name: str, bound: float, value: float) -> SolverError:
    return SolverError(
        f"{name}: its bound of {bound:.15g} grid units is below {value:.15g}, the score of its own values"
    )
