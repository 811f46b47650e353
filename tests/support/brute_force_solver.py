"""A backend that tries every vector: an example to copy for a new solver."""

import time
from itertools import product
from math import inf

import numpy as np

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, Progress, Report

STATUS = {True: "optimal", False: "infeasible"}
"""From what this solver says of a finished search: whether there is a vector."""
VERSION = "brute force 1.0"


def solve(program: IntegerProgram, deadline: float, threads: int, report: Report) -> Claim:
    """Try every vector within the bounds of the columns."""
    best, value = None, -inf
    ranges = [range(low, high + 1) for low, high in zip(program.lower, program.upper, strict=True)]
    for numbers in product(*ranges):
        if time.monotonic() > deadline:
            return Claim("unknown" if best is None else "feasible", best, value, inf, VERSION, {})
        x = np.array(numbers, np.int64)
        if program.satisfied_by(x) and program.value(x) > value:
            best, value = x.astype(float), float(program.value(x))
            report(Progress(best))
    return Claim(STATUS[best is not None], best, None if best is None else value, value, VERSION, {})
