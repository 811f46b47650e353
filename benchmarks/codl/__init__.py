"""Few labelled references and many unlabelled ones: constraint-driven learning and its rivals (Chang et al. 2007, Table 2 (a))."""

import time
from functools import partial
from multiprocessing import get_context

from benchmarks.codl.cells import Cell, measure, start
from benchmarks.codl.text import report
from benchmarks.data.sets import Scale
from benchmarks.study import Study, Work

SECTIONS = ("cora", "gamma", "posterior", "top-k", "rexa", "confidence")
SIZES = (5, 10, 15, 20, 25)
PROCESSES = 2
SECONDS = 34 * 60
"""Cells that have not begun by then are left for the next run, which goes on behind those that are there."""
FEW, ALL = 5, 20
"""Draws: those of costly cells, which come first everywhere, and all."""


def planned(section: str, scale: Scale) -> list[Cell]:
    """The cells of a section, in the order in which they are run: by draw, so that all settings have the first draws."""
    sizes, kinds = (SIZES, ("plain", "best")) if not scale.smoke else ((5,), ("plain",))
    draws = scale(ALL, 2, 1)
    few = min(draws, FEW)

    def product(pool: str, columns: tuple[str, ...], sizes: tuple[int, ...], draws: int) -> list[Cell]:
        return [
            Cell(section, pool, kind, size, column, draw)
            for draw in range(draws)
            for size in sizes
            for kind in kinds
            for column in columns
        ]

    small = tuple(size for size in sizes if size in (5, 20))
    if section == "cora":
        return product("cora", ("sup", "H", "H&W", "H&W&C", "H&W&C counts"), sizes, draws)
    if section == "gamma":
        columns = ("H&W 0.1", "H&W&C 0.1")
        goal = [
            Cell(section, "cora", "best", 20, column, draw) for draw in range(draws) for column in columns
        ]
        rest = product("cora", columns, sizes, few)
        return list(dict.fromkeys(rest if scale.smoke else goal + rest))
    if section == "posterior":
        goal = [
            Cell(section, "cora", "best", 20, column, draw)
            for draw in range(draws)
            for column in ("posterior, softer", "posterior")
        ]
        rest = product("cora", ("soft EM", "posterior"), sizes, few)
        return list(dict.fromkeys(rest if scale.smoke else goal + rest))
    if section == "top-k":
        beside = [
            cell
            for cell in product(
                f"cora {scale(30, 10, 5)}", ("H&W&C", "beam 10", "top 10", "beam 50", "top 50"), small, few
            )
            if cell.kind == "plain"
        ]
        return beside if scale.smoke else beside + product("cora", ("top 50",), sizes, few)
    if section == "rexa":
        sizes = (*sizes, 300) if not scale.smoke else sizes
        pool = f"rexa {scale(1000, 100, 10)}"
        cells = product(pool, ("sup", "H", "H&W", "H&W&C", "H&W&C counts"), sizes, draws)
        return cells if scale.smoke else cells + product(pool, ("top 50",), (20, 300), few)
    return product("cora", ("self-training", "high confidence"), small, scale(3, 1))


def run(work: Work) -> None:
    """Every cell that the journal lacks, the first draws of all sections before the others."""
    start(work.data)
    wanted = [cell for section in work.sections for cell in planned(section, work.scale)]
    wanted.sort(key=_turn)
    todo = [cell for cell in wanted if not work.journal.has(*cell.key)]
    end = time.monotonic() + SECONDS
    with get_context("fork").Pool(PROCESSES) as pool:
        for number, row in enumerate(pool.imap_unordered(partial(measure, end=end), todo), 1):
            if row is not None:
                work.journal.add(row)
            if number % 50 == 0:
                work.say(f"{number} of {len(todo)} cells")


def _turn(cell: Cell) -> int:
    """When a cell is run: the goal of the study first, then a few draws of everything, then the others."""
    if (cell.pool, cell.kind, cell.size) == ("cora", "best", 20) and cell.section in (
        "cora",
        "gamma",
        "posterior",
    ):
        return 0
    if cell.section == "rexa":
        return 4 if cell.draw < 2 else 8 if cell.draw < FEW else 9
    if cell.draw >= FEW:
        return 7
    turns = {"cora": 1, "top-k": 2 if cell.size == 20 else 6, "gamma": 3, "posterior": 5, "confidence": 5}
    return turns[cell.section]


STUDY = Study("codl", "models from few labelled references, a pool, and rules", SECTIONS, run, report)
