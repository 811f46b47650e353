"""How late searches are under short limits, and what they have by then."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from pandas import DataFrame, Series

import ilpinfer
from benchmarks import optimum
from benchmarks.data.corpora import resume
from benchmarks.data.sets import DataSet, Item
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.report import Cells, Report, fixed, number
from benchmarks.study import Cell, Disagreement, Row, Sources, Study
from benchmarks.timing import timed
from ilpinfer.core.solution import Solution

SEARCHES = "searches"
METHODS = ("auto", "beam", "lds", "evolutionary", "hybrid")
NOISE, LATE = 3.0, 20
"""Nats; milliseconds after a limit that are let pass."""


@cache
def data_sets(sources: Sources) -> Mapping[str, DataSet]:
    """Planted documents, and the longest résumés under soft and hard rules."""
    number = sources(smoke=1, sample=3, full=5)
    T, K = sources(smoke=(24, 5), sample=(480, 27))
    labels = labels_of_size(K)
    items = tuple(Item(f"{seed}", partial(document, T, seed, labels, NOISE)) for seed in range(number))
    planted = DataSet("planted", SEARCHES, items, partial(document_rules, labels))
    resumes = (replace(data, items=_longest(data)[:number]) for data in resume(sources))
    return {data.name: data for data in (planted, *resumes)}


def _longest(data: DataSet) -> tuple[Item, ...]:
    return tuple(sorted(data.items, key=lambda item: -len(item.gold)))


@cache
def known(data: DataSet, item: Item) -> Solution:
    """The optimum, rechecked, or what is known of it by then."""
    return optimum.optimum(item.make(), data.rules)


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A sequence, for all methods and limits; `call` counts repetitions."""
    some = [(data.name, item.key) for data in data_sets(sources).values() for item in data.items]
    calls = sources(smoke=1, sample=1, full=20)
    return (Cell(part=part, data=data, item=item, call=n) for n in range(calls) for data, item in some)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    data = data_sets(sources)[cell.data]
    item = next(item for item in data.items if item.key == cell.item)
    best = known(data, item)
    for method in METHODS:
        ilpinfer.decode(
            item.make(), data.rules, method=method, time_limit=0.05
        )  # loads what the method needs
        for limit in sources(smoke=(0.005,), sample=(0.01, 0.05, 0.2)):
            gc.collect()
            yield _row(data, item, method, limit, best)


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
        if not row["true"]:
            raise Disagreement(
                f"{row['data']}, {row['item']}: {row['method']} with {row['limit']:g} s says {row['status']}, which is false"
            )


def high(late: Series) -> float:
    """The 95th percentile, one of the values."""
    return float(np.quantile(late, 0.95, method="inverted_cdf"))


def report(frame: DataFrame, report: Report) -> None:
    frame = frame.assign(late=1000 * frame.late, order=frame.groupby(["data", "method"], sort=False).ngroup())
    late, median, over = frame.late, frame.late.median(), (frame.late > LATE).sum()
    report.heading("Searches")
    report.text(
        f"{len(frame)} calls of searches: the median returns {number(abs(median), 2)} ms {'after' if median > 0 else 'before'} its "
        f"limit, the 95th percentile {high(late):.0f} ms after it, the latest {late.max():.0f} ms; {over} {'is' if over == 1 else 'are'} more than {LATE} ms late. "
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


STUDY = Study(
    title="Short time limits",
    corpus="planted documents of 480 tokens and 27 labels, and the longest sections of résumés (1, 3, 5 of each at the three "
    "scales). The full scale makes 20 calls, the others one",
    model="HMMs of every other résumé; planted labellings under noise of 3 nats",
    rules="those of planted documents; résumé rules, soft and hard",
    methods="the exact engine and four searches with their usual options",
    limits="10, 50 and 200 ms. The first call of a method is not counted. Optima have 60 s and are rechecked",
    measures="milliseconds by which a call returns after its limit, timed from outside; statuses and bounds held against the "
    "optimum; time that solutions do not account for",
    parts=(SEARCHES,),
    check=check,
)
