"""Whether any labelling keeps a set of hard rules."""

from dataclasses import replace

from formulations.dtypes import LabelIds
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result, Task
from ilpinfer.exact.auto import auto
from ilpinfer.exact.contradiction import contradiction, sums_within
from ilpinfer.exact.mixtures import sums_of
from ilpinfer.exact.score_replacement import with_random_scores


def best(problem: Problem, deadline: Deadline) -> Result:
    """The best labelling, by the route of `method="auto"`."""
    return next(auto(problem, Task(deadline), "auto"))


def witness(bare: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> tuple[LabelIds | None, bool]:
    """A labelling that keeps the rules, or None and whether it is proved that there is none."""
    problem = replace(bare, rules=rules)
    if len(sums_of(problem)) > 1:
        outcome = contradiction(problem, sums_within(problem), deadline)
        if outcome.tree is not None:
            return None, True
        if outcome.path is not None and not problem.breaks(outcome.path):
            return outcome.path, False
        problem = with_random_scores(problem)
    answer = best(problem, deadline)
    return answer.path, answer.proves_infeasibility
