"""A peer and `auto` on the same sequences under rules, where the peer can state them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks.data.corpora import data_set
from benchmarks.data.sets import spread
from benchmarks.methods import PACKAGES, PLAIN, CannotState, Worker, side_by_side
from benchmarks.studies.peers import constrained_hmm, constraint_program, newcomer, weighted_csp
from benchmarks.study import Disagreement, Missing, Row, Sources

PEERS: Mapping[str, tuple[str, ...]] = {
    "toulbar2": ("toulbar2",),
    "conin": ("conin", "conin a-star"),
    "cpmpy": ("cpmpy",),
    "pulp": ("pulp",),
}
"""The methods of each peer."""
WORKERS: Mapping[str, Worker] = {
    "toulbar2": weighted_csp.decode,
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


@dataclass(frozen=True)
class Cell:
    """A peer on some sequences of a data set from the first one on."""

    part: str
    data: str
    first: int = 0


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    require(part)
    for name in names(sources):
        for first in range(0, sources(smoke=1, sample=CHUNK, full=10 * CHUNK), CHUNK):
            yield Cell(part, name, first)


def names(sources: Sources) -> Iterator[str]:
    """Of the data sets; at smoke scale only documents, as what the programs build for references takes seconds."""
    yield from (f"generator {T} {K}" for T, K in DOCUMENTS[sources.scale])
    yield from sources(smoke=(), sample=CORPORA, full=CORPORA)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    data = data_set(sources, cell.data)
    items = spread(data.items, sources(smoke=1, sample=CHUNK, full=10 * CHUNK))[
        cell.first : cell.first + CHUNK
    ]
    for method, item, row in side_by_side(data, items, ("auto", PLAIN, *PEERS[cell.part]), LIMIT, WORKERS):
        T, K = item.make().lattice.shape
        about = {"method": method, "item": item.key, "T": T, "K": K}
        try:
            if cell.part != "toulbar2" and method not in ("auto", PLAIN) and T * K * K > MOST_COLUMNS:
                raise CannotState(f"a program of more than {MOST_COLUMNS} columns")
            yield row()
        except CannotState as reason:
            yield about | {"status": "cannot state", "note": str(reason)}
        except Disagreement:
            raise
        except Exception as error:
            if method in ("auto", PLAIN):
                raise
            yield about | {"status": "failed", "note": f"{type(error).__name__}: {error}"[:200]}


def require(part: str) -> None:
    """Raise Missing where the package of a part is not installed."""
    package = PACKAGES.get(part)
    if package is not None and find_spec(package) is None:
        raise Missing(f"{package} is not installed")
