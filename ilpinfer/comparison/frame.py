"""The data frame of a comparison, with a line for each sequence, method and seed."""

import json
import math
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formulations.errors import InferenceError
from ilpinfer.errors import describe
from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "sequence": "int64",
    "method": "str",
    "kind": "str",
    "seed": "float64",
    "digest": "str",
    "tokens": "int64",
    "status": "str",
    "score": "float64",
    "bound": "float64",
    "seconds": "float64",
    "bare_seconds": "float64",
    "without_rules": "object",
    "labels": "object",
    "violations": "object",
    "reason": "str",
    "error": "str",
    "route": "str",
    "stages": "object",
    "incumbents": "object",
    "gold_tokens": "float64",
    "correct": "float64",
    "correct_labels": "float64",
    "predicted_fields": "float64",
    "gold_fields": "float64",
    "matching_fields": "float64",
    "gold_score": "float64",
    "fields": "object",
    "differs_by": "str",
}
"""The keys of a row and their types in the frame."""
DERIVED = ("violated", "optimum", "infeasible", "solved", "gap")
"""Derived columns; see `frame_of`."""


REMEDY = "expected a folder that `ilpinfer compare --output` of this version has written"


class RunError(InferenceError, ValueError):
    """A comparison that cannot be read, or comparisons that cannot be joined; the message names the place or the difference."""


def check_row(row: Row) -> None:
    """Raise TypeError or ValueError for a row that is damaged."""
    missing = COLUMNS.keys() - row.keys()
    if missing:
        raise ValueError(f"there is no {min(missing)}")
    for name, kind in COLUMNS.items():
        expected = {"float64": float | int | None, "int64": int, "str": str}.get(kind, object)
        if not isinstance(row[name], expected):
            raise TypeError(f"{name} is {row[name]!r}")
    counts = row["violations"]
    if not isinstance(counts, dict) or not all(type(count) is int for count in counts.values()):
        raise TypeError(f"violations is {counts!r}")


def frame_of(rows: Iterable[Row]) -> "pd.DataFrame":
    """The frame of rows, with the columns of `DERIVED`.

    `violated` is the number of violations. `optimum` is the proved optimum of the sequence; NaN if no method proved it. `infeasible` is
    whether a method proved that there is no labelling. `solved` is whether the line has a labelling that keeps the hard rules. `gap` is
    optimum - score in nats; NaN if one of them is missing.
    """
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(COLUMNS)
    optimal = frame[frame.status == "optimal"].groupby("sequence").score.max()
    impossible = frame.sequence[frame.status == "infeasible"]
    return frame.assign(
        violated=[sum(counts.values()) for counts in frame.violations],
        optimum=frame.sequence.map(optimal).astype("float64"),
        infeasible=frame.sequence.isin(impossible),
        solved=frame.score.notna(),
        gap=lambda each: each.optimum - each.score,
    )


def rows_of(frame: "pd.DataFrame") -> list[Row]:
    """The rows of a frame; the inverse of `frame_of`."""
    records = frame[list(COLUMNS)].to_dict("records")
    return [{str(name): _plain(value) for name, value in record.items()} for record in records]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def read_frame(path: Path, sequences: int, methods: Collection[str]) -> "pd.DataFrame":
    """The frame of a file of rows; RunError for a damaged file."""
    rows = list[Row]()
    try:
        with path.open("rb") as stream:
            for row in map(json.loads, stream):
                check_row(row)
                if not 0 <= row["sequence"] - (rows[-1]["sequence"] if rows else -1) <= 1:
                    raise ValueError("another sequence is expected")
                if row["method"] not in methods:
                    raise ValueError(f"no method {row['method']!r}")
                rows.append(row)
        if not rows or rows[-1]["sequence"] + 1 != sequences:
            raise ValueError("rows are missing")
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise RunError(f"{path}: damaged after line {len(rows)} ({describe(error)}); {REMEDY}") from None
    return frame_of(rows)


def kinds_of(frame: "pd.DataFrame") -> dict[str, str]:
    """ "exact", "heuristic" or "predictions" by method, in the given order."""
    return dict(zip(frame.method, frame.kind, strict=True))


def reference_of(kinds: Mapping[str, str]) -> str | None:
    """The first exact method, the reference of losses."""
    return next((method for method, kind in kinds.items() if kind == "exact"), None)
