"""Why there is no labelling."""

from dataclasses import replace

from formulations.compiled.problem import GroundRule, Problem
from ilpinfer.deadline import Deadline


def blame(problem: Problem, deadline: Deadline) -> str:
    """Which hard rule leaves no labelling, where that is one rule: by itself, or as the last straw.

    Empty where the deadline passes before it is known.
    """
    hard = tuple(rule for rule in problem.rules if rule.penalty is None)
    if _infeasible(problem, (), deadline):
        return "the scores themselves forbid every labelling"
    for rule in hard:
        if _infeasible(problem, (rule,), deadline):
            return f'rule "{rule.name}" alone leaves no labelling; make it soft, or allow what it asks for'
    if deadline.passed:
        return ""
    needed = [r for r in hard if not _infeasible(problem, tuple(h for h in hard if h is not r), deadline)]
    if deadline.passed:
        return ""
    names = ", ".join(f'"{rule.name}"' for rule in (needed or hard))
    if len(needed) == 1:
        return f"without rule {names} there would be a labelling; make it soft"
    return f"the hard rules {names} leave no labelling together; make one of them soft"


def _infeasible(problem: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> bool:
    """Whether it is proved, within the deadline, that no labelling keeps the rules."""
    from ilpinfer.exact.auto import auto
    from ilpinfer.found import Task

    if deadline.passed:
        return False
    return next(auto(replace(problem, rules=rules), Task(deadline), "auto")).exhausted
