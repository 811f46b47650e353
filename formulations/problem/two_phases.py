"""What the two phases of two-phase inference are stated with: hard rules alone, the unit of costs, the least score."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from formulations.grid import is_forbidden
from formulations.problem.problem import GroundRule, Problem


def hard_only(problem: Problem) -> Problem:
    return replace(problem, rules=tuple(rule for rule in problem.rules if rule.hard))


def cost_unit(rules: Iterable[GroundRule]) -> int:
    """The greatest common divisor of the penalties, grid units; 1 where there is none."""
    return math.gcd(*(rule.finite_penalty for rule in rules)) or 1


def lowest_score(problem: Problem) -> int:
    """Grid units that no labelling scores less than."""
    least = (
        np.where(is_forbidden(x), 0, x).min(initial=0) for x in (problem.lattice.node, problem.lattice.pool)
    )
    return len(problem.lattice.node) * sum(map(int, least))
