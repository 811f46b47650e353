"""Sequences as columns: a token a line with its label and further columns, and an empty line between sequences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from formulations.messages import counted
from formulations.problem.known_labels import Known
from ilpinfer.corpus.column_contents import Cells, Contents
from ilpinfer.corpus.column_form import (
    DOCUMENT,
    SEPARATORS,
    UNKNOWN,
    ColumnNames,
    Places,
    Row,
    contents_of,
    excerpt,
    find_places,
    find_separator,
    further_labels,
    is_border,
    is_header,
    split,
    without_comments,
)
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.tokens import with_columns

LOOK_AHEAD = 2**20
"""Bytes of a stream that separators and headers are inferred from."""


def columns(
    lines: Lines,
    names: ColumnNames,
    notify: Notify,
    most: int | None = LOOK_AHEAD,
    longest: int | None = None,
) -> Iterator[Example | Rejection]:
    """Read sequences from lines of columns. A sequence with an unreadable line is rejected as a whole."""
    name = lines.name
    head = lines.ahead(most, lambda texts: any("\t" in text for text in without_comments(texts)))
    separator = find_separator(head, name, names, notify)
    contents = contents_of(head, separator)
    comments: dict[str, list[tuple[int, str]]] = {"comment": [], "border": []}
    rows = _rows(lines, separator, contents, comments)
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
    header = first[1] if is_header(first, head, separator, names, contents) else []
    if header:
        line = head[first[0] - 1] if first[0] <= len(head) else separator.join(header)
        notify(f"{name}, line {first[0]}: {excerpt(line)} is read as a header{further_labels(header, names)}")
    places = find_places(first, header, names, name, separator, contents).with_further(len(first[1]), header)
    unlike = None
    if header and not whole and places.label is not None and not names:
        rows, unlike = _without_header(rows, first, places.label, name), header[places.label]
    blocks = _Blocks(lines, separator, len(first[1]), places, longest, unlike)
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
    lines: Lines, separator: str, contents: Contents, comments: dict[str, list[tuple[int, str]]]
) -> Iterator[Row | Rejection]:
    """Lines as cells; each has as many as the first. Comments are left out, and listed where they could be taken for rows."""
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
        begins, cells = False, contents.trimmed(cells)
        what = _fault(line, cells, first, separator)
        if what:
            yield Rejection(lines.name, number, f"{lines.name}, line {number}: {excerpt(line)} {what}")
            continue
        first = first or (number, cells)
        yield number, cells


def _without_header(
    rows: Iterator[Row | Rejection], header: Row, label: int, name: str
) -> Iterator[Row | Rejection]:
    """Rows; an error if one has the label that was read as a header."""
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
    """Sequences that can be read as a whole: lines of equal width up to an empty line, without anything unusual."""

    lines: Lines
    separator: str
    width: int
    places: Places
    longest: int | None
    unlike: str | None
    """A label that no line may have, since the header has it."""

    def __iter__(self) -> Iterator[Example]:
        if self.places.sequence is not None:
            return
        while True:
            number, texts = self.lines.block()
            cells = self._columns(texts)
            if not cells:
                return
            self.lines.take(texts)
            yield _example(cells, number, self.places, self.lines.name)

    def _columns(self, texts: list[str]) -> list[tuple[str, ...]]:
        """The columns of lines; none where they have to be looked at one by one."""
        separator, label = self.separator, self.places.label
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
        if label is not None:
            if self.unlike in columns[label]:
                return []
            checked.append(columns[label])
            if any(not cell.strip() for cell in {*columns[label]}):
                return []
        return [] if any("" in cells for cells in checked) else columns


def _sequences(
    rows: Iterator[Row | Rejection], places: Places, separator: str, blocks: _Blocks
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
                    yield _example(
                        list(zip(*(row for _, row in block), strict=True)), block[0][0], places, name
                    )
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
        if faulty:
            block = block[-1:]


def _row_fault(row: Row, places: Places, separator: str, name: str) -> Rejection | None:
    number, cells = row
    for what, place in (("token", places.token), ("label", places.label)):
        if place is not None and not (cells[place] if what == "token" else cells[place].strip()):
            line = (separator or " ").join(cells)
            return Rejection(
                name,
                number,
                f"{name}, line {number}: {excerpt(line)} has an empty {what}; write it, or take the line out",
            )
    return None


def _begins(cells: Cells, before: Cells, places: Places) -> bool:
    """Whether the sequence number changes with this line; an empty cell continues the sequence."""
    at = places.sequence
    if at is None or not cells[at]:
        return False
    return cells[at] != before[at]


def _example(columns: Sequence[Sequence[str]], number: int, places: Places, name: str) -> Example:
    tokens = with_columns(columns[places.token], {key: columns[at] for key, at in places.further})
    labels = None if places.label is None else tuple(map(str.strip, columns[places.label]))
    cells = () if places.given is None else columns[places.given]
    given: dict[int, Known] = {t: cell for t, cell in enumerate(cells) if cell not in UNKNOWN}
    return Example(tokens, labels, f"{name}, line {number}", file=name, line=number, given=given)
