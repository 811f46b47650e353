"""Lateness of searches and of solvers, and the cost of records."""

from collections.abc import Sequence

import numpy as np
from pandas import DataFrame, Series

from benchmarks.report import Report, fixed, frames, number
from benchmarks.study import Row

LATE = {"searches": 20, "solvers": 150}
"""Milliseconds after a limit that are let pass."""
COST = 2.0
"""Per cent of the processor time that are let pass."""


def write(rows: Sequence[Row], report: Report) -> None:
    parts = frames(rows)
    for part, most in LATE.items():
        if part in parts:
            _lateness(part, parts[part], most, report)
    if "cost" in parts:
        _costs(parts["cost"], report)


def high(late: Series) -> float:
    """The 95th percentile, one of the values."""
    return float(np.quantile(late, 0.95, method="inverted_cdf"))


def _lateness(part: str, frame: DataFrame, most: int, report: Report) -> None:
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
    report.pivot(
        frame.assign(limit=[f"{1000 * limit:g}" for limit in frame.limit]),
        {"sequences": "data", "method": "method", "limit, ms": "limit"},
        {
            "calls": len,
            ("late, ms: median", "95 %", "most"): lambda x: map(
                fixed, (x.late.median(), high(x.late), x.late.max())
            ),
            "labelling": lambda x: x.labelling.sum(),
            "optimal": lambda x: (x.status == "optimal").sum(),
            "mean gap, nats": lambda x: number(x.gap.astype(float).mean()),
            "true": lambda x: x.true.sum(),
        },
        left=2,
    )


def _costs(frame: DataFrame, report: Report) -> None:
    least = 100 * frame.groupby("data", sort=False).cost.min()
    report.heading("Clocks and records")
    report.text(
        f"Reading the clock and recording labellings cost the searches at most {number(least.max(), 2)} % of their processor time "
        f"({'less' if least.max() <= COST else 'more'} than the {COST:g} % that are let pass)."
    )
    report.table(("search", "% of processor time"), ((name, f"{value:.2f}") for name, value in least.items()))
