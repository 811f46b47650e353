"""Rows as a table with one line for each sequence, method and seed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "sequence": "int64",
    "method": "str",
    "seed": "float64",
    "tokens": "int64",
    "status": "str",
    "score": "float64",
    "bound": "float64",
    "seconds": "float64",
    "bare_seconds": "float64",
    "violations": "int64",
    "error": "str",
    "gold_tokens": "float64",
    "correct": "float64",
    "correct_labels": "float64",
    "predicted_fields": "float64",
    "gold_fields": "float64",
    "matching_fields": "float64",
    "gold_score": "float64",
    "differs_by": "str",
}
"""Types by name; see `frame_of`."""
NUMBERS = ("score", "bound", "seconds", "bare_seconds")
ACCOUNT = ("correct", "correct_labels", "predicted_fields", "gold_fields", "matching_fields")


def line_of(row: Row) -> dict[str, Any]:
    """The figures of a row; KeyError, TypeError or ValueError for one that is damaged."""
    if not all(isinstance(row[name], float | int | None) for name in NUMBERS):
        raise TypeError("numbers are expected")
    gold = row["gold"] or {}
    return {
        **{name: row[name] for name in ("sequence", "method", "seed", "status", *NUMBERS)},
        "tokens": row["length"],
        "violations": sum(row["violations"].values()),
        "error": row.get("error", ""),
        "gold_tokens": gold["tokens"] if gold else None,
        **{name: gold[name] if gold else None for name in ACCOUNT},
        "gold_score": gold.get("score"),
        "differs_by": gold.get("error", ""),
    }


def frame_of(rows: Iterable[Row]) -> "pd.DataFrame":
    """One line a row, with `optimum`, `gap` and further values from the rows of the same sequence.

    Beside the figures of the rows: `optimum`, the score that a method has proved optimal, NaN where none has; `infeasible`,
    whether one has proved that there is no labelling; `solved`, whether the line has a labelling that keeps the hard rules;
    `gap`, optimum - score in nats, NaN where one of them is missing. `error` is the type of the error where the method failed,
    else empty; failures have no counts against gold.
    """
    import pandas as pd

    lines = [line_of(row) for row in rows]
    frame = pd.DataFrame(lines, columns=list(COLUMNS)).astype(COLUMNS)
    optimal = frame[frame.status == "optimal"].groupby("sequence").score.max()
    impossible = set(frame.sequence[frame.status == "infeasible"])
    frame["optimum"] = frame.sequence.map(optimal).astype("float64")
    frame["infeasible"] = frame.sequence.isin(impossible)
    frame["solved"] = frame.score.notna()
    frame["gap"] = frame.optimum - frame.score
    return frame
