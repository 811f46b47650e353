"""Whether any labelling keeps a set of hard rules."""

from dataclasses import replace

import numpy as np

from formulations.compiled.lattice import Lattice
from formulations.compiled.problem import GroundRule, Problem
from formulations.grid import FORBIDDEN, is_forbidden
from ilpinfer.deadline import Deadline
from ilpinfer.exact.auto import auto
from ilpinfer.found import Found, Path, Task


def without_scores(problem: Problem) -> Problem:
    """The problem with every score 0, or forbidden where it was, and no rules."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, (), problem.labels)


def best(problem: Problem, deadline: Deadline) -> Found:
    """The best labelling, by the route of `method="auto"`."""
    return next(auto(problem, Task(deadline), "auto"))


def witness(bare: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> tuple[Path | None, bool]:
    """A labelling that keeps the rules, or None and whether it is proved that there is none."""
    answer = best(replace(bare, rules=rules), deadline)
    return answer.path, answer.exhausted
