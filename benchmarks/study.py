"""The declaration of a study: its protocol, the cells that are measured, and the report made from their rows alone."""

import hashlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from benchmarks import studies
from benchmarks.report import Report, frames

if TYPE_CHECKING:
    from pandas import DataFrame

Number = TypeVar("Number")
Row = dict[str, Any]
SCALES = ("smoke", "sample", "full")
"""Next to nothing, for tests; what is committed; and all that the corpora have."""


@dataclass(frozen=True)
class Sources:
    """The folder of the corpora, and how much of them is taken."""

    folder: Path
    scale: str = "sample"

    @property
    def digest(self) -> str:
        """Of the names and sizes of all files, so that rows of different corpora are never mixed."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        sizes = [(path.relative_to(self.folder).as_posix(), path.stat().st_size) for path in files]
        return hashlib.sha256(repr(sizes).encode()).hexdigest()[:6]

    def __call__(self, *, smoke: Number, sample: Number, full: Number) -> Number:
        return {"smoke": smoke, "sample": sample, "full": full}[self.scale]


@dataclass(frozen=True)
class Design:
    """What is measured, written down before it is run; the report begins with it."""

    corpus: str
    model: str
    rules: str
    methods: str
    measures: str
    limits: str = "none"
    seeds: str = "none"
    source: str = ""
    stand_ins: str = ""

    def lines(self) -> Iterable[tuple[str, str]]:
        for field in fields(self):
            if text := getattr(self, field.name):
                yield field.name.replace("_", "-"), text


class Cell(Protocol):
    """What is measured at once, a frozen dataclass; the scale decides how many cells there are, not the work of one."""

    @property
    def part(self) -> str:
        """The part of the study."""


CellsOf = Callable[[Sources, str], Iterable[Cell]]
Measure = Callable[[Sources, Any], Iterable[Row]]


@dataclass(frozen=True)
class Study:
    """One study.

    Parameters
    ----------
    title, summary : of its page; what it measures, in one sentence
    design : its protocol
    parts : which can be run one by one
    cells : of a part; raises Missing where a corpus is not there
    measure : the rows of a cell, made in a process of its own or in this one; the fields of the cell are added to each
    report : writes text, tables and pictures from rows, which are in the order of the cells

    Each of the three is one function for all parts, or one by part, which writes from a table of the rows of its part.

    check : raises Disagreement where rows of different cells cannot all be right
    timed : whether times are measured, so that cells are run one after the other
    growth : seconds of a cell at full scale over those at sample scale, for the estimate: where time limits are longer
    """

    title: str
    summary: str
    design: Design
    parts: tuple[str, ...]
    cells: CellsOf | Mapping[str, CellsOf]
    measure: Measure | Mapping[str, Measure]
    report: Callable[[Sequence[Row], Report], None] | Mapping[str, Callable[["DataFrame", Report], None]]
    check: Callable[[Sequence[Row]], None] = lambda rows: None
    timed: bool = False
    growth: float = 1.0

    def cells_of(self, sources: Sources, part: str) -> Iterable[Cell]:
        cells = self.cells if callable(self.cells) else self.cells[part]
        return cells(sources, part)

    def rows_of(self, sources: Sources, cell: Cell) -> Iterable[Row]:
        measure = self.measure if callable(self.measure) else self.measure[cell.part]
        return measure(sources, cell)

    def write(self, rows: Sequence[Row], report: Report) -> None:
        if callable(self.report):
            self.report(rows, report)
            return
        for part, frame in frames(rows).items():
            self.report[part](frame, report)


class Disagreement(Exception):
    """Two programs that cannot both be right; the message names them."""


class Missing(Exception):
    """A corpus, or a library, that is not there; the message names it."""


@cache
def names() -> Mapping[str, str]:
    modules = pkgutil.iter_modules(studies.__path__, f"{studies.__name__}.")
    return {module.name.rpartition(".")[2].replace("_", "-"): module.name for module in modules}


@cache
def study_named(name: str) -> Study:
    result: Study = import_module(names()[name]).STUDY
    return result
