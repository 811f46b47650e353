"""Contents of the columns of a file (numbers, labels or other texts), its comments, and likely label columns."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

ROWS = 20_000
"""Number of first rows of a file that are inspected."""
_LABEL = re.compile(r"[BIO_]|[BIESLUMW][-_:]\S.*|.*\S[-_:][BIESLUMW]", re.IGNORECASE)
"""Labels outside of all fields, and labels with a prefix or suffix for their position in a run."""
_NAME = re.compile(r"[^\W\d_][\w .:/#()-]+")
"""A name of a column."""
_SEPARATOR_LINE = re.compile(r"###+\s*\S")
CHUNKS = frozenset(["NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP"])
"""Chunking fields, which CoNLL files have in addition to named entities."""

Cells = list[str]


def is_label(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


@dataclass(frozen=True)
class Contents:
    """The first row of a file, its number of cells (except cells empty in all rows from the third on), and the other rows."""

    width: int
    first: Cells
    others: tuple[Cells, ...]
    columns: tuple[Counter[str], ...]

    @classmethod
    def of(cls, rows: Sequence[Cells]) -> "Contents":
        """The contents of rows without comments and borders; there may be no rows."""
        if not rows:
            return cls(0, [], (), ())
        size = len(rows[0])
        alike = [row for row in islice(rows, ROWS) if len(row) == size]
        width = 1 + max(
            (at for at in range(min(2, size), size) if any(row[at] for row in alike)),
            default=min(1, size - 1),
        )
        others = tuple(alike[1:]) or tuple(alike)
        return cls(
            width,
            alike[0],
            others,
            tuple(Counter(map(str.strip, cells)) for cells in zip(*others, strict=True)),
        )

    def trimmed(self, cells: Cells) -> Cells:
        """The cells of a row without trailing empty cells beyond the last column."""
        return cells[: self.width] if self.width and not any(cells[self.width :]) else cells

    def has_labels(self, at: int) -> bool:
        """Whether a column consists of labels with prefixes or suffixes, at least one of them in a field."""
        return all(map(is_label, self.columns[at])) and self._in_fields(at) > 0

    @cached_property
    def numbered(self) -> bool:
        """Whether the first of at least three columns counts the tokens of a sequence."""
        if self.width < 3 or len(self.others) < 2 or not all(cell.isdecimal() for cell in self.columns[0]):
            return False
        numbers = [int(row[0]) for row in self.others]
        return all(two == one + 1 or two in (0, 1) for one, two in pairwise(numbers)) and len({*numbers}) > 1

    def begins_with_names(self, places: Sequence[int]) -> bool:
        """Whether the first row is a header: it differs in kind from all other rows at one of the places, or at the numbers."""
        if self.width < 2 or self.others[0] is self.first:
            return False
        if self.numbered and not self.first[0].isdecimal():
            return True
        return any(
            self.has_labels(at)
            and not is_label(self.first[at].strip())
            and self.first[at] not in self.columns[at]
            and _NAME.fullmatch(self.first[at])
            for at in places
        )

    def label_columns(self) -> list[int]:
        """The columns that look like labels, the likeliest first; columns with few distinct texts if none has prefixes."""
        later = range(2 if self.numbered else 1, self.width)
        marked = [at for at in later if self.has_labels(at)]
        if marked:
            return sorted(marked, key=lambda at: (self._is_chunking(at), -self._in_fields(at)))
        sizes = {at: len(self.columns[at]) for at in later if not all(map(str.isdecimal, self.columns[at]))}
        return sorted((at for at, size in sizes.items() if size > 1), key=sizes.__getitem__)[:1]

    def _marked(self, at: int) -> Counter[str]:
        """The labels in a field, including the first row if it is such a label."""
        first = self.first[at].strip()
        column = self.columns[at] + Counter([first] if is_label(first) else [])
        return Counter({cell: count for cell, count in column.items() if len(cell) > 1})

    def _is_chunking(self, at: int) -> bool:
        return {cell[2:] for cell in self._marked(at)} <= CHUNKS

    def _in_fields(self, at: int) -> int:
        return self._marked(at).total()

    def comment(self, line: str, cells: Cells, *, begins: bool) -> str:
        """ "comment" or "border" for a line that begins with #, empty for a row; `begins`: it precedes the first row of a sequence."""
        if not line.startswith("#") or self.width < 2:
            return ""
        cells = self.trimmed(cells)
        if len(cells) == 1:
            if _SEPARATOR_LINE.match(line):
                return "border"
            return "comment" if begins or self.width > 2 or line.startswith("# ") else ""
        if cells[0] != "#" and not line.startswith("# ") and not self.numbered:
            return ""
        if len(cells) != self.width:
            return "" if any(map(is_label, cells[1:])) else "comment"
        unlike = (self.has_labels(at) and not is_label(cells[at]) for at in range(1, self.width))
        spaced = " " in cells[-1] and not any(" " in cell for cell in self.columns[self.width - 1])
        return "comment" if self.numbered or any(unlike) or spaced else ""
