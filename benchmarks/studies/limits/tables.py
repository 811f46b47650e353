"""The report of short limits."""

import statistics
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.report import Report, number
from benchmarks.study import Row

LATE = {"searches": 20, "solvers": 150}
"""Milliseconds after a limit that are let pass."""
COST = 2.0
"""Per cent of the processor time that are let pass."""


def write(rows: Sequence[Row], report: Report) -> None:
    for part, late in LATE.items():
        own = [row for row in rows if row["part"] == part]
        if own:
            report.heading(part.capitalize())
            report.text(_summary(part, own, late))
            _table(own, report)
    if own := [row for row in rows if row["part"] == "cost"]:
        _costs(own, report)


def _summary(part: str, rows: Sequence[Row], most: int) -> str:
    late = sorted(1000 * row["late"] for row in rows)
    true, proved = (sum(row["true"] for row in rows), sum(row["status"] == "optimal" for row in rows))
    over = sum(one > most for one in late)
    return (
        f"{len(rows)} calls of {part}: the median returns {number(abs(statistics.median(late)), 2)} ms {'after' if statistics.median(late) > 0 else 'before'} its "
        f"limit, the 95th percentile {high(late):.0f} ms after it, the latest {late[-1]:.0f} ms; {over} {'is' if over == 1 else 'are'} more than {most} ms late. "
        f"{sum(row['labelling'] for row in rows)} have a labelling by then and {proved} a proof; the statuses and bounds of {true} are true. Solutions "
        f"account for all but {number(1000 * max(abs(row['unaccounted']) for row in rows), 2)} ms of any call."
    )


def high(late: Sequence[float]) -> float:
    """The 95th percentile, one of the values."""
    return float(np.quantile(late, 0.95, method="inverted_cdf"))


def _table(rows: Sequence[Row], report: Report) -> None:
    keys = dict.fromkeys((row["data"], row["method"], row["limit"]) for row in rows)
    groups = {
        key: [row for row in rows if (row["data"], row["method"], row["limit"]) == key]
        for key in sorted(keys, key=_order(rows))
    }
    heads = ("late, ms: median", "95 %", "most", "labelling", "optimal", "mean gap, nats", "true")
    report.table(
        ("sequences", "method", "limit, ms", "calls", *heads),
        (
            (data, method, f"{1000 * limit:g}", len(own), *_cells(own))
            for (data, method, limit), own in groups.items()
        ),
        left=2,
    )


def _order(rows: Sequence[Row]) -> Callable[[tuple[str, str, float]], tuple[int, int, float]]:
    sets, methods = (list(dict.fromkeys(row[name] for row in rows)) for name in ("data", "method"))
    return lambda key: (sets.index(key[0]), methods.index(key[1]), key[2])


def _cells(rows: Sequence[Row]) -> tuple[str, ...]:
    late = sorted(1000 * row["late"] for row in rows)
    gaps = [row["gap"] for row in rows if row["gap"] is not None]
    return (
        *(f"{x:.1f}".replace("-", "−") for x in (statistics.median(late), high(late), late[-1])),
        str(sum(row["labelling"] for row in rows)),
        str(sum(row["status"] == "optimal" for row in rows)),
        number(statistics.mean(gaps)) if gaps else "–",
        str(sum(row["true"] for row in rows)),
    )


def _costs(rows: Sequence[Row], report: Report) -> None:
    report.heading("Clocks and records")
    least: dict[str, float] = {}
    for row in rows:
        least[row["data"]] = min(100 * row["cost"], least.get(row["data"], np.inf))
    most = max(least.values())
    report.text(
        f"Reading the clock and recording labellings cost the searches at most {number(most, 2)} % of their processor time "
        f"({'less' if most <= COST else 'more'} than the {COST:g} % that are let pass)."
    )
    report.table(("search", "% of processor time"), ((name, f"{value:.2f}") for name, value in least.items()))
