"""The best set of candidate spans of which none cross, under rules."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations.arguments import text, whole
from formulations.grid import HARD, UNITS_PER_NAT, nats, snap
from formulations.labels.schemes import OUTSIDE
from formulations.messages import cut, suggestion
from formulations.time_limits import OutOfTime
from ilpinfer.core.certificate import Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.request import deadline_for
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.corpus.candidates import Candidate, CandidateSet
from ilpinfer.pipelines.span_program import span_program
from ilpinfer.pipelines.span_recursion import NoRecursion, Recursion
from ilpinfer.pipelines.span_rules import NestedSpans, placed, span_rules
from ilpinfer.search.greedy_spans import choose_greedily
from ilpinfer.solvers import SOLVERS, solve

METHODS = ("auto", "greedy-spans", *SOLVERS)
SOLVER = "cp-sat"
"""The solver of `auto`."""
LONGEST_REASON = 400
"""Characters of a reason that names rules."""
RECURSION = Certificate("none", "interval recursion")
LOCAL = Certificate("none", "interval recursion with the rules on single spans alone")
POSITIVE = Certificate("none", "sum of all positive log odds")


def nested_problem(group: CandidateSet, rules: Rules, depth: int | None = None) -> NestedSpans:
    """Candidates with their weights and rules; ValueError for rules that are not for nested spans."""
    weights = snap([each.log_odds(group.prior) for each in group.candidates], "log odds")
    levels = None if depth is None else whole(depth, "depth", 1)
    return NestedSpans(group.candidates, tuple(weights.tolist()), span_rules(rules, group.fields), levels)


def check_method(method: str) -> None:
    """Raise ValueError for a method that does not choose nested spans."""
    if text(method, "method") not in METHODS:
        raise ValueError(f"no method {method!r} for nested spans{suggestion(method, METHODS)}")


def greedy_choice(problem: NestedSpans) -> list[int]:
    """Numbers of the spans that are taken when the likeliest that crosses none before it comes first."""
    spans, weights = problem.spans, map(float, problem.weights)
    weighted = [(each.start, each.end, weight) for each, weight in zip(spans, weights, strict=True)]
    return choose_greedily(weighted, nested=True)


def worth(problem: NestedSpans, chosen: Sequence[int]) -> tuple[int, int, dict[str, int]]:
    """Model score and penalty of a nested set in grid units, `HARD` or more where no such set is allowed, and violations of rules."""
    every = list(placed(problem.spans[n] for n in chosen))
    labelled = [(span, frozenset(each.label for each in around)) for span, around in every]
    found = {rule.name: rule.violations(labelled) for rule in problem.rules}
    deep = problem.depth is not None and any(len(around) >= problem.depth for _, around in every)
    penalty = sum(rule.units * found[rule.name] for rule in problem.rules)
    return sum(problem.weights[n] for n in chosen), HARD if deep else penalty, found


def _value(problem: NestedSpans, chosen: Sequence[int]) -> float:
    """The score of a nested set in grid units; minus infinity where it is not allowed."""
    model, penalty, _ = worth(problem, chosen)
    return model - penalty if penalty < HARD else -math.inf


@dataclass(frozen=True)
class _Found:
    """A nested set, None where there is none, a bound in grid units with its source, and what found the set."""

    chosen: list[int] | None
    bound: float
    source: Certificate
    method: str


def solve_nested(
    problem: NestedSpans, tokens: int, *, method: str = "auto", time_limit: float | None = None
) -> tuple[Solution, list[int]]:
    """The solution, whose labels are paths of nested fields, and the numbers of the chosen spans."""
    deadline = deadline_for(time_limit)
    check_method(method)
    first, name = greedy_choice(problem), "greedy choice"
    if method != "greedy-spans" and _value(problem, []) > _value(problem, first):
        first, name = [], "empty set"
    found = _Found(first, sum(w for w in problem.weights if w > 0), POSITIVE, f"{method}: {name}")
    try:
        with deadline.as_limit():
            for better in _search(problem, found, method, deadline):
                found = better
    except OutOfTime:
        pass
    return _solution(problem, found, tokens, deadline.elapsed), found.chosen or []


def _search(problem: NestedSpans, found: _Found, method: str, deadline: Deadline) -> Iterator[_Found]:
    """Better and better results: the bound without rules on the whole set, the recursion with counts, the program."""
    name = SOLVER if method == "auto" else method
    try:
        if method not in SOLVERS:
            local = tuple(rule for rule in problem.rules if rule.local)
            best = Recursion(replace(problem, rules=local)).best() or (0, [])
            yield replace(found, bound=best[0], source=LOCAL)
            if method == "auto":
                model, penalty, _ = worth(problem, best[1])
                counted = best if model - penalty == best[0] else Recursion(problem).best()
                bound, chosen = counted or (-math.inf, None)
                yield _Found(chosen, bound, RECURSION, "auto: interval recursion")
            return
    except NoRecursion:
        if method == "greedy-spans":
            return
    answer = solve(name, span_program(problem), time_limit=deadline.remaining)
    if answer.x is not None or answer.status == Status.INFEASIBLE:
        chosen = None if answer.x is None else np.flatnonzero(answer.x[: len(problem.spans)]).tolist()
        source = Certificate("solver", answer.version, answer.settings)
        yield _Found(chosen, answer.bound, source, name if name == method else f"{method}: {name}")


def _solution(problem: NestedSpans, found: _Found, tokens: int, seconds: float) -> Solution:
    low, bound = -math.inf, found.bound
    if found.chosen is None:
        hard = "; ".join(rule.name for rule in problem.rules if rule.units == HARD)
        reason = cut(f"no set of the candidates keeps the hard rules: {hard}", LONGEST_REASON)
        return Solution(
            Status.INFEASIBLE, low, low, 0.0, 0.0, {}, low, found.method, found.source, seconds, reason
        )
    model, penalty, broken = worth(problem, found.chosen)
    score, status = model - penalty, Status.UNKNOWN
    if penalty < HARD:
        bound = max(bound, score)
        status = Status.OPTIMAL if bound == score else Status.FEASIBLE
    names = labels_of((problem.spans[n] for n in found.chosen), tokens)
    known = tuple(dict.fromkeys(names))
    return Solution(
        status,
        nats(score) if penalty < HARD else low,
        nats(model),
        0.0,
        nats(penalty) if penalty < HARD else math.inf,
        broken,
        bound / UNITS_PER_NAT,
        found.method,
        found.source,
        seconds,
        path=np.array([known.index(name) for name in names], np.int64),
        names=known,
    )


def labels_of(chosen: Iterable[Candidate], tokens: int) -> list[str]:
    """The labels (T,) of a nested set, paths of all fields of a token, outermost first: `I-firm/B-place`."""
    labels = [OUTSIDE] * tokens
    for span, _ in placed(chosen):
        for t in range(span.start, span.end):
            own = f"{'B' if t == span.start else 'I'}-{span.label}"
            labels[t] = own if labels[t] == OUTSIDE else f"{labels[t]}/{own}"
    return labels
