"""`ilpinfer reprocess` on corpora of any size: the first row, memory, speed, and runs that are killed."""

from collections.abc import Iterable, Sequence

from pandas import DataFrame

from benchmarks.report import Cells, Report, groups, number
from benchmarks.studies.reprocess import commands
from benchmarks.studies.reprocess.commands import LARGE, SHARD, SMALL
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid, require


def report(frame: DataFrame, report: Report) -> None:
    frame = frame.reindex(columns=frame.columns.union(["megabytes", "kept", "content"]))
    _commands(frame[frame.megabytes.notna()], report)
    _kills(frame[frame.kept.notna()], report)
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


def _kills(frame: DataFrame, report: Report) -> None:
    if not len(frame):
        return
    report.heading("Kills")
    report.text("Runs all of whose processes are killed with SIGKILL, twice, and that are resumed.")
    lines = [
        (f"{row.sequences / row.shard:.0f}", ", ".join(map(str, row.kept))) for row in frame.itertuples()
    ]
    report.table(("shards in all", "shards when killed"), lines)


REPROCESS, KILLS = PARTS = ("reprocess", "kills")
MILLION = 1_000_000


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A command on so many sequences in so many processes; the number of a run with kills."""
    require("pyarrow")
    if part == KILLS:
        kills = range(sources(smoke=0, sample=2, full=10))
        return grid(part, sequences=[LARGE], workers=[2], number=kills)
    sizes = sources(smoke=(SMALL,), sample=(SMALL, LARGE), full=(SMALL, LARGE, MILLION))
    return grid(part, sequences=sizes, workers=sources(smoke=(1,), sample=(1, 2)), number=[0])


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    with commands.workspace(cell.sequences) as folder:
        yield (commands.killed if cell.part == KILLS else commands.reprocess)(folder, cell)


def check(rows: Sequence[Row]) -> None:
    """Runs of the same sequences have the same optima, and in shards of the same size the same content."""
    known: dict[tuple[str, int, int | None], Row] = {}
    for row in rows:
        for name, shard in (("optima", None), ("content", row.get("shard"))):
            if name in row:
                first = known.setdefault((name, row["sequences"], shard), row)
                if first[name] != row[name]:
                    one, other = (f"{each['part']} {each['number']}" for each in (first, row))
                    raise Disagreement(
                        f"{one} and {other} have other {name} for {row['sequences']} sequences"
                    )


STUDY = Study(
    title="Large corpora",
    corpus=f"generated references of 15 to 39 tokens with three fields: {SMALL} and {LARGE} (smoke {SMALL}, full {MILLION} too)",
    model="an HMM of 200 such references",
    rules="at most one run of each field, 2.5 nats",
    methods=f"`reprocess` in one and two processes, shards of {SHARD}. A run in two processes is killed with all its processes by SIGKILL, twice, and resumed",
    seeds="0 for sequences; the number of a kill draws how many shards are there when it comes, and a pause of up to half a second",
    measures="seconds by the clock until the first shard and until the end; the peak of the memory of a command with its "
    f"children, shared pages counted once, over that of the same command on {SMALL} sequences; sequences a second; "
    "digests of the content, which have to be the same for all runs on the same sequences (smoke: one command; sample 2 "
    "runs with kills, full 10). All have to have the same labels and scores",
    parts=PARTS,
    check=check,
)
