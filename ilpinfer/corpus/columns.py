"""Sequences as columns: one line per token with its label and further columns, and an empty line between sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from formulations.messages import counted
from formulations.problem.known_labels import Known
from ilpinfer.corpus.column_contents import Cells, Contents
from ilpinfer.corpus.column_form import (
    DOCUMENT,
    SEPARATORS,
    ColumnRoles,
    Row,
    contents_of,
    dialect_of,
    excerpt,
    find_places,
    find_separator,
    further_labels,
    is_border,
    is_header,
    split,
    without_comments,
)
from ilpinfer.corpus.column_labels import CellError, joined, labels_of_brackets, labels_of_numbers
from ilpinfer.corpus.column_names import UNKNOWN, ColumnNames
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.tokens import with_columns

LOOK_AHEAD = 2**20
"""Number of first bytes of a stream from which separators and headers are inferred."""


def columns(
    lines: Lines,
    names: ColumnNames,
    notify: Notify,
    most: int | None = LOOK_AHEAD,
    longest: int | None = None,
    label_names: Sequence[str] | None = None,
) -> Iterator[Example | Rejection]:
    """Read sequences from lines of columns. A sequence with an unreadable line is rejected as a whole.

    `label_names` are the names of numeric labels.
    """
    name = lines.name
    head = lines.ahead(most, lambda texts: any("\t" in text for text in without_comments(texts)))
    width, dialect = None, dialect_of(head)
    if dialect:
        separator = "\t" if any("\t" in line for line in without_comments(head)) else " "
        width, names = dialect.width, names or dialect.names
    else:
        separator = find_separator(head, name, names, notify)
    contents = contents_of(head, separator, width)
    comments: dict[str, list[tuple[int, str]]] = {"comment": [], "border": []}
    rows = _rows(lines, separator, contents, comments, width)
    first = None
    for row in rows:
        if isinstance(row, Rejection):
            yield row
        elif row[1]:
            first = row
            break
    if first is None:
        return
    whole, names = lines.ended, names.fitting(first[1])
    header = first[1] if not dialect and is_header(first, head, separator, names, contents) else []
    if header:
        line = head[first[0] - 1] if first[0] <= len(head) else separator.join(header)
        notify(f"{name}, line {first[0]}: {excerpt(line)} is read as a header{further_labels(header, names)}")
    places = find_places(first, header, names, name, separator, contents).with_further(len(first[1]), header)
    unlike = None
    if header and not whole and places.label is not None and not names:
        rows, unlike = _without_header(rows, first, places.label, name), header[places.label]
    blocks = _Blocks(lines, separator, len(first[1]), places, longest, unlike, label_names)
    if not lines.resume() and not header:
        rows = chain([first], rows)
    yield from _sequences(rows, places, separator, blocks)
    for kind, found in comments.items():
        if found:
            number, line = found[0]
            more = f", like {counted(len(found) - 1, 'other line')}" if len(found) > 1 else ""
            what = "a comment" if kind == "comment" else "a border between sequences"
            notify(f"{name}, line {number}: {excerpt(line)} is read as {what}{more}")


def _rows(
    lines: Lines,
    separator: str,
    contents: Contents,
    comments: dict[str, list[tuple[int, str]]],
    width: int | None,
) -> Iterator[Row | Rejection]:
    """Lines as cells; every line has as many as the first, or `width` cells that are read.

    Comments are left out, and listed if they could be mistaken for rows.
    """
    first: Row | None = None
    begins = True
    for number, line in lines:
        if isinstance(line, Rejection):
            yield line
            continue
        cells = split(line, separator)
        if is_border(cells):
            begins = True
            yield number, []
            continue
        kind = contents.comment(line, cells, begins=begins)
        if kind:
            if kind == "border":
                begins = True
                yield number, []
            if len(cells) > 1 or contents.width == 2:
                comments[kind].append((number, line))
            continue
        begins, cells = False, contents.trimmed(cells[:width])
        what = _fault(line, cells, first, separator)
        if what:
            yield Rejection(lines.name, number, f"{lines.name}, line {number}: {excerpt(line)} {what}")
            continue
        first = first or (number, cells)
        yield number, cells


def _without_header(
    rows: Iterator[Row | Rejection], header: Row, label: int, name: str
) -> Iterator[Row | Rejection]:
    """Rows; an error if a row has the label that was read as a header."""
    number, cells = header
    for row in rows:
        if not isinstance(row, Rejection) and row[1] and row[1][label] == cells[label]:
            raise InputError(
                f"{name}, line {row[0]}: {cells[label]!r} is a label here, but line {number} was read as a header; take "
                "that line out, or put a line with this label near the beginning"
            )
        yield row


def _fault(line: str, cells: Cells, first: Row | None, separator: str) -> str:
    if separator != "\t" and "\t" in line.rstrip():
        return "has a tab, but no line before has one; separate all columns by tabs"
    if separator == "\t" and len(cells) == 1:
        return "has no tab; expected token<TAB>label, as on other lines"
    return "" if first is None or len(cells) == len(first[1]) else _unequal(cells, first, separator)


def _unequal(cells: Cells, first: Row, separator: str) -> str:
    if separator == "\t" and len(first[1]) == 2:
        return f"has {len(cells) - 1} tabs; expected token<TAB>label, as on line {first[0]}"
    what = f"column{'s' * (len(cells) != 1)} separated by {SEPARATORS[separator]}"
    return f"has {len(cells)} {what}, but line {first[0]} has {len(first[1])}"


@dataclass(frozen=True)
class _Blocks:
    """Reads whole sequences at once: lines of equal width up to an empty line, without anything unusual."""

    lines: Lines
    separator: str
    width: int
    places: ColumnRoles
    longest: int | None
    unlike: str | None
    """A label that no line may have, since it is in the header."""
    label_names: Sequence[str] | None = None

    def __iter__(self) -> Iterator[Example | Rejection]:
        if self.places.sequence is not None or self.places.end is not None:
            return
        while True:
            number, texts = self.lines.block()
            cells = self._columns(texts)
            if not cells:
                return
            self.lines.take(texts)
            yield self.example(cells, range(number, number + len(texts)))

    def _columns(self, texts: list[str]) -> list[tuple[str, ...]]:
        """The columns of lines; none if the lines have to be read one by one."""
        separator, labels = self.separator, self.places.levels
        if not texts or (self.longest is not None and len(texts) > self.longest):
            return []
        text = "".join(texts)
        if DOCUMENT in text or "\r" in text or (separator == " " and "\t" in text):
            return []
        if separator and "#" in text and any(line.startswith("#") for line in texts):
            return []
        if not separator:
            return [] if " " in text or not text.isprintable() else [tuple(texts)]
        rows = [line.split(separator) for line in texts]
        if {*map(len, rows)} != {self.width}:
            return []
        columns = list(zip(*rows, strict=True))
        checked = columns if separator == " " else [columns[self.places.token]]
        if labels and self.unlike in columns[labels[0]]:
            return []
        for label in labels:
            checked.append(columns[label])
            if any(not cell.strip() for cell in {*columns[label]}):
                return []
        return [] if any("" in cells for cells in checked) else columns

    def of_rows(self, rows: Sequence[Row]) -> Example | Rejection:
        return self.example(list(zip(*(cells for _, cells in rows), strict=True)), [n for n, _ in rows])

    def example(self, columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> Example | Rejection:
        """The sequence of columns, with the numbers of its lines."""
        places, name = self.places, self.lines.name
        tokens = with_columns(columns[places.token], {key: columns[at] for key, at in places.further})
        try:
            labels = self._labels(columns)
        except CellError as error:
            number = numbers[error.at]
            return Rejection(name, number, f"{name}, line {number}: {error}")
        cells = () if places.given is None else columns[places.given]
        given: dict[int, Known] = {t: cell for t, cell in enumerate(cells) if cell not in UNKNOWN}
        return Example(tokens, labels, f"{name}, line {numbers[0]}", file=name, line=numbers[0], given=given)

    def _labels(self, columns: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
        if not self.places.levels:
            return None
        levels = list[Sequence[str]]()
        for at in self.places.levels:
            cells: Sequence[str] = list(map(str.strip, columns[at]))
            if at in self.places.brackets:
                cells = labels_of_brackets(cells)
            levels.append(labels_of_numbers(cells, self.label_names) if self.label_names else cells)
        return joined(levels)


def _sequences(
    rows: Iterator[Row | Rejection], places: ColumnRoles, separator: str, blocks: _Blocks
) -> Iterator[Example | Rejection]:
    """Examples of the lines between borders; the first error of a sequence rejects it."""
    name, longest = blocks.lines.name, blocks.longest
    block: list[Row] = []
    faulty = False
    for row in chain(rows, [(0, [])]):
        if isinstance(row, Rejection):
            fault: Rejection | None = row
        else:
            cells = row[1]
            if not cells or (block and _begins(cells, block[-1][1], places)):
                if block and not faulty:
                    blocks.lines.held = bool(cells)
                    yield blocks.of_rows(block)
                    blocks.lines.held = False
                block, faulty = [], False
            if not cells:
                yield from blocks
                continue
            fault = _row_fault(row, places, separator, name)
            block.append(row)
            if longest is not None and len(block) > longest:
                fault = Rejection(
                    name, block[0][0], f"{name}, line {block[0][0]}: a sequence of more than {longest} tokens"
                )
        if fault is not None and not faulty:
            yield fault
        faulty = faulty or fault is not None
        if not isinstance(row, Rejection) and places.ends(row[1]):
            if not faulty:
                yield blocks.of_rows(block)
            block, faulty = [], False
        if faulty:
            block = block[-1:]


def _row_fault(row: Row, places: ColumnRoles, separator: str, name: str) -> Rejection | None:
    number, cells = row
    for what, place in (("token", places.token), *(("label", at) for at in places.levels)):
        if not (cells[place] if what == "token" else cells[place].strip()):
            line = (separator or " ").join(cells)
            return Rejection(
                name,
                number,
                f"{name}, line {number}: {excerpt(line)} has an empty {what}; write it, or take the line out",
            )
    return None


def _begins(cells: Cells, before: Cells, places: ColumnRoles) -> bool:
    """Whether the sequence number changes with this line; an empty cell continues the sequence."""
    at = places.sequence
    if at is None or not cells[at]:
        return False
    return cells[at] != before[at]
