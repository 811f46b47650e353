"""The report: the thesis's tables beside ours, how far its searches are from the optimum, and what it left untried."""

from collections.abc import Sequence

from benchmarks.report import Report
from benchmarks.studies.stokman import comparisons, tables, untried
from benchmarks.studies.stokman.estimates import CUTOFFS, ESTIMATES
from benchmarks.studies.stokman.learning import LEARNING
from benchmarks.studies.stokman.totals import by_setting
from benchmarks.study import Row


def report(rows: Sequence[Row], report: Report) -> None:
    """Everything, as far as there are rows."""
    settings = by_setting(row for row in rows if row["part"] != LEARNING)
    if settings:
        tables.base(settings, report)
        tables.tables(settings, report)
        comparisons.strategies(settings, report)
        comparisons.searches(settings, report)
        comparisons.other_rules(settings, report)
    untried.learning([row for row in rows if row["part"] == LEARNING], settings, report)
    untried.estimates([row for row in rows if row["part"] == ESTIMATES], report)
    untried.cutoffs([row for row in rows if row["part"] == CUTOFFS], report)
