"""`ilpinfer reprocess` on corpora of any size: the first row, memory, speed, and runs that are killed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pandas import DataFrame

from benchmarks.report import Cells, Report, groups, number
from benchmarks.studies.reprocess import cluster, commands
from benchmarks.studies.reprocess.commands import LARGE, SHARD, SMALL
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid, require


def report(frame: DataFrame, report: Report) -> None:
    frame = frame.reindex(columns=frame.columns.union(["megabytes", "kept", "content"]))
    _commands(frame[frame.megabytes.notna()], report)
    _kills(frame[frame.kept.notna()].to_dict("records"), report)
    contents = frame[frame.content.notna()]
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
    cells: Cells = {
        "first row, s": lambda x: number(x["first"].iloc[0], 2),
        ("all, s", "sequences/s", "peak, MB", "more MB"): lambda x: map(
            number, x[["seconds", "rate", "megabytes", "more"]].iloc[0]
        ),
    }
    report.pivot(
        more_megabytes(frame).assign(command=names, rate=rate),
        {"command": "command", "sequences": "sequences"},
        cells,
        left=1,
    )


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
        table.append([killed, int(row["sequences"] // row["shard"]), kept, end])
    report.table(("killed", "shards in all", "shards when killed", "the run"), table)
    resumed = sum(line[-1] == "resumed" for line in table)
    report.text(
        f"Of {len(rows)} runs with kills {len(rows) - resumed} ended in spite of them, and {resumed} were resumed."
    )


REPROCESS, KILLS, DASK_KILLS = PARTS = ("reprocess", "kills", "dask-kills")
MILLION = 1_000_000


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A command on so many sequences, in so many processes or on so many workers; number and victim of a kill."""
    require("pyarrow", *(["distributed"] if part == DASK_KILLS else []))
    sizes = sources(smoke=(SMALL,), sample=(SMALL, LARGE), full=(SMALL, LARGE, MILLION))
    kills, few = range(sources(smoke=0, sample=2, full=10)), sources.scale == "smoke"
    none: dict[str, Any] = {"number": [0], "victim": [""]}
    if part == REPROCESS:
        yield from grid(part, sequences=sizes, workers=(1,) if few else (1, 2), **none)
    elif part == KILLS:
        yield from grid(part, sequences=[LARGE], workers=[2], number=kills, victim=[""])
    elif part == DASK_KILLS and not few:
        yield from grid(part, sequences=[cluster.SEQUENCES], workers=[2], **none)
        yield from grid(
            part, sequences=[cluster.SEQUENCES], workers=[2], number=kills, victim=cluster.VICTIMS
        )


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    with commands.workspace(cell.sequences) as folder:
        if cell.part == REPROCESS:
            yield commands.reprocess(folder, cell)
        elif cell.part == KILLS:
            yield commands.killed(folder, cell)
        else:
            yield cluster.measure(folder, cell)


def check(rows: Sequence[Row]) -> None:
    """Runs of the same sequences have the same optima, and in shards of the same size the same content."""
    known: dict[tuple[str, int, int | None], Row] = {}
    for row in rows:
        for name, shard in (("optima", None), ("content", row.get("shard"))):
            if name in row:
                first = known.setdefault((name, row["sequences"], shard), row)
                if first[name] != row[name]:
                    one, other = (
                        f"{each['part']} {each['number']} {each['victim']}" for each in (first, row)
                    )
                    raise Disagreement(
                        f"{one} and {other} have other {name} for {row['sequences']} sequences"
                    )


STUDY = Study(
    title="Large corpora",
    corpus=f"generated references of 15 to 39 tokens with three fields: {SMALL} and {LARGE} (smoke {SMALL}, full {MILLION} too); "
    f"{cluster.SEQUENCES} for kills on Dask",
    model="an HMM of 200 such references",
    rules="at most one run of each field, 2.5 nats",
    methods=f"`reprocess` in one and two processes, shards of {SHARD}. A run in two processes is killed with all its processes by SIGKILL, twice, and resumed. On Dask, with "
    f"shards of {cluster.SHARD}, one worker, the scheduler or the client is killed, and the run is resumed on a new cluster "
    "where it has not ended",
    seeds="0 for sequences; the number of a kill draws how many shards are there when it comes, and a pause of up to half a second",
    measures="seconds by the clock until the first shard and until the end; the peak of the memory of a command with its "
    f"children, shared pages counted once, over that of the same command on {SMALL} sequences; sequences a second; exit codes; "
    "digests of the content, which have to be the same for all runs on the same sequences (smoke: one command; sample 2 "
    "kills and 6 on Dask, full 10 and 30). All have to have the same labels and scores",
    parts=PARTS,
    check=check,
)
