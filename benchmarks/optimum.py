"""Optima that studies measure against: proved by the engine, and rechecked by a program that shares no search with it."""

from typing import Any

import ilpinfer
from benchmarks.study import Disagreement
from formulations import RuleSet, Trellis
from ilpinfer.core.solution import Solution

LIMIT = 60.0
"""Seconds for a proof, unless a study says otherwise."""
_counts = {"optima": 0, "open": 0}


def optimum(trellis: Trellis, rules: RuleSet, time_limit: float = LIMIT, **options: Any) -> Solution:
    """The engine's solution; Disagreement where it is called optimal and its certificate does not prove it."""
    return recheck(trellis, rules, ilpinfer.decode(trellis, rules, time_limit=time_limit, **options))


def recheck(trellis: Trellis, rules: RuleSet, solution: Solution) -> Solution:
    """The same solution; Disagreement where it is said to be optimal and its certificate does not prove it."""
    if solution.status != "optimal":
        _counts["open"] += 1
        return solution
    verdict = ilpinfer.verify(trellis, rules, solution)
    if not (verdict.ok and verdict.proved):
        raise Disagreement(
            f"an optimum of {solution.score!r} nats is not confirmed: {'; '.join(verdict.reasons)}"
        )
    _counts["optima"] += 1
    return solution


def take_counts() -> dict[str, int]:
    """How many optima were rechecked, and how many problems were left open, since the last call."""
    result = dict(_counts)
    _counts.update(optima=0, open=0)
    return result
