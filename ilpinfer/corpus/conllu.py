"""CoNLL-U, and CoNLL-U Plus with columns of its own: the format of the Universal Dependencies.

Tokens are the words, lines with a whole number. Lines of multiword tokens, `3-4`, and of empty nodes, `8.1`, are passed over,
and kept when labels are written back.
"""

import re
from collections.abc import Iterator, Sequence

from formulations.labels.schemes import OUTSIDE
from ilpinfer.corpus.column_form import ColumnNames
from ilpinfer.corpus.conllu_cells import COLUMNS, EMPTY, GLOBAL, NAMED_ENTITIES, Cell, Sentence, usual
from ilpinfer.corpus.examples import Example, Notify, Rejection
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.passages import Passage
from ilpinfer.corpus.separators import excerpt
from ilpinfer.corpus.tokens import with_columns

SUFFIXES = (".conllu", ".conllup")
_ID = re.compile(r"[1-9][0-9]*([-.][0-9]+)?|0\.[0-9]+")

Row = tuple[int, list[str]]
"""The number of a line, and its cells."""


def read_conllu(
    lines: Lines, column: str, notify: Notify, longest: int | None = None, most: int | None = None
) -> Iterator[Example | Rejection]:
    """The sentences of a file; one with a line that cannot be read is rejected as a whole."""
    names, head = (
        ColumnNames.read(column),
        lines.ahead(most, lambda texts: any("\t" in each for each in texts)),
    )
    columns = next((_global(line) for line in head if line.startswith(GLOBAL)), COLUMNS)
    token = Cell.named(names.token or "form", columns, lines.name)
    label = (
        None
        if names.unlabelled
        else Cell.named(
            names.label or usual(columns, entities=_has_entities(head, columns)), columns, lines.name
        )
    )
    if label and not names.label:
        shown = NAMED_ENTITIES if label.key else columns[label.at].lower()
        notify(f"{lines.name}: labels are {shown}; --column names others, such as xpos or misc.KEY")
    for block in _blocks(lines):
        if isinstance(block, Rejection):
            yield block
        elif (found := _sentence(block, lines.name, columns, token, label)) is not None:
            size = len(found.tokens) if isinstance(found, Example) else 0
            if longest is not None and size > longest:
                why = f"{lines.name}, line {found.line}: a sequence of more than {longest} tokens"
                found = Rejection(lines.name, found.line, why)
            yield found


def _global(line: str) -> tuple[str, ...]:
    return tuple(line.removeprefix(GLOBAL).split())


def _has_entities(head: list[str], columns: Sequence[str]) -> bool:
    """Whether lines have labels of named entities."""
    if "misc" not in map(str.lower, columns):
        return False
    cell = Cell.named(NAMED_ENTITIES, columns, "")
    rows = (line.rstrip("\r").split("\t") for line in head if "\t" in line)
    return any(len(row) == len(columns) and cell.of(row) for row in rows)


def _blocks(lines: Lines) -> Iterator[list[tuple[int, str]] | Rejection]:
    """The numbered lines of each sentence; a rejection replaces its sentence."""
    block: list[tuple[int, str]] = []
    fault: Rejection | None = None
    for number, line in lines:
        if isinstance(line, Rejection):
            fault = fault or line
        elif line.strip():
            block.append((number, line.rstrip("\r")))
        else:
            if block or fault:
                yield fault or block
            block, fault = [], None
    if block or fault:
        yield fault or block


def _sentence(
    block: list[tuple[int, str]], name: str, columns: tuple[str, ...], token: Cell, label: Cell | None
) -> Example | Rejection | None:
    """The sequence of a sentence; None for comments alone."""
    words, rows = list[int](), list[Row]()
    id_at = next((at for at, each in enumerate(columns) if each.lower() == "id"), None)
    for at, (number, line) in enumerate(block):
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        fault = _fault(cells, columns, id_at)
        if fault:
            return Rejection(name, number, f"{name}, line {number}: {excerpt(line)} {fault}")
        if id_at is None or cells[id_at].isdecimal():
            words.append(at)
            rows.append((number, cells))
    if not rows:
        return None
    labels = None if label is None else [label.of(cells) for _, cells in rows]
    if labels is not None and label is not None:
        if label.key:
            labels = [each or OUTSIDE for each in labels]
        elif all(each == EMPTY for each in labels):
            labels = None
        elif EMPTY in labels:
            number, cells = rows[labels.index(EMPTY)]
            shown = excerpt("\t".join(cells))
            return Rejection(
                name, number, f"{name}, line {number}: {shown} has no label in column {label.at + 1}"
            )
    others = [at for at in range(len(columns)) if at != token.at and (label is None or at != label.at)]
    further = {columns[at].lower(): [cells[at] for _, cells in rows] for at in others}
    further |= {str(at + 1): [cells[at] for _, cells in rows] for at in others}
    texts = [token.of(cells) for _, cells in rows]
    sentence = Sentence(tuple(line for _, line in block), tuple(words), columns)
    begin = rows[0][0]
    return Example(
        with_columns(texts, further),
        None if labels is None else tuple(labels),
        f"{name}, line {begin}",
        file=name,
        line=begin,
        passage=_passage(texts, rows, columns, sentence),
    )


def _fault(cells: list[str], columns: Sequence[str], id_at: int | None) -> str:
    """The error of a line; empty for none."""
    if len(cells) != len(columns):
        hint = "name the file .tsv or .conll where it has others" if tuple(columns) == COLUMNS else ""
        return f"has {len(cells)} columns separated by tabs; expected {len(columns)}{'; ' * bool(hint)}{hint}"
    if "" in cells:
        return f"has nothing in column {cells.index('') + 1}; an empty one has {EMPTY}"
    if id_at is not None and not _ID.fullmatch(cells[id_at]):
        return f"has no number of a word in column {id_at + 1}, such as 3, 3-4 or 3.1"
    return ""


def _passage(texts: list[str], rows: list[Row], columns: Sequence[str], sentence: Sentence) -> Passage:
    """The words as a text, with spaces between them, except at `SpaceAfter=No`."""
    low = [column.lower() for column in columns]
    misc = Cell(low.index("misc"), "SpaceAfter") if "misc" in low else None
    parts, offsets, begin = list[str](), [], 0
    for text, (_, cells) in zip(texts, rows, strict=True):
        space = "" if misc is not None and misc.of(cells) == "No" else " "
        offsets.append((begin, begin + len(text)))
        parts.append(text + space)
        begin += len(parts[-1])
    return Passage("".join(parts).rstrip(" "), tuple(offsets), "", "conllu", sentence)
