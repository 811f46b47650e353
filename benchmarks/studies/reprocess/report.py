"""Commands, processes and workers, and kills."""

from collections.abc import Sequence

from pandas import DataFrame

from benchmarks.report import Report, groups, number
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
    frame = DataFrame(rows)
    if "megabytes" in frame:
        _commands(frame[frame.megabytes.notna()], report)
    _workers(frame[frame.part.isin(["reprocess", "dask"])], report)
    _kills([row for row in rows if row.get("kept")], report)
    contents = frame[frame.content.notna()] if "content" in frame else frame[:0]
    same = sum(
        (own.content == own.content.iloc[0]).sum() for _, own in groups(contents, "sequences", "shard")
    )
    report.text(f"{same} of {len(contents)} runs have the content of the other runs on the same sequences.")


def more_megabytes(frame: DataFrame) -> DataFrame:
    """The peak of each row over that of the same command on few sequences; NaN for these."""
    few = frame[frame.sequences == SMALL].set_index(["part", "workers"]).megabytes.rename("few")
    more = frame.join(few, on=["part", "workers"])
    return frame.assign(more=(more.megabytes - more.few).where(frame.sequences != SMALL))


def _commands(frame: DataFrame, report: Report) -> None:
    report.heading("First row, memory, speed")
    report.text(
        f"Commands with the start of Python; the memory is that over the same command on {SMALL} sequences."
    )
    names = [f"`{row.part}`" + f", {row.workers} processes" * (row.workers > 1) for row in frame.itertuples()]
    rate = (frame.sequences / frame.seconds).where(frame.sequences != SMALL)
    report.pivot(
        more_megabytes(frame).assign(command=names, rate=rate),
        {"command": "command", "sequences": "sequences"},
        {
            "first row, s": lambda x: number(x["first"].iloc[0], 2),
            ("all, s", "sequences/s", "peak, MB", "more MB"): lambda x: map(
                number, x[["seconds", "rate", "megabytes", "more"]].iloc[0]
            ),
        },
        left=1,
    )


def _workers(frame: DataFrame, report: Report) -> None:
    """Two processes beside one, and Dask beside processes, on the same sequences."""
    for count in sorted(set(frame.sequences) - {SMALL}):
        own = frame[frame.sequences == count]
        seconds = {(row.part, row.workers): row.seconds for row in own.itertuples()}
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
    resumed = sum(line[-1] == "resumed" for line in table)
    report.text(
        f"Of {len(rows)} runs with kills {len(rows) - resumed} ended in spite of them, and {resumed} were resumed."
    )
