"""How late searches and solvers are under short limits, what they have by then, and what their clocks cost."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from pandas import DataFrame, Series

import ilpinfer
from benchmarks import optimum
from benchmarks.data.corpora import data_set, resume
from benchmarks.data.sets import SOLVERS, DataSet, Item
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.report import Cells, Report, fixed, number
from benchmarks.studies.limits.cost import SEARCHES as RECORDING
from benchmarks.studies.limits.cost import cost
from benchmarks.study import Cell, Disagreement, Row, Sources, Study
from benchmarks.timing import timed
from formulations import RuleSet
from ilpinfer.core.solution import Solution

MINED_RULES, NOISE, LABELS = 12, 3.0, 27


@cache
def searches(sources: Sources) -> Mapping[str, DataSet]:
    """Planted documents, and the longest résumés under soft and hard rules."""
    number = sources(smoke=1, sample=3, full=5)
    resumes = (replace(data, items=_longest(data)[:number]) for data in resume(sources))
    return {data.name: data for data in (_planted(sources, number), *resumes)}


@cache
def solvers(sources: Sources) -> Mapping[str, DataSet]:
    """The longest and the middling résumés under soft rules, and UMass references under a few mined ones."""
    number, references = sources(smoke=1, sample=2, full=5), data_set(sources, "umass")
    few = references.under("few rules", lambda rules: RuleSet(rules.items[:MINED_RULES]))
    result = {}
    for data in (data_set(sources, "resume soft"), few):
        ordered, middle = _longest(data), len(data.items) // 2
        chosen = dict.fromkeys((*ordered[:number], *ordered[middle : middle + number]))
        result[data.name] = replace(data, items=tuple(chosen))
    return result


def _longest(data: DataSet) -> tuple[Item, ...]:
    return tuple(sorted(data.items, key=lambda item: -len(item.gold)))


def _planted(sources: Sources, number: int) -> DataSet:
    T, K = sources(smoke=(24, 5), sample=(480, LABELS))
    labels = labels_of_size(K)
    items = tuple(Item(f"{seed}", partial(document, T, seed, labels, NOISE)) for seed in range(number))
    return DataSet("planted", "searches", items, partial(document_rules, labels))


@cache
def known(data: DataSet, item: Item) -> Solution:
    """The optimum, rechecked, or what is known of it by then."""
    return optimum.optimum(item.make(), data.rules)


LATE = {"searches": 20, "solvers": 150}
"""Milliseconds after a limit that are let pass."""
MOST_COST = 2.0
"""Per cent of the processor time that are let pass."""


def high(late: Series) -> float:
    """The 95th percentile, one of the values."""
    return float(np.quantile(late, 0.95, method="inverted_cdf"))


def lateness(frame: DataFrame, report: Report) -> None:
    part, most = frame.part.iloc[0], LATE[frame.part.iloc[0]]
    frame = frame.assign(late=1000 * frame.late, order=frame.groupby(["data", "method"], sort=False).ngroup())
    late, median, over = frame.late, frame.late.median(), (frame.late > most).sum()
    report.heading(part.capitalize())
    report.text(
        f"{len(frame)} calls of {part}: the median returns {number(abs(median), 2)} ms {'after' if median > 0 else 'before'} its "
        f"limit, the 95th percentile {high(late):.0f} ms after it, the latest {late.max():.0f} ms; {over} {'is' if over == 1 else 'are'} more than {most} ms late. "
        f"{frame.labelling.sum()} have a labelling by then and {(frame.status == 'optimal').sum()} a proof; the statuses and bounds of {frame.true.sum()} are true. Solutions "
        f"account for all but {number(1000 * frame.unaccounted.abs().max(), 2)} ms of any call."
    )
    frame = frame.sort_values(["order", "limit"], kind="stable")
    cells: Cells = {
        "calls": len,
        ("late, ms: median", "95 %", "most"): lambda x: map(
            fixed, (x.late.median(), high(x.late), x.late.max())
        ),
        "labelling": lambda x: x.labelling.sum(),
        "optimal": lambda x: (x.status == "optimal").sum(),
        "mean gap, nats": lambda x: number(x.gap.astype(float).mean()),
        "true": lambda x: x.true.sum(),
    }
    report.pivot(
        frame.assign(limit=[f"{1000 * limit:g}" for limit in frame.limit]),
        {"sequences": "data", "method": "method", "limit, ms": "limit"},
        cells,
        left=2,
    )


def costs(frame: DataFrame, report: Report) -> None:
    least = 100 * frame.groupby("data", sort=False).cost.min()
    report.heading("Clocks and records")
    report.text(
        f"Reading the clock and recording labellings cost the searches at most {number(least.max(), 2)} % of their processor time "
        f"({'less' if least.max() <= MOST_COST else 'more'} than the {MOST_COST:g} % that are let pass)."
    )
    report.table(("search", "% of processor time"), ((name, f"{value:.2f}") for name, value in least.items()))


SEARCHES = ("auto", "beam", "lds", "evolutionary", "hybrid")
METHODS = {"searches": SEARCHES, "solvers": SOLVERS}
SETS = {"searches": searches, "solvers": solvers}
COST = "cost"


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A sequence, for all methods and limits; or a search whose records are timed. `call` counts repetitions."""
    if part == COST:
        some = [(search, "planted") for search in RECORDING]
        calls = sources(smoke=1, sample=2, full=5)
    else:
        some = [(data.name, item.key) for data in SETS[part](sources).values() for item in data.items]
        calls = sources(smoke=1, sample=1, full=20 if part == "searches" else 5)
    return (Cell(part=part, data=data, item=item, call=n) for n in range(calls) for data, item in some)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    if cell.part == COST:
        yield {"cost": cost(cell.data, *sources(smoke=(0.05, 60), sample=(1.0, 480)))}
        return
    limits = {
        "searches": sources(smoke=(0.005,), sample=(0.01, 0.05, 0.2)),
        "solvers": sources(smoke=(0.05,), sample=(0.05, 0.1, 0.3, 1.0)),
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
    solution, wall = timed(ilpinfer.decode, trellis, data.rules, method=method, time_limit=limit)
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
    corpus="planted documents of 480 tokens and 27 labels, and the longest sections of résumés, for searches (1, 3, 5 of each at the three "
    "scales); the longest and the middling sections, and as many UMass references, for solvers (1, 2, 5 of each kind). "
    "The full scale makes 20 calls of searches and 5 of solvers, the others one",
    model="HMMs of every other résumé and of the training part of UMass; planted labellings under noise of 3 nats",
    rules="those of planted documents; résumé rules, soft and hard; 12 mined soft rules for UMass",
    methods="the exact engine and four searches with their usual options; CBC, CP-SAT, HiGHS and SCIP on the complete program",
    limits="10, 50 and 200 ms for searches; 50, 100, 300 and 1000 ms for solvers. The first call of a method is not counted. Optima "
    "have 60 s and are rechecked",
    measures="milliseconds by which a call returns after its limit, timed from outside; statuses and bounds held against the "
    "optimum; time that solutions do not account for; share of processor time that searches spend on clocks and "
    "records, the least of several runs of 1 s",
    parts=("searches", "solvers", COST),
    report={"searches": lateness, "solvers": lateness, COST: costs},
    check=check,
    timed=True,
)
