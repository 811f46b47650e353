"""Contenders on one sequence: each row has a labelling's gap to the proved optimum, its violations, and its distance to gold."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import ilpinfer
from benchmarks.data.evaluations import account
from benchmarks.data.sets import DataSet, Item
from benchmarks.optimum import recheck
from benchmarks.studies.searches.contenders import EXACT, OPTIMUM, Contender
from benchmarks.study import Disagreement, Row
from benchmarks.timing import timed
from formulations import RuleSet, Trellis
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
    shape = dict(zip("TK", trellis.lattice.shape, strict=True))
    about = {**shape, "rules": len(data.rules.items), "gold": bool(item.gold)}
    solutions, rows = [best], [{"method": OPTIMUM, "limit": None, "seconds": seconds}]
    for name, contender, limit in runs if best.status == "optimal" else ():
        solution, events, seconds = _decoded(data, item, contender, limit)
        if solution.has_labelling and solution.score > best.score + NATS:
            raise Disagreement(
                f"{data.name}, {item.key}: {name} has a labelling worth {solution.score!r}, above "
                f"{best.score!r}, which is proved to be the optimum"
            )
        row: Row = {"method": name, "limit": limit, "seconds": seconds, **times(events, best.score)}
        if limit == longest:
            row["trace"] = trace(events, best.score, bounds=name == EXACT)
        solutions.append(solution)
        rows.append(row)
    for row, own in zip(rows, judged(trellis, data.rules, item.gold, solutions), strict=True):
        yield {**about, **row, **own}


def _decoded(
    data: DataSet, item: Item, contender: Contender, limit: float
) -> tuple[Solution, list[Event], float]:
    events = list[Event]()

    def keep(seconds: float, incumbent: float, bound: float) -> None:
        events.append((round(seconds, 6), finite(incumbent), finite(bound)))

    options = {"time_limit": limit, "callback": keep, **contender.arguments}
    solution, seconds = timed(ilpinfer.decode, item.make(), data.rules, **options)
    return solution, events, round(seconds, 6)


def judged(
    trellis: Trellis, rules: RuleSet, gold: Sequence[str], solutions: Sequence[Solution]
) -> Iterator[Row]:
    """Status, score, gap to the first one, violations, and counts against gold of each; None where unknown."""
    labellings = [one.labels if one.has_labelling else None for one in solutions]
    predictions = {f"{place}": [labels] for place, labels in enumerate(labellings)}
    compared = ilpinfer.compare(
        [trellis], rules, (), gold=[gold or None], predictions=predictions
    ).to_pandas()
    counts, best = account(compared), finite(solutions[0].score)
    for place, line in enumerate(compared.itertuples()):
        row: Row = {
            "status": str(solutions[place].status.value),
            "score": line.score if line.solved else None,
            "optimum": best,
            "gap": round(max(0.0, best - line.score), 9) if line.solved and best is not None else None,
            "violations": line.violations if labellings[place] is not None else None,
        }
        if gold:
            row["right_labels"], row["counts"] = (
                int(line.correct_labels),
                counts.iloc[place].astype(int).tolist(),
            )
            row["gold_score"] = None if math.isnan(line.gold_score) else line.gold_score
        yield row


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
