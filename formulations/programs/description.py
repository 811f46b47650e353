"""Sizes of programs, rule by rule and kind by kind."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from formulations.dtypes import Integers
from formulations.programs.names import Meaning


@dataclass(frozen=True)
class Part:
    """The columns and rows of one rule and kind, and the coefficients in these rows."""

    rule: str  # empty for columns and rows of no rule, or of several
    kind: str  # as in `Meaning`
    columns: int
    rows: int
    entries: int


@dataclass(frozen=True)
class Description:
    """The parts of a program, those of the path first; printed as a table, its totals in the last line."""

    parts: tuple[Part, ...]

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def columns(self) -> int:
        return sum(part.columns for part in self.parts)

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @property
    def entries(self) -> int:
        return sum(part.entries for part in self.parts)

    def __str__(self) -> str:
        total = Part("total", "", self.columns, self.rows, self.entries)
        parts = ((p.rule or "-", p.kind, p.columns, p.rows, p.entries) for p in (*self.parts, total))
        lines = [("rule", "kind", "columns", "rows", "entries"), *(tuple(map(str, part)) for part in parts)]
        rule, kind, *numbers = (max(map(len, column)) for column in zip(*lines, strict=True))
        widths = (f"<{rule}", f"<{kind}", *(f">{width}" for width in numbers))
        return "\n".join("  ".join(map(format, line, widths)) for line in lines)


def describe(columns: Iterable[Meaning], rows: Iterable[Meaning], row_lengths: Integers) -> Description:
    """The parts that columns and rows belong to, with the entries of each row."""
    n_columns = Counter((m.rule, m.kind) for m in columns)
    n_rows, entries = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for row, length in zip(rows, row_lengths.tolist(), strict=True):
        n_rows[row.rule, row.kind] += 1
        entries[row.rule, row.kind] += length
    keys = sorted(dict.fromkeys([*n_columns, *n_rows]), key=lambda key: key[0] != "")
    return Description(tuple(Part(*key, n_columns[key], n_rows[key], entries[key]) for key in keys))
