"""Contenders on one sequence: each row has a labelling's gap to the proved optimum, its violations and its times."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import ilpinfer
from benchmarks.data.sets import DataSet, Item
from benchmarks.optimum import recheck
from benchmarks.studies.searches.contenders import EXACT, OPTIMUM, Contender
from benchmarks.study import Disagreement, Row
from benchmarks.timing import timed
from ilpinfer.core.solution import Solution, finite

NATS = 1e-9
"""By which scores may differ and still be the same."""
POINTS = 80
"""Of a trace, at most."""
PROOF = 60.0
"""Seconds for an optimum."""
Event = tuple[float, float | None, float | None]
"""Seconds, and the incumbent and the bound by then, in nats."""


def rows_of(
    data: DataSet, item: Item, runs: Iterable[tuple[str, Contender, float]], longest: float
) -> Iterator[Row]:
    """The optimum and, where it is proved, every contender and limit; Disagreement where a labelling is above it."""
    trellis = item.make()
    best, _, seconds = _decoded(data, item, Contender("auto"), PROOF)
    recheck(trellis, data.rules, best)
    about = {**dict(zip("TK", trellis.lattice.shape, strict=True)), "rules": len(data.rules.items)}
    yield {**about, "method": OPTIMUM, "limit": None, "seconds": seconds, **judged(best, best)}
    for name, contender, limit in runs if best.status == "optimal" else ():
        solution, events, seconds = _decoded(data, item, contender, limit)
        if solution.has_labelling and solution.score > best.score + NATS:
            raise Disagreement(
                f"{data.name}, {item.key}: {name} has a labelling worth {solution.score!r}, above "
                f"{best.score!r}, which is proved to be the optimum"
            )
        row: Row = {**about, "method": name, "limit": limit, "seconds": seconds, **times(events, best.score)}
        if limit == longest:
            row["trace"] = trace(events, best.score, bounds=name == EXACT)
        yield row | judged(solution, best)


def _decoded(
    data: DataSet, item: Item, contender: Contender, limit: float
) -> tuple[Solution, list[Event], float]:
    events = list[Event]()

    def keep(seconds: float, incumbent: float, bound: float) -> None:
        events.append((round(seconds, 6), finite(incumbent), finite(bound)))

    options = {"time_limit": limit, "callback": keep, **contender.arguments}
    solution, seconds = timed(ilpinfer.decode, item.make(), data.rules, **options)
    return solution, events, round(seconds, 6)


def judged(solution: Solution, best: Solution) -> Row:
    """Status, gap to the optimum and violations; None where there is no labelling that keeps the hard rules."""
    solved = solution.has_labelling and math.isfinite(solution.score)
    return {
        "status": str(solution.status.value),
        "optimum": finite(best.score),
        "gap": round(max(0.0, best.score - solution.score), 9) if solved else None,
        "violations": sum(solution.violations.values()) if solution.has_labelling else None,
    }


def times(events: Sequence[Event], optimum: float) -> dict[str, float | None]:
    """Seconds to the first labelling and to the optimum; None where a search has none."""
    known = [(seconds, score) for seconds, score, _ in events if score is not None]
    return {
        "first": next((seconds for seconds, _ in known), None),
        "reached": next((seconds for seconds, score in known if score >= optimum - NATS), None),
    }


def trace(events: Sequence[Event], optimum: float, *, bounds: bool = False) -> list[list[Any]]:
    """Seconds, and gaps of incumbent and bound to the optimum in nats, where one of them has improved; thinned out."""
    result: list[list[Any]] = []
    best, least = -math.inf, math.inf
    for seconds, score, bound in events:
        new = max(best, score) if score is not None else best
        lower = min(least, bound) if bounds and bound is not None else least
        if (new, lower) != (best, least):
            best, least = new, lower
            gap = None if math.isinf(best) else round(optimum - best, 6)
            result.append([seconds, gap, None if math.isinf(least) else round(least - optimum, 6)])
    step = -(-len(result) // POINTS) if result else 1
    return result[::step] if step == 1 else [*result[::step], result[-1]]
