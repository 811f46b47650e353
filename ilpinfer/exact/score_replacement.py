"""Problems with other scores: none, or random ones."""

from dataclasses import replace

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, add, is_forbidden
from formulations.problem.problem import Problem


def without_scores(problem: Problem) -> Problem:
    """The problem with every score 0, or forbidden where it was, and no rules."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, (), problem.labels)


def with_random_scores(problem: Problem) -> Problem:
    """The problem with scores between 0 and 1 nat at each token, so that few labellings are equally good."""
    lattice = problem.lattice
    random = np.random.default_rng(0).integers(0, UNITS_PER_NAT, lattice.node.shape)
    drawn = Lattice(add(lattice.node, random), lattice.pool, lattice.step)
    return replace(problem, model=drawn, lattice=drawn)
