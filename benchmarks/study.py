"""The declaration of a study: its protocol, the cells that are measured, and the report made from their rows alone."""

import hashlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from pandas import DataFrame

from benchmarks import studies
from benchmarks.report import Report, groups

RESPLIT = "another split of the same sequences into training and development part, drawn at random"
Number = TypeVar("Number")
Row = dict[str, Any]
SCALES = ("smoke", "sample", "full")
"""Next to nothing, for tests; what is committed; and all that the corpora have."""


@dataclass(frozen=True)
class Sources:
    """The folder of the corpora, how much of them is taken, and whether as a second draw."""

    folder: Path
    scale: str = "sample"
    second: bool = False

    @property
    def digest(self) -> str:
        """Of the names and sizes of all files, so that rows of different corpora are never mixed."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        sizes = [(path.relative_to(self.folder).as_posix(), path.stat().st_size) for path in files]
        return hashlib.sha256(repr(sizes).encode()).hexdigest()[:6]

    def __call__(self, *, smoke: Number, sample: Number, full: Number | None = None) -> Number:
        """What the scale has; the full one what the sample has, unless it is given."""
        return {"smoke": smoke, "sample": sample, "full": sample if full is None else full}[self.scale]

    def seed(self, usual: int) -> int:
        """A seed; as a second draw another one, which no study uses."""
        return usual + 1000 * self.second


PROTOCOL = ("corpus", "model", "rules", "methods", "measures", "limits", "seeds", "source", "stand_ins")
"""What is written down of a study before it is run; its page begins with it."""


class Cell(SimpleNamespace):
    """What is measured at once: its part, and what tells it from the others, with which each of its rows begins.

    The scale decides how many cells there are, not the work of one.
    """

    part: str

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(vars(self).items()))


def grid(part: str, **choices: Iterable[Any]) -> Iterable[Cell]:
    """A cell for each combination of choices; the last ones vary fastest."""
    return [Cell(part=part, **dict(zip(choices, some, strict=True))) for some in product(*choices.values())]


@dataclass(frozen=True)
class SecondDraw:
    """The headline of a study whose settings or rules may have been chosen on what it reports, repeated where none was.

    sequences : what is there
    by, cells : columns of rows, and by title what makes a cell of the rows that have the same values there
    repeated : whether a cell is measured there, too
    """

    sequences: str
    by: tuple[str, ...]
    cells: Mapping[str, Callable[[DataFrame], str]]
    repeated: Callable[[Any], bool] = lambda cell: True

    def write(self, first: DataFrame, second: DataFrame, report: Report) -> None:
        report.heading("The headline on a second draw")
        report.text(
            "First: the sequences of the tables above, on which settings or rules may have been chosen. Second: "
            f"{self.sequences}; none was chosen on these."
        )
        others, lines = dict(groups(second, *self.by)), []
        for names, some in groups(first, *self.by):
            if names in others:
                pairs = [(cell(some), cell(others[names])) for cell in self.cells.values()]
                lines.append([*names, *chain.from_iterable(pairs)])
        titles = (f"{title}, {which}" for title in self.cells for which in ("first", "second"))
        report.table([*self.by, *titles], lines, len(self.by))


CellsOf = Callable[[Sources, str], Iterable[Cell]]
Measure = Callable[[Sources, Cell], Iterable[Row]]
Write = Callable[[DataFrame, Report], None]


@dataclass(frozen=True, kw_only=True)
class Study:
    """One study.

    Parameters
    ----------
    title, summary : of its page; what it measures, in one sentence, which is the docstring of the module
    corpus, model, rules, methods, measures, limits, seeds, source, stand_ins : see PROTOCOL
    parts : which can be run one by one
    cells : of a part; raises Missing where a corpus is not there
    measure : the rows of a cell, made in a process of its own or in this one; what names the cell is added to each
    report : writes text, tables and pictures from a table of the rows, which are in the order of the cells

    Each of the three is one function for all parts, or one by part, or by several that are reported together; where one is left
    out, it is the function of this name in the module of the study.

    page : writes from the rows themselves, where they are of too many kinds for a table

    check : raises Disagreement where rows of different cells cannot all be right
    second : the headline on a second draw, of a study that was developed on the first
    """

    title: str
    summary: str = ""
    corpus: str
    model: str
    rules: str
    methods: str
    measures: str
    limits: str = "none"
    seeds: str = "none"
    source: str = ""
    stand_ins: str = ""
    parts: tuple[str, ...]
    cells: CellsOf | Mapping[str, CellsOf] = field(default_factory=dict)
    measure: Measure | Mapping[str, Measure] = field(default_factory=dict)
    report: Write | Mapping[str | tuple[str, ...], Write] = field(default_factory=dict)
    page: Callable[[Sequence[Row], Report], None] | None = None
    check: Callable[[Sequence[Row]], None] = lambda rows: None
    second: SecondDraw | None = None

    @property
    def protocol(self) -> Mapping[str, str]:
        return {name.replace("_", "-"): text for name in PROTOCOL if (text := getattr(self, name))}

    def cells_of(self, sources: Sources, part: str) -> Iterable[Cell]:
        cells = self.cells if callable(self.cells) else self.cells[part]
        first = list(cells(sources, part))
        second = self.second
        return [*first, *(Cell(part=part, cell=cell) for cell in first if second and second.repeated(cell))]

    def rows_of(self, sources: Sources, cell: Cell) -> list[Row]:
        """The rows of a cell with its own fields; those of the second draw, whose cells hold the first ones, say so."""
        own = vars(cell)
        if "cell" in own:
            return [
                row | {"second": True} for row in self.rows_of(replace(sources, second=True), own["cell"])
            ]
        measure = self.measure if callable(self.measure) else self.measure[cell.part]
        return [own | row for row in measure(sources, cell)]

    def write(self, rows: Sequence[Row], report: Report) -> None:
        first = first_draw(rows)
        if self.page:
            self.page(first, report)
        writers = {self.parts: self.report} if callable(self.report) else self.report
        for parts, write in writers.items():
            chosen = {parts} if isinstance(parts, str) else {*parts}
            if some := [row for row in first if row["part"] in chosen]:
                write(DataFrame(some), report)
        if self.second and len(first) < len(rows):
            self.second.write(DataFrame(first), DataFrame([row for row in rows if row.get("second")]), report)


def first_draw(rows: Iterable[Row]) -> list[Row]:
    """The rows of the sequences that a study is about."""
    return [row for row in rows if not row.get("second")]


class Disagreement(Exception):
    """Two programs that cannot both be right; the message names them."""


class Missing(Exception):
    """A corpus, or a library, that is not there; the message names it."""


def require(*packages: str) -> None:
    """Raise Missing where a package cannot be imported."""
    for name in packages:
        if find_spec(name) is None:
            raise Missing(f"{name} is not installed")


@cache
def names() -> Mapping[str, str]:
    modules = pkgutil.iter_modules(studies.__path__, f"{studies.__name__}.")
    return {module.name.rpartition(".")[2].replace("_", "-"): module.name for module in modules}


@cache
def study_named(name: str) -> Study:
    module = vars(import_module(names()[name]))
    study: Study = module["STUDY"]
    missing = [key for key in ("cells", "measure", "report") if not getattr(study, key)]
    own = {key: module[key] for key in missing if not (key == "report" and study.page)}
    return replace(study, summary=module["__doc__"], **own)
