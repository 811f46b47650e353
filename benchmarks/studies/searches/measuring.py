"""Contenders on one sequence: each row has a labelling's gap to the proved optimum, its violations, and its distance to gold."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import ilpinfer
from benchmarks.data.sets import DataSet, Item
from benchmarks.optimum import recheck
from benchmarks.studies.searches.contenders import EXACT, OPTIMUM, Contender
from benchmarks.study import Disagreement, Row
from formulations import LabelSet, Trellis
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.solution import Solution, finite
from ilpinfer.evaluation.counts import LabelCounter

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
    judged = Judged(item.make(), data, item)
    best, _, seconds = _decoded(data, item, Contender("auto"), PROOF)
    recheck(judged.trellis, data.rules, best)
    shape = dict(zip("TK", judged.trellis.lattice.shape, strict=True))
    about = {**shape, "rules": len(data.rules.items), "gold": bool(item.gold)}
    yield {**about, "method": OPTIMUM, "limit": None, "seconds": seconds, **judged.row(best, best)}
    if best.status != "optimal":
        return
    for name, contender, limit in runs:
        solution, events, seconds = _decoded(data, item, contender, limit)
        row = {**about, "method": name, "limit": limit, "seconds": seconds, **judged.row(solution, best)}
        if solution.has_labelling and solution.score > best.score + NATS:
            raise Disagreement(
                f"{data.name}, {item.key}: {name} has a labelling worth {solution.score!r}, above "
                f"{best.score!r}, which is proved to be the optimum"
            )
        row |= times(events, best.score)
        if limit == longest:
            row["trace"] = trace(events, best.score, bounds=name == EXACT)
        yield row


def _decoded(
    data: DataSet, item: Item, contender: Contender, limit: float
) -> tuple[Solution, list[Event], float]:
    trellis, events = item.make(), list[Event]()
    began = time.perf_counter()
    solution = ilpinfer.decode(
        trellis, data.rules, time_limit=limit, callback=_keeper(events), **contender.arguments
    )
    seconds = time.perf_counter() - began - solution.warm_up_seconds
    return solution, events, round(seconds, 6)


def _keeper(events: list[Event]) -> Callable[[float, float, float], None]:
    def keep(seconds: float, incumbent: float, bound: float) -> None:
        events.append((round(seconds, 6), finite(incumbent), finite(bound)))

    return keep


class Judged:
    """Compares labellings of a sequence with its gold labels, and gold with the optimum."""

    def __init__(self, trellis: Trellis, data: DataSet, item: Item) -> None:
        self.trellis, self.data, self.item = trellis, data, item

    def row(self, solution: Solution, best: Solution) -> Row:
        """Status, score, gap, violations, and counts against gold; None where unknown."""
        names = tuple(solution.labels) if solution.has_labelling else None
        score = finite(solution.score) if names is not None else None
        result: Row = {
            "status": str(solution.status.value),
            "score": score,
            "optimum": finite(best.score),
            "gap": None if score is None else round(max(0.0, best.score - score), 9),
            "violations": None if names is None else sum(solution.violations.values()),
        }
        if self.item.gold:
            counts = self._counter.count_names(names, self.item.gold)
            result["right_labels"], result["counts"] = counts.right_labels, counts.totals()
            result["gold_score"] = self._gold_score
        return result

    @cached_property
    def _counter(self) -> LabelCounter:
        names = dict.fromkeys((*self.trellis.labels.names, *self.item.gold))
        return LabelCounter(LabelSet(tuple(names), scheme=self.trellis.labels.scheme))

    @cached_property
    def _gold_score(self) -> float | None:
        """None where the model lacks a label, or a hard rule is broken."""
        if not set(self.item.gold) <= set(self.trellis.labels.names):
            return None
        ids = self.trellis.labels.ids(self.item.gold)
        return finite(nats(compile_problem(self.trellis, self.data.rules).value(ids).score))


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
