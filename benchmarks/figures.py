"""Figures of README and docs, which are cells of committed results.

A comment before a table names the cells that it is made of, or that stand in its last column; one behind a figure names its cell:

    <!-- table: peers | The same instances | optimal; time / `auto` = × | toulbar2 / UMass references = UMass -->
    <!-- cells: peers | time / `auto` | toulbar2 / UMass references; conin, A* / Cora references -->
    takes 8.42<!-- doors | How fast is it? | beam of 10 | Cora --> ms

The parts of a table's comment are study, heading, columns and rows; a row is named by its first cells. A cell with several numbers is followed by the
place of the one that is meant, `× median #2`. A sentence in place of a cell stands in quotes, `<!-- peers | "68 of the 69 instances" #2 -->`.
`python -m benchmarks.figures` writes all figures and tables again.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/heuristics.md", "docs/measurements.md", "docs/why.md")
WRITTEN = (*PAGES, "docs/learning.md")
"""Pages with figures; in those of `PAGES`, every section with a measure links to results."""
SPACE = " \u202f"
NUMBER = re.compile(rf"[−+-]?(?:\d{{1,3}}(?:[{SPACE}]\d{{3}})+|\d+)(?:\.\d+)?")
FIGURE = re.compile(rf"(\?|{NUMBER.pattern})<!-- ([\w-]+) \| (.+?)(?: #(\d+))? -->")
TABLE = re.compile(r"(<!-- table: ([\w-]+) \| (.*?) \| (.*?) \| (.*?) -->\n\n?)((?:\|.*\n)*)")
CELLS = re.compile(r"<!-- cells: ([\w-]+) \| (.*?) \| (.*?) -->\n\n(?:\|.*\n)+")
IN_LAST = re.compile(rf"(?<=\| )(?:\?|{NUMBER.pattern})(?=[^|\n]*\|\n)")
"""A number with which the last cell of a line begins."""


class NoCell(ValueError):
    """A figure or a table that names no cell of the results, or several different ones."""


@dataclass(frozen=True)
class Table:
    """A table of a page of results."""

    heading: str
    columns: list[str]
    rows: list[list[str]]

    def row(self, name: str) -> list[str]:
        """The row with these first cells, separated by slashes with spaces."""
        names = name.split(" / ")
        known = [row for row in self.rows if row[: len(names)] == names]
        if len(known) != 1:
            raise NoCell(f"{len(known)} rows {name!r} under {self.heading!r}")
        return known[0]


@cache
def tables_of(study: str) -> tuple[Table, ...]:
    """The tables of a study's committed page."""
    heading, block, result = "", list[list[str]](), list[Table]()
    for line in [*_page(study).splitlines(), ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            continue
        if block:
            result.append(Table(heading, block[0], block[2:]))
            block = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
    return tuple(result)


@cache
def _page(study: str) -> str:
    folder = ROOT / "benchmarks" / "results"
    path = folder / f"{study}.txt" if (folder / f"{study}.txt").exists() else folder / study / "results.md"
    if not path.exists():
        raise NoCell(f"no results of {study!r}")
    return path.read_text("utf-8")


def cell(study: str, place: str) -> str:
    """The text of a cell, `row | column` or `table | row | column`, or a quoted sentence of the page."""
    if place.startswith('"'):
        if place[1:-1] not in _page(study):
            raise NoCell(f"{study}: no text {place}")
        return place[1:-1]
    *heading, row, column = place.split(" | ")
    texts = set()
    for table in tables_of(study):
        if column in table.columns and heading in ([], [table.heading]):
            names = row.split(" / ")
            at = table.columns.index(column)
            texts |= {cells[at] for cells in table.rows if cells[: len(names)] == names}
    if len(texts) != 1:
        raise NoCell(f"{study}: {len(texts)} different cells at {place!r}")
    return texts.pop()


def number(study: str, place: str, which: int) -> str:
    """A number of a cell, counted from 1."""
    text = cell(study, place)
    numbers = _numbers(text)
    if not 0 < which <= len(numbers):
        raise NoCell(f"{study}: no number {which} in {text!r}, which is at {place!r}")
    return numbers[which - 1]


def _numbers(text: str) -> list[str]:
    return [each.group() for each in NUMBER.finditer(text)]


def table(study: str, heading: str, columns: str, rows: str) -> str:
    """Some columns and rows of tables, each under its name or, after an equals sign, under another."""
    lines: list[list[str]] = [[""], ["---"], *([shown] for _, shown in _names(rows))]
    for name, shown in _names(columns):
        name, _, which = name.partition(" #")
        lines[0].append(shown)
        lines[1].append("---:")
        for line, text in zip(lines[2:], _column(study, heading, name, rows), strict=True):
            line.append(_numbers(text)[int(which) - 1] if which else text)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _column(study: str, heading: str, name: str, rows: str) -> list[str]:
    """The cells of a column in the rows with these names; without a heading, it is named `heading > column`."""
    if not heading:
        heading, _, name = name.partition(" > ")
    known = [each for each in tables_of(study) if each.heading == heading and name in each.columns]
    if len(known) != 1:
        raise NoCell(f"{study}: {len(known)} tables with a column {name!r} under {heading!r}")
    return [known[0].row(row)[known[0].columns.index(name)] for row, _ in _names(rows)]


def _names(text: str) -> Iterator[tuple[str, str]]:
    for each in text.split("; "):
        name, _, shown = each.strip().partition(" = ")
        yield name, shown or name


def written(text: str) -> str:
    """A page with the figures and tables of the results."""
    text = TABLE.sub(lambda m: f"{m[1].rstrip()}\n\n{table(*m.group(2, 3, 4, 5))}", text)
    text = CELLS.sub(_with_cells, text)
    return FIGURE.sub(lambda m: number(m[2], m[3], int(m[4] or 1)) + m.group()[len(m[1]) :], text)


def _with_cells(match: re.Match[str]) -> str:
    """A table whose last column has these cells, in their order."""
    study, column, rows = match.groups()
    cells = iter([cell(study, f"{row} | {column}") for row, _ in _names(rows)])
    text = IN_LAST.sub(lambda _: next(cells, "?"), match[0])
    if "| ?" in text or next(cells, None):
        raise NoCell(f"{study}: not as many cells {rows!r} as numbers in the last column")
    return text


def main(pages: Sequence[str] = WRITTEN) -> None:
    """Write figures and tables again."""
    for name in pages:
        path = ROOT / name
        before = path.read_text("utf-8")
        after = written(before)
        if after != before:
            path.write_text(after, "utf-8")
            print(f"{name}: changed", file=sys.stderr)


if __name__ == "__main__":
    main()
