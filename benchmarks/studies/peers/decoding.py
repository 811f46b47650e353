"""A peer and `auto` on the same sequences under rules, where the peer can state them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from benchmarks.data.corpora import data_set
from benchmarks.data.sets import Item, spread
from benchmarks.methods import PLAIN, CannotState, Worker, attempted, side_by_side
from benchmarks.studies.peers import constrained_hmm, constraint_program, newcomer, weighted_csp
from benchmarks.study import Cell, Row, Sources, grid, require

PEERS: Mapping[str, tuple[str, ...]] = {
    "toulbar2": ("toulbar2", "toulbar2, defaults"),
    "conin": ("conin", "conin a-star"),
    "cpmpy": ("cpmpy",),
    "pulp": ("pulp",),
}
"""The methods of each peer."""
PACKAGES = {"toulbar2": ("pytoulbar2",), "conin": ("conin",), "cpmpy": ("cpmpy",)}
"""What a peer needs beyond the packages of the library; `pip install ilpinfer[bench]` has the first two."""
WORKERS: Mapping[str, Worker] = {
    "toulbar2": weighted_csp.decode,
    "toulbar2, defaults": partial(weighted_csp.decode, defaults=True),
    "conin": constrained_hmm.decode,
    "conin a-star": constrained_hmm.search,
    "cpmpy": constraint_program.decode,
    "pulp": newcomer.decode,
}
LIMIT = 10.0
CHUNK = 3
MOST_COLUMNS = 200_000
"""Of a complete program; building it in Python alone takes minutes beyond that."""
DOCUMENTS: Mapping[str, tuple[tuple[int, int], ...]] = {
    "smoke": ((12, 5),),
    "sample": ((60, 5), (60, 13), (60, 27)),
    "full": ((60, 5), (60, 13), (60, 27), (120, 5), (120, 13), (120, 27), (120, 60), (240, 27)),
}
"""T and K of generated documents."""
CORPORA = ("cora 20", "cora 20 once", "cora 20 implications", "resume soft", "resume hard", "umass")


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A peer on some sequences of a data set from the first one on."""
    require(*PACKAGES.get(part, ()))
    return grid(part, data=names(sources), first=range(0, _number(sources), CHUNK))


def _number(sources: Sources) -> int:
    """Of sequences of each data set."""
    return sources(smoke=1, sample=CHUNK, full=10 * CHUNK)


def names(sources: Sources) -> Iterator[str]:
    """Of the data sets; at smoke scale only documents, as what the programs build for references takes seconds."""
    yield from (f"generator {T} {K}" for T, K in DOCUMENTS[sources.scale])
    yield from sources(smoke=(), sample=CORPORA)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    data = data_set(sources, cell.data)
    items = spread(data.items, _number(sources))[cell.first : cell.first + CHUNK]
    for method, item, row in side_by_side(data, items, ("auto", PLAIN, *PEERS[cell.part]), LIMIT, WORKERS):
        yield attempted(method, item, partial(_bounded, cell.part, method, item, row))


def _bounded(part: str, method: str, item: Item, row: Callable[[], Row]) -> Row:
    """The row of a method; CannotState for a program that is too large."""
    T, K = item.make().lattice.shape
    if part != "toulbar2" and method not in ("auto", PLAIN) and T * K * K > MOST_COLUMNS:
        raise CannotState(f"a program of more than {MOST_COLUMNS} columns")
    return row()
