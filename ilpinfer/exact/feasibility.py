"""Whether any labelling keeps a set of hard rules."""

from dataclasses import replace

import numpy as np

from formulations.compiled.lattice import Lattice
from formulations.compiled.problem import GroundRule, Problem
from formulations.grid import FORBIDDEN, is_forbidden
from ilpinfer.deadline import Deadline
from ilpinfer.exact.auto import NARROW, auto
from ilpinfer.exact.viterbi import best_paths
from ilpinfer.found import Found, Path, Task
from ilpinfer.search.beam import search
from ilpinfer.warming import warm


def without_scores(problem: Problem) -> Problem:
    """The problem with every score 0, or forbidden where it was, and no rules."""
    lattice = problem.lattice
    node, pool = (np.where(is_forbidden(a), FORBIDDEN, 0) for a in (lattice.node, lattice.pool))
    bare = Lattice(node, pool, lattice.step)
    return Problem(bare, bare, ())


def best(problem: Problem, deadline: Deadline) -> Found:
    """The best labelling, by the route of `method="auto"`."""
    return next(auto(problem, Task(deadline), "auto"))


def witness(bare: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> tuple[Path | None, bool]:
    """A labelling that keeps the rules, or None and whether it is proved that there is none."""
    deadline.excuse(warm("viterbi"))
    deadline.excuse(warm("beam"))
    folded = replace(bare, rules=rules).fold()
    found = best_paths(folded.lattice, 1)
    if not found:
        return None, True
    if not folded.breaks(found[0][1]):
        return found[0][1], False
    beam = search(folded, NARROW, deadline)
    if beam.paths:
        return beam.paths[0], False
    if is_forbidden(beam.left_out) and not beam.blind and not deadline.passed:
        return None, True
    answer = best(folded, deadline)
    kept = answer.path is not None and folded.value(answer.path).feasible
    return (answer.path, False) if kept else (None, answer.exhausted)
