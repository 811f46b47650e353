"""CoNLL-U, and CoNLL-U Plus with custom columns; lines of multiword tokens and empty nodes are kept when labels are written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from formulations.labels.schemes import OUTSIDE
from formulations.messages import counted, suggestion
from ilpinfer.corpus.column_form import Row, excerpt
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.lines import Lines, blocks
from ilpinfer.corpus.passages import Passage
from ilpinfer.corpus.tokens import with_columns

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
NAMED_ENTITIES = "misc.NER"
"""The place of named-entity labels: the key NER of the last column."""
EMPTY = "_"
COLUMNS_COMMENT = "# global.columns ="
"""Start of the line that names the columns of CoNLL-U Plus."""


@dataclass(frozen=True)
class Cell:
    """A column, or the values of a key in a column of `KEY=VALUE|KEY=VALUE`."""

    at: int
    key: str = ""

    @classmethod
    def occur(cls, names: ColumnNames, columns: Sequence[str]) -> bool:
        """Whether a file has the named columns."""
        known = {*map(str.lower, columns), *map(str, range(1, len(columns) + 1))}
        return all(each.partition(".")[0].lower() in known for each in (names.token, names.label) if each)

    @classmethod
    def named(cls, name: str, columns: Sequence[str], where: str) -> "Cell":
        """By number from 1, by name, or by `misc.KEY`; InputError for an unknown column."""
        whole, _, key = name.partition(".")
        low = [column.lower() for column in columns]
        if name.lower() in low:
            return cls(low.index(name.lower()))
        if key and whole.lower() in low:
            return cls(low.index(whole.lower()), key)
        if name.isdecimal() and name.isascii() and len(name) < 9 and 1 <= int(name) <= len(columns):
            return cls(int(name) - 1)
        more = "" if key or "misc" not in low else f"; a key of the last one is named such as misc.{name}"
        raise InputError(f'{where}: no column "{name}"{suggestion(whole.lower(), low)}{more}')

    def of(self, cells: Sequence[str]) -> str:
        if not self.key:
            return cells[self.at]
        return _values(cells[self.at]).get(self.key) or ""

    def put(self, cells: Sequence[str], value: str) -> list[str]:
        """The cells with the value set, or removed if it is empty."""
        result = list(cells)
        if not self.key:
            result[self.at] = value or EMPTY
            return result
        values = {key: each for key, each in _values(cells[self.at]).items() if key != self.key}
        if value:
            values[self.key] = value
        parts = [f"{key}={each}" if each is not None else key for key, each in values.items()]
        result[self.at] = "|".join(parts) or EMPTY
        return result


def _values(cell: str) -> dict[str, str | None]:
    """Keys and values of a cell; the value is None for a key without a value."""
    parts = () if cell in (EMPTY, "") else (part.partition("=") for part in cell.split("|"))
    return {key: value if equals else None for key, equals, value in parts}


@dataclass(frozen=True)
class Sentence:
    lines: tuple[str, ...]
    words: tuple[int, ...]
    columns: tuple[str, ...]


def usual(columns: Sequence[str], *, entities: bool) -> str:
    """The default label column: of named entities or of parts of speech, else the last one."""
    low = [column.lower() for column in columns]
    if entities and "misc" in low:
        return NAMED_ENTITIES
    return "upos" if "upos" in low else str(len(columns))


SUFFIXES = (".conllu", ".conllup")
_COMMENT = re.compile(r"#\s*(?P<key>[^=\s][^=]*?)\s*=\s*(?P<value>.*\S)\s*|#\s*(?P<alone>newdoc|newpar)\s*")
_ID = re.compile(r"[1-9][0-9]*([-.][0-9]+)?|0\.[0-9]+")


def read_conllu(
    lines: Lines, names: ColumnNames, notify: Notify, most: int | None
) -> Iterator[Example | Rejection]:
    """The sentences of a file; a sentence with an unreadable line is rejected as a whole."""
    head = lines.ahead(most, lambda texts: any("\t" in each for each in texts))
    named = (line.removeprefix(COLUMNS_COMMENT) for line in head if line.startswith(COLUMNS_COMMENT))
    columns = next((tuple(line.split()) for line in named), COLUMNS)
    if names.beside and not Cell.occur(names, columns):
        names = ColumnNames()
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
    lines.resume()
    for block in blocks(lines):
        if isinstance(block, Rejection):
            yield block
        elif (found := _sentence(block, lines.name, columns, token, label)) is not None:
            yield found


def _has_entities(head: list[str], columns: Sequence[str]) -> bool:
    if "misc" not in map(str.lower, columns):
        return False
    cell = Cell.named(NAMED_ENTITIES, columns, "")
    rows = (line.rstrip("\r").split("\t") for line in head if "\t" in line)
    return any(len(row) == len(columns) and cell.of(row) for row in rows)


def _sentence(
    block: list[tuple[int, str]], name: str, columns: tuple[str, ...], token: Cell, label: Cell | None
) -> Example | Rejection | None:
    """The sequence of a sentence; None if it has only comments."""
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
    taken = [token.at, *([label.at] if label and not label.key else [])]
    if label and label.key:
        rows = [(number, label.put(cells, "")) for number, cells in rows]
    others = [at for at in range(len(columns)) if at not in taken]
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
        about=_about(line for _, line in block),
    )


def _about(lines: Iterable[str]) -> dict[str, Any]:
    """The comments `# key = value` of a sentence: `sent_id` is its id, others are metadata; the first of each key counts."""
    notes: dict[str, str] = {}
    for line in lines:
        if found := _COMMENT.fullmatch(line):
            notes.setdefault(found["key"] or found["alone"], found["value"] or "")
    notes.pop(COLUMNS_COMMENT.strip("# ="), None)
    about: dict[str, Any] = {"id": notes.pop("sent_id")} if "sent_id" in notes else {}
    return about | ({"metadata": notes} if notes else {})


def _comments(example: Example, shown: str) -> Iterator[str]:
    """The notes of a sequence as comments, including its text, without lists and objects."""
    others = {key: value for key, value in example.about.items() if key not in ("id", "metadata")}
    metadata = example.about.get("metadata")
    notes = {"sent_id": example.about.get("id"), **others, **(metadata if isinstance(metadata, dict) else {})}
    for key, value in {"text": shown, **notes}.items():
        line = f"# {key} = {value}".rstrip() if value != "" else f"# {key}"
        found = _COMMENT.fullmatch(line) if len(line.splitlines()) == 1 else None
        if isinstance(value, str | int | float) and found and key in (found["key"], found["alone"]):
            yield line


def _fault(cells: list[str], columns: Sequence[str], id_at: int | None) -> str:
    if len(cells) != len(columns):
        hint = "name the file .tsv or .conll where it has others" if tuple(columns) == COLUMNS else ""
        return f"has {counted(len(cells), 'column')} separated by tabs; expected {len(columns)}{'; ' * bool(hint)}{hint}"
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
    return Passage("".join(parts).rstrip(" "), tuple(offsets), record=sentence)


def conllu_text(examples: Sequence[Example], column: str, scheme: str) -> Iterator[str]:
    """Sequences as sentences: sentences read from CoNLL-U get the new labels, other sequences one line per word."""
    named = ColumnNames.read(column).label
    before: tuple[str, ...] = COLUMNS
    for example in examples:
        assert example.passage is not None
        sentence = example.passage.record or _new(example)
        if sentence.columns != before and not any(
            line.startswith(COLUMNS_COMMENT) for line in sentence.lines
        ):
            yield f"{COLUMNS_COMMENT} {' '.join(sentence.columns)}\n"
        before = sentence.columns
        name = named or usual(sentence.columns, entities=scheme != "plain")
        yield "\n".join(
            _lines_with_labels(sentence, example, Cell.named(name, sentence.columns, example.where))
        )
        yield "\n\n"


def _lines_with_labels(sentence: Sentence, example: Example, place: Cell) -> list[str]:
    result = list(sentence.lines)
    for at, label in zip(sentence.words, example.labels or ("",) * len(sentence.words), strict=True):
        cells = result[at].split("\t")
        if any(sign in label for sign in "\t\r\n") or (place.key and "|" in label):
            raise InputError(
                f"{example.where}: label {label!r} cannot be written in a cell of CoNLL-U; rename it"
            )
        value = "" if place.key and label == OUTSIDE else label
        result[at] = "\t".join(place.put(cells, value))
    return result


def _new(example: Example) -> Sentence:
    """A sentence of tokens, with those further columns that have names of the format."""
    assert example.passage is not None
    text, offsets = example.passage.text, example.passage.offsets
    further: Mapping[str, Sequence[str]] = example.columns
    lines = []
    for at, token in enumerate(example.tokens):
        if not token or re.search(r"[\t\r\n]", token):
            raise InputError(
                f"{example.where}: token {at} is {token!r}, which cannot be written in CoNLL-U; write JSON lines"
            )
        cells = [str(at + 1), str(token), *(EMPTY,) * 8]
        for place, column in enumerate(COLUMNS[2:], 2):
            if further.get(column):
                cells[place] = further[column][at] or EMPTY
        if cells[-1] == EMPTY and at + 1 < len(offsets) and offsets[at][1] == offsets[at + 1][0]:
            cells[-1] = "SpaceAfter=No"
        lines.append("\t".join(cells))
    shown = re.sub(r"\s", " ", text[offsets[0][0] : offsets[-1][1]])
    comments = tuple(_comments(example, shown))
    places = range(len(comments), len(comments) + len(lines))
    return Sentence((*comments, *lines), tuple(places), COLUMNS)
