"""Tables and sentences."""

from collections.abc import Sequence
from typing import Any

from benchmarks.report import Report, number
from benchmarks.studies.reprocess.commands import SMALL
from benchmarks.study import Row

ALONE, PAIR, DASK, DASKS = ("reprocess", 1), ("reprocess", 2), ("dask", 1), ("dask", 2)
COMPARED = (
    (ALONE, PAIR, "two processes are {} times as fast as one"),
    (DASK, DASKS, "two workers of Dask are {} times as fast as one"),
    (DASK, ALONE, "one worker of Dask takes {} times as long as one process without Dask"),
)
"""Commands whose seconds are divided."""


def report(rows: Sequence[Row], report: Report) -> None:
    _commands([row for row in rows if "megabytes" in row], report)
    _workers([row for row in rows if row["part"] in ("reprocess", "dask")], report)
    _kills([row for row in rows if row.get("kept")], report)
    contents = [row for row in rows if "content" in row]
    kinds = {(row["sequences"], row["shard"]): row["content"] for row in contents}
    same = sum(row["content"] == kinds[row["sequences"], row["shard"]] for row in contents)
    report.text(f"{same} of {len(contents)} runs have the content of the other runs on the same sequences.")


def more_megabytes(rows: Sequence[Row], row: Row) -> float | None:
    """The peak over that of the same command on few sequences; None for these."""
    for few in rows:
        if few["sequences"] == SMALL != row["sequences"] and _command(few) == _command(row):
            return float(row["megabytes"] - few["megabytes"])
    return None


def _command(row: Row) -> tuple[str, int]:
    return row["part"], row["workers"]


def _commands(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("First row, memory, speed")
    report.text(
        f"Commands with the start of Python; the memory is that over the same command on {SMALL} sequences."
    )
    table: list[list[Any]] = []
    for row in rows:
        name = f"`{row['part']}`" + (f", {row['workers']} processes" if row["workers"] > 1 else "")
        speed = None if row["sequences"] == SMALL else row["sequences"] / row["seconds"]
        more = more_megabytes(rows, row)
        figures = [number(row["first"], 2), number(row["seconds"]), number(speed)]
        table.append([name, row["sequences"], *figures, number(row["megabytes"]), number(more)])
    columns = ("command", "sequences", "first row, s", "all, s", "sequences/s", "peak, MB", "more MB")
    report.table(columns, table)


def _workers(rows: Sequence[Row], report: Report) -> None:
    """Two processes beside one, and Dask beside processes, on the same sequences."""
    for count in sorted({row["sequences"] for row in rows} - {SMALL}):
        seconds = {_command(row): row["seconds"] for row in rows if row["sequences"] == count}
        for one, other, text in COMPARED:
            if one in seconds and other in seconds:
                ratio = number(seconds[one] / seconds[other])
                report.text(f"{count} sequences: {text.format(ratio)}.")


def _kills(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("Kills")
    report.text("Runs that are killed with SIGKILL; what has not ended is resumed.")
    table = []
    for row in rows:
        alone = row["part"] == "kills"
        killed = "all processes, twice" if alone else f"{row['victim']}, on Dask"
        kept = ", ".join(map(str, row["kept"]))
        end = "resumed" if alone or row["exit"] else "ended in spite of it"
        table.append([killed, row["sequences"] // row["shard"], kept, end])
    report.table(("killed", "shards in all", "shards when killed", "the run"), table)
    resumed = sum(row["part"] == "kills" or bool(row["exit"]) for row in rows)
    report.text(
        f"Of {len(rows)} runs with kills {len(rows) - resumed} ended in spite of them, and {resumed} were resumed."
    )
