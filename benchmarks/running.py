"""The cells of a study, measured one after the other."""

import time
import warnings
from collections.abc import Callable, Sequence

from benchmarks.journal import Journal
from benchmarks.optimum import take_counts
from benchmarks.study import Cell, Missing, Row, Sources, study_named
from formulations.errors import RuleNotice
from ilpinfer.cli.progress import progress


def cells_of(
    name: str, sources: Sources, parts: Sequence[str], say: Callable[[str], None] = lambda text: None
) -> list[Cell]:
    """The cells of the parts; a part whose corpus is missing is left out, which is said."""
    result: list[Cell] = []
    for part in parts:
        try:
            result += study_named(name).cells_of(sources, part)
        except Missing as missing:
            say(f"{name}, {part} left out: {missing}")
    return result


def run(name: str, sources: Sources, cells: Sequence[Cell], journal: Journal) -> None:
    """Measure what the journal lacks."""
    parts = study_named(name).parts
    todo = [(place, cell) for place, cell in enumerate(cells) if cell not in journal]
    with progress(name, len(cells), len(cells) - len(todo)) as advance:
        for place, cell in todo:
            journal.add(cell, measured(name, sources, cell) | {"number": (parts.index(cell.part), place)})
            advance()


def measured(name: str, sources: Sources, cell: Cell) -> Row:
    """The line of a cell: its rows with its own fields, its seconds, and the optima that were rechecked."""
    take_counts()
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleNotice)
        rows = study_named(name).rows_of(sources, cell)
    seconds = round(time.perf_counter() - began, 3)
    return {"part": cell.part, "rows": rows, "seconds": seconds, **take_counts()}
