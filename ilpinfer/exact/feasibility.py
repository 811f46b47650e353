"""Whether any labelling keeps a set of hard rules."""

from dataclasses import replace

from formulations.compiled.problem import GroundRule, Problem
from ilpinfer.deadline import Deadline
from ilpinfer.exact.auto import auto
from ilpinfer.found import Found, Path, Task


def best(problem: Problem, deadline: Deadline) -> Found:
    """The best labelling, by the route of `method="auto"`."""
    return next(auto(problem, Task(deadline), "auto"))


def witness(bare: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> tuple[Path | None, bool]:
    """A labelling that keeps the rules, or None and whether it is proved that there is none."""
    answer = best(replace(bare, rules=rules), deadline)
    return answer.path, answer.exhausted
