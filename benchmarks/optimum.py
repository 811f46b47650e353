"""Optima that studies measure against: proved by the engine, and rechecked by a program that shares no search with it."""

from collections.abc import Iterable, Sequence
from typing import Any

import ilpinfer
from benchmarks.study import Disagreement, Row
from formulations import RuleSet, Trellis
from ilpinfer.core.solution import Solution

NATS = 1e-3
"""How far solvers in floating point may be off."""


def check_all(rows: Iterable[Row], keys: Sequence[str]) -> None:
    """Hold every row against that of `auto` with the same values of the keys; see `check`."""
    rows = [row for row in rows if "status" in row and row.get("item") is not None]
    exact = {tuple(row[key] for key in keys): row for row in rows if row["method"] == "auto"}
    for row in rows:
        check(row, exact.get(tuple(row[key] for key in keys)))


def check(row: Row, exact: Row | None) -> None:
    """Raise Disagreement where a score is above a proved bound, optima differ, or a rival misvalues its labelling."""
    where = f"{row['data']}, sequence {row['item']}"
    score, claimed = row.get("score"), row.get("claimed")
    if score is not None and claimed is not None and abs(score - claimed) > NATS:
        raise Disagreement(
            f"{where}: {row['method']} values its labelling {claimed!r}, but it is worth {score!r}"
        )
    if exact is None or exact is row:
        return
    for proof, other in ((exact, row), (row, exact)):
        limit = _limit(proof)
        if limit is not None and other.get("score") is not None and other["score"] > limit + NATS:
            raise Disagreement(
                f"{where}: {other['method']} found a labelling of score {other['score']!r}, but {proof['method']} "
                f"claims that none is above {limit!r}"
            )


def _limit(row: Row) -> float | None:
    """What a row claims that no labelling passes; None where it claims nothing."""
    if row.get("status") == "infeasible":
        return float("-inf")
    bound: float | None = row.get("bound")
    return bound


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
