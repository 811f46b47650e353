"""Decoding under rules that are functions: labellings in the order of their score under the other rules."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from formulations import Trellis
from formulations.arguments import instance
from formulations.constraints.predicates import Predicate, cost_of
from formulations.grid import HARD, UNITS_PER_NAT, nats
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.request import MOST, Request, deadline_for
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.decoding.runner import Runner

FIRST, GROWTH = 8, 4
"""Labellings of the first list, and how many times as many the next one has."""
LEAST = 1e-3
"""Seconds that a list has at least."""


class Listed(NamedTuple):
    """A labelling with its total in grid units, None where it breaks a hard predicate, and what it breaks."""

    solution: Solution
    total: int | None
    counts: dict[str, int]

    @classmethod
    def of(cls, solution: Solution, trellis: Trellis, predicates: Sequence[Predicate]) -> "Listed":
        counts = {each.name: each.violations(solution.labels, trellis.tokens) for each in predicates}
        cost, score = cost_of(counts, predicates), int(solution.score * UNITS_PER_NAT)
        return cls(solution, None if cost == HARD else score - cost, counts)


def decode_predicates(
    trellis: Trellis,
    rules: RuleCompiler,
    predicates: Sequence[Predicate],
    time_limit: float | None,
    again: Callable[..., Any],
) -> Solution:
    """The best labelling. The list ends where no labelling that is not on it can be better than the best total.

    An incomplete list, after a time limit or `MOST["top"]` labellings, leaves the best total and a proved bound.
    """
    deadline = deadline_for(time_limit)
    instance(trellis, Trellis, "trellis", "a Trellis")
    taken = {rule.name for rule in rules.compiled(trellis.labels).rules}
    for predicate in predicates:
        if predicate.name in taken:
            raise ValueError(
                f"predicate {predicate.name!r} has the name of another rule: give it one of its own"
            )

    def within() -> Runner:
        left = deadline.remaining
        return Runner(rules, Request.of("auto", None if left is None else max(left, LEAST), {}), again)

    first = within().best(trellis)
    listed = [Listed.of(first, trellis, predicates)] if first.has_labelling else []
    known = {first.ids.tobytes(): listed[0]} if listed else {}
    number, complete = FIRST, False
    while listed and not _ended(listed) and not deadline.passed:
        solutions = within().top(trellis, number)
        if not solutions or not all(s.status is Status.OPTIMAL and s.certificate.tree for s in solutions):
            break
        for each in solutions:
            key = each.ids.tobytes()
            known[key] = (
                known[key]._replace(solution=each) if key in known else Listed.of(each, trellis, predicates)
            )
        listed = [known[each.ids.tobytes()] for each in solutions]
        rest = solutions[-1].certificate.rest
        complete = rest is not None and rest.bound == -math.inf
        if complete or number == MOST["top"]:
            break
        number = min(GROWTH * number, MOST["top"])
    return _solution(first, listed, predicates, deadline, complete=complete)


def _ended(listed: Sequence[Listed]) -> bool:
    """Whether no labelling that is not listed can be better than the best total."""
    best, bound = _best(listed), listed[-1].solution.bound
    return best is not None and best.total is not None and best.total >= bound * UNITS_PER_NAT


def _best(listed: Sequence[Listed]) -> Listed | None:
    """The first of those with the best total; None where all break a hard predicate."""
    feasible = [each for each in listed if each.total is not None]
    return max(feasible, key=lambda each: each.total or 0, default=None)


def _solution(
    first: Solution,
    listed: Sequence[Listed],
    predicates: Sequence[Predicate],
    deadline: Deadline,
    *,
    complete: bool,
) -> Solution:
    """The solution of a list; that of the other rules where they leave no labelling."""
    last = listed[-1].solution if listed else first
    own: dict[str, Any] = {
        "seconds": deadline.elapsed,
        "method": f"auto: the best {len(listed)} labellings under the other rules",
        "context": None,
        "certificate": _certificate(last, listed),
    }
    best = _best(listed)
    if best is None or best.total is None:
        status = Status.INFEASIBLE if complete or last.status is Status.INFEASIBLE else Status.UNKNOWN
        bound = -math.inf if status is Status.INFEASIBLE else last.bound
        nothing: dict[str, Any] = {
            "path": None,
            "score": -math.inf,
            "model_score": -math.inf,
            "feature_score": 0.0,
        }
        reason = first.reason or "every labelling breaks a hard predicate" * (status is Status.INFEASIBLE)
        own |= {"penalty": 0.0, "violations": {}, "status": status, "bound": bound, "reason": reason}
        return replace(last, **nothing, **own)
    score = nats(best.total)
    proved = complete or _ended(listed)
    return replace(
        best.solution,
        **own,
        status=Status.OPTIMAL if proved else Status.FEASIBLE,
        score=score,
        penalty=best.solution.penalty + nats(cost_of(best.counts, predicates)),
        violations={**best.solution.violations, **best.counts},
        bound=score if proved else max(score, last.bound),
    )


def _certificate(last: Solution, listed: Sequence[Listed]) -> Any:
    """The last labelling's proof, which excludes the whole list."""
    if last.certificate.tree is None:
        return last.certificate
    source = "no labelling that is not listed is better; verify needs the functions of the predicates"
    paths = tuple(tuple(each.solution.ids.tolist()) for each in listed)
    return replace(last.certificate, source=source, excluded=paths)
