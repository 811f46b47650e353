"""Short time limits: how late searches and solvers are, what they have by then, and whether what they say is true."""

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import ilpinfer
from benchmarks.data.sets import SOLVERS, DataSet, Item
from benchmarks.studies.limits.cost import SEARCHES as RECORDING
from benchmarks.studies.limits.cost import cost
from benchmarks.studies.limits.documents import known, searches, solvers
from benchmarks.studies.limits.report import write
from benchmarks.study import Design, Disagreement, Row, Sources, Study
from ilpinfer.core.solution import Solution

SEARCHES = (
    "auto",
    "beam",
    "best-first",
    "greedy",
    "relaxation-guided",
    "lds",
    "evolutionary",
    "hybrid",
    "annealing",
    "tabu",
)
METHODS = {"searches": SEARCHES, "solvers": SOLVERS}
SETS = {"searches": searches, "solvers": solvers}
COST = "cost"


@dataclass(frozen=True)
class Cell:
    """A sequence, for all methods and limits; or a search whose records are timed. `call` counts repetitions."""

    part: str
    data: str
    item: str
    call: int


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    calls = range(sources(smoke=1, sample=1, full=20 if part == "searches" else 5))
    if part == COST:
        repeats = range(sources(smoke=1, sample=2, full=5))
        return (Cell(part, search, "planted", call) for call in repeats for search in RECORDING)
    sets = SETS[part](sources).values()
    return (Cell(part, data.name, item.key, call) for call in calls for data in sets for item in data.items)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    if cell.part == COST:
        seconds, length = sources(smoke=(0.05, 60), sample=(1.0, 480), full=(1.0, 480))
        yield {"cost": cost(cell.data, seconds, length)}
        return
    limits = {
        "searches": sources(smoke=(0.005,), sample=(0.01, 0.05, 0.2), full=(0.01, 0.05, 0.2)),
        "solvers": sources(smoke=(0.05,), sample=(0.05, 0.1, 0.3, 1.0), full=(0.05, 0.1, 0.3, 1.0)),
    }[cell.part]
    data = SETS[cell.part](sources)[cell.data]
    item = next(item for item in data.items if item.key == cell.item)
    best = known(data, item)
    for method in METHODS[cell.part]:
        _first_call(method, data, item)
        for limit in limits:
            gc.collect()
            yield _row(data, item, method, limit, best)


@cache
def _first_call(method: str, data: DataSet, item: Item) -> None:
    """Compiles, loads, or starts what the method needs."""
    ilpinfer.decode(item.make(), data.rules, method=method, time_limit=0.05)


def _row(data: DataSet, item: Item, method: str, limit: float, best: Solution) -> Row:
    trellis = item.make()
    began = time.perf_counter()
    solution = ilpinfer.decode(trellis, data.rules, method=method, time_limit=limit)
    wall = time.perf_counter() - began - solution.warm_up_seconds
    proved = best.status == "optimal" and solution.has_labelling
    return {
        "T": len(trellis),
        "method": method,
        "limit": limit,
        "late": round(wall - limit, 6),
        "unaccounted": round(wall - solution.seconds, 6),
        "status": str(solution.status.value),
        "labelling": solution.has_labelling,
        "gap": max(0.0, best.score - solution.score) if proved else None,
        "true": is_true(solution, best),
    }


def is_true(solution: Solution, best: Solution) -> bool:
    """Whether what is said agrees with a score that was reached, and a bound that was proved."""
    if solution.status == "infeasible":
        return bool(best.status == "infeasible")
    within = solution.bound >= best.score and solution.score <= best.bound
    return bool(within and (solution.status != "optimal" or solution.score >= best.score))


def check(rows: Sequence[Row]) -> None:
    """Raises Disagreement where a status or a bound is false."""
    for row in rows:
        if not row.get("true", True):
            raise Disagreement(
                f"{row['data']}, {row['item']}: {row['method']} with {row['limit']:g} s says {row['status']}, which is false"
            )


STUDY = Study(
    title="Short time limits",
    summary="How late searches and solvers are under short limits, what they have by then, and what their clocks cost.",
    design=Design(
        corpus="planted documents of 480 tokens and 27 labels, and the longest sections of résumés, for searches (1, 3, 5 of each at the three "
        "scales); the longest and the middling sections, and as many UMass references, for solvers (1, 2, 5 of each kind). "
        "The full scale makes 20 calls of searches and 5 of solvers, the others one",
        model="HMMs of every other résumé and of the training part of UMass; planted labellings under noise of 3 nats",
        rules="those of planted documents; résumé rules, soft and hard; 12 mined soft rules for UMass",
        methods="the exact engine and nine searches with their usual options; CBC, CP-SAT, HiGHS and SCIP on the complete program",
        limits="10, 50 and 200 ms for searches; 50, 100, 300 and 1000 ms for solvers. The first call of a method is not counted. Optima "
        "have 60 s and are rechecked",
        measures="milliseconds by which a call returns after its limit, timed from outside; statuses and bounds held against the "
        "optimum; time that solutions do not account for; share of processor time that searches spend on clocks and "
        "records, the least of several runs of 1 s",
    ),
    parts=("searches", "solvers", COST),
    cells=cells,
    measure=measure,
    report=write,
    check=check,
    timed=True,
)
