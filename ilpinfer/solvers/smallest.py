"""The smallest program, for solvers that load libraries at the first solve."""

import numpy as np

from formulations.programs.record import IntegerProgram


def smallest_program() -> IntegerProgram:
    """One token, one label."""
    one, both = np.ones(1, np.int64), np.ones(2, np.int64)
    entries = np.array([0, 1]), np.array([0])
    return IntegerProgram(1, 1, both, 0 * both, both, *entries, one, one, one)
