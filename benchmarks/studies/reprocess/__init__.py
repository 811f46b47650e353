"""Corpora of any size: the first row, memory, speed, and runs that are killed."""

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec

from benchmarks.studies.reprocess import cluster, commands
from benchmarks.studies.reprocess.commands import LARGE, SHARD, SMALL, Cell
from benchmarks.studies.reprocess.report import report
from benchmarks.study import Design, Disagreement, Missing, Row, Sources, Study

DECODE, REPROCESS, KILLS, DASK, DASK_KILLS = PARTS = ("decode", "reprocess", "kills", "dask", "dask-kills")
NEEDED = {DECODE: (), REPROCESS: ("pyarrow",), KILLS: ("pyarrow",)}
MILLION = 1_000_000


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    for name in NEEDED.get(part, ("pyarrow", "distributed")):
        if find_spec(name) is None:
            raise Missing(f"{name} is not installed")
    sizes = sources(smoke=(SMALL,), sample=(SMALL, LARGE), full=(SMALL, LARGE, MILLION))
    if sources.scale == "smoke" and part != REPROCESS:
        return
    if part in (DECODE, REPROCESS):
        processes = (1, 2) if part == REPROCESS and sources.scale != "smoke" else (1,)
        yield from (Cell(part, size, one) for size in sizes for one in processes)
    elif part == DASK:
        yield from (Cell(part, LARGE, workers) for workers in (1, 2))
    elif part == KILLS:
        yield from (Cell(part, LARGE, 2, number) for number in range(sources(smoke=0, sample=2, full=10)))
    else:
        yield Cell(part, cluster.SEQUENCES, 2)
        for number in range(sources(smoke=0, sample=2, full=10)):
            yield from (Cell(part, cluster.SEQUENCES, 2, number, victim) for victim in cluster.VICTIMS)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    with commands.workspace(cell.sequences) as folder:
        if cell.part == DECODE:
            yield commands.decode(folder)
        elif cell.part == REPROCESS:
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
    summary="`ilpinfer decode` and `reprocess` on corpora of any size: the first row, memory, speed, and runs that are killed.",
    design=Design(
        corpus=f"generated references of 15 to 39 tokens with three fields: {SMALL} and {LARGE} (smoke {SMALL}, full {MILLION} too); "
        f"{cluster.SEQUENCES} for kills on Dask",
        model="an HMM of 200 such references",
        rules="at most one run of each field, 2.5 nats",
        methods=f"`decode`; `reprocess` in one and two processes, shards of {SHARD}; the same on one and two workers of Dask, each with "
        "one thread. A run in two processes is killed with all its processes by SIGKILL, twice, and resumed. On Dask, with "
        f"shards of {cluster.SHARD}, one worker, the scheduler or the client is killed, and the run is resumed on a new cluster "
        "where it has not ended",
        seeds="0 for sequences; the number of a kill draws how many shards are there when it comes, and a pause of up to half a second",
        measures="seconds by the clock until the first row (or shard) and until the end; the peak of the memory of a command with its "
        f"children, shared pages counted once, over that of the same command on {SMALL} sequences; sequences a second; exit codes; "
        "digests of the content, which have to be the same for all runs on the same sequences (smoke: one command; sample 2 "
        "kills and 6 on Dask, full 10 and 30). Every row of `decode` is compared with a certified optimum, which is rechecked; "
        "the other runs have to have the same labels and scores",
    ),
    parts=PARTS,
    cells=cells,
    measure=measure,
    report=report,
    check=check,
    timed=True,
)
