"""Contenders on sequences, each row with what it found, when, and how far from gold."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ilpinfer
from benchmarks.data.sets import DataSet, Item
from benchmarks.journal import Journal, Row
from benchmarks.searches.grid import Contender, Grid
from benchmarks.study import Disagreement, Work
from ilpinfer.cli.progress import progress
from ilpinfer.core.solution import Solution, finite

OPTIMUM = "optimum"
"""The row of the exact engine with all the time it needs."""
NATS = 1e-9


def run_grid(part: str, grid: Grid, sets: Sequence[DataSet], work: Work) -> None:
    """What the journal lacks.

    Raises
    ------
    Disagreement
        where a search claims more than the proved optimum.
    """
    ilpinfer.warm_up()
    work.journal.describe((data.name, data.note) for data in sets)
    with progress(part, sum(len(data.items) for data in sets)) as advance:
        for data in sets:
            for item in data.items:
                run_item(data, item, grid, work.journal)
                advance()
    work.say(f"{part} done")


def run_item(data: DataSet, item: Item, grid: Grid, journal: Journal) -> None:
    """Every contender, limit and seed on one sequence; nothing but the optimum where no labelling is feasible."""
    best = journal.get(data.name, item.key, OPTIMUM)
    if best is None:
        best = _row(data, item, OPTIMUM, Contender("auto"), None, None)
        journal.add(best)
    if best["status"] == "infeasible":
        return
    for name, contender, limit, seed in cells(grid):
        if journal.has(data.name, item.key, name, limit, seed):
            continue
        row = _row(data, item, name, contender, limit, seed)
        if row["score"] is not None and best["status"] == "optimal" and row["score"] > best["score"] + NATS:
            raise Disagreement(
                f"{data.name}, {item.key}: {name} has a labelling worth {row['score']!r}, above {best['score']!r}, "
                "which is proved to be the optimum"
            )
        if limit != grid.limits[-1]:
            row["trace"] = row["trace"][:1]
        journal.add(row)


def cells(grid: Grid) -> Iterator[tuple[str, Contender, float, int | None]]:
    """What is run on each sequence."""
    for name, contender in grid.contenders.items():
        for limit in grid.limits if contender.timed else grid.limits[-1:]:
            for seed in grid.seeds if contender.seeded else (None,):
                yield name, contender, limit, seed


def _row(
    data: DataSet, item: Item, name: str, contender: Contender, limit: float | None, seed: int | None
) -> Row:
    options = dict(contender.options) if seed is None else {**contender.options, "seed": seed}
    trellis, result = item.make(), list[tuple[float, float]]()
    began = time.perf_counter()
    solution = ilpinfer.decode(
        trellis,
        data.rules,
        method=contender.method,
        time_limit=60.0 if limit is None else limit,
        callback=_keeper(result),
        **options,
    )
    seconds = time.perf_counter() - began - solution.warm_up_seconds
    row = {"data": data.name, "item": item.key, "method": name, "limit": limit, "seed": seed}
    row |= dict(zip("TK", trellis.lattice.shape, strict=True))
    return row | {"seconds": round(seconds, 6)} | _quality(solution, item, result)


def _keeper(result: list[tuple[float, float]]) -> Callable[[float, float, float], None]:
    def keep(seconds: float, incumbent: float, _: float) -> None:
        if math.isfinite(incumbent) and (not result or incumbent > result[-1][1]):
            result.append((round(seconds, 6), incumbent))

    return keep


def _quality(solution: Solution, item: Item, result: Sequence[tuple[float, float]]) -> dict[str, Any]:
    known = item.gold and solution.has_labelling
    correct = sum(a == b for a, b in zip(item.gold, solution.labels, strict=True)) if known else None
    return {
        "status": solution.status,
        "score": finite(solution.score),
        "violations": sum(solution.violations.values()) if solution.has_labelling else None,
        "correct": correct,
        "trace": result,
    }
