"""Figures of draws, taken from rows."""

from collections.abc import Sequence

from benchmarks.paired import Draws, mean
from benchmarks.report import percent
from benchmarks.study import Row

Rows = Sequence[Row]
ENDS = {"none": "no", "soft": "yes"}
"""Rules in the end, and what the tables say."""


def draws_of(rows: Rows, measure: str = "tokens", /, **wanted: object) -> Draws:
    """A measure by draw, of the rows with these values."""
    return {row["draw"]: row[measure] for row in rows if all(row.get(k) == v for k, v in wanted.items())}


def sizes_of(rows: Rows) -> list[int]:
    """Numbers of labelled sequences."""
    return sorted({row["size"] for row in rows})


def text_of(draws: Draws) -> str:
    """The mean over draws."""
    return shown(mean(draws))


def shown(value: float | None) -> str:
    """A figure in per cent; a dash for None."""
    return percent(None if value is None else value / 100)
