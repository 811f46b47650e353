"""Problems without their scores."""

import numpy as np

from formulations.compiled.lattice import Lattice
from formulations.compiled.problem import Problem
from formulations.grid import FORBIDDEN, is_forbidden


def without_scores(problem: Problem) -> Problem:
    """The problem with every score 0, or forbidden where it was, and no rules."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, (), problem.labels)
