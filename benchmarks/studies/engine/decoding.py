"""Methods on sequences of a data set: `auto` and the others in the same cell."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from benchmarks.data import corpora, sets
from benchmarks.data.sets import SOLVERS, DataSet, Item, spread
from benchmarks.methods import AGAIN, DEFAULTS, PLAIN, side_by_side
from benchmarks.study import Cell, Row, Sources, grid

CORA, UMASS, RESUME, GENERATED = "cora", "umass", "resume", "generated"
LIMIT, UMASS_LIMIT = 10.0, 0.8
"""Seconds a sequence."""
CHUNKS: Mapping[str, tuple[tuple[str, ...], int]] = {
    "heuristics": ((AGAIN, PLAIN, "viterbi", "beam 10", "beam 50"), 25),
    "wide beam": (("beam 200",), 5),
    "solvers": ((*SOLVERS, *DEFAULTS), 5),
}
"""The methods that a cell measures beside `auto`, and on how many sequences at most."""
SOLVED = ("cora 20", "resume hard")
"""Corpora that solvers are given, beside generated documents: of those that differ in model, rules or penalties, one."""
SOLVED_COLUMNS = 90_000, 450_000
"""Of a complete program that solvers are given, at sample and at full scale."""
LENGTHS = (30, *sets.LENGTHS)


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """A group of methods, or one of them, on some sequences of a data set from the first one on."""
    every = list(data_sets(sources, part).values())
    for data in every[: sources(smoke=1, sample=None)] if part != GENERATED else every:
        for name, (_, size) in CHUNKS.items():
            places = range(0, len(chosen(sources, data, name)), size)
            yield from grid(part, data=[data.name], methods=[name], first=places)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    data, (methods, size) = data_sets(sources, cell.part)[cell.data], CHUNKS[cell.methods]
    items = chosen(sources, data, cell.methods)[cell.first : cell.first + size]
    limit = UMASS_LIMIT if cell.part == UMASS else LIMIT
    for _, _, row in side_by_side(data, items, ("auto", *methods), limit):
        yield row()


@cache
def data_sets(sources: Sources, part: str) -> Mapping[str, DataSet]:
    makers: Mapping[str, Callable[[Sources], Iterator[DataSet]]] = {
        CORA: corpora.cora,
        UMASS: corpora.umass,
        RESUME: corpora.resume,
        GENERATED: _generated,
    }
    return {data.name: data for data in makers[part](sources) if not data.name.endswith(" once")}


def chosen(sources: Sources, data: DataSet, name: str) -> tuple[Item, ...]:
    """The sequences of a data set that a group of methods decodes."""
    planted, every = data.part == "generator", len(data.items)
    number = {
        "heuristics": sources(smoke=1 + planted, sample=6 if planted else 100, full=every),
        "wide beam": sources(smoke=int(planted), sample=2 if planted else 10, full=every),
        "solvers": _solved(sources, data),
    }
    return spread(data.items, number[name])


def _solved(sources: Sources, data: DataSet) -> int:
    """How many sequences solvers get: of documents along one line of lengths and one of sizes, none of the widest."""
    if data.name not in SOLVED and data.part != "generator":
        return 0
    if data.part != "generator":
        return sources(smoke=0, sample=20, full=50)
    T, K = map(int, data.name.split()[1:])
    on_line = T == sets.RIVALS_LENGTH or K == sets.RIVALS_SIZE or sources.scale == "smoke"
    small = sources(smoke=300, sample=SOLVED_COLUMNS[0], full=SOLVED_COLUMNS[1]) >= T * K * K
    return sources(smoke=1, sample=4, full=10) if on_line and small else 0


def _generated(sources: Sources) -> Iterator[DataSet]:
    sizes, lengths = sources(smoke=((5, 7), (12, 24)), sample=(sets.SIZES, LENGTHS))
    return (sets.planted(T, K, sources) for K in sizes for T in lengths)
