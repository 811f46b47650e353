"""Sequences of one text; its format is inferred from the file name and the first lines."""

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from formulations.arguments import one_of
from ilpinfer.corpus import brat, crfsuite_data, fasta, labelled_xml
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.columns import LOOK_AHEAD, columns
from ilpinfer.corpus.conllu import SUFFIXES as CONLLU
from ilpinfer.corpus.conllu import read_conllu
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.foreign import foreign_format
from ilpinfer.corpus.json_records import json_array, json_lines
from ilpinfer.corpus.lines import LONGEST, Lines
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.records import EXPECTED

JSON = (".jsonl", ".ndjson", ".json")
Found = Example | Rejection


@dataclass(frozen=True)
class CorpusForm:
    logits: LogitsOptions | None = None
    column: str = ""
    most: int | None = LOOK_AHEAD
    longest: int | None = None
    longest_line: int | None = LONGEST
    unit: str = "line"
    slices: bool = False
    """Whether positions and digests of the content read are provided."""
    beside: bool = False
    """Whether the column was named for another file with the same sequences."""

    def __post_init__(self) -> None:
        one_of(self.unit, "unit", brat.UNITS, InputError)

    @property
    def names(self) -> ColumnNames:
        return ColumnNames.read(self.column, self.beside)

    def check_no_column(self, name: str) -> None:
        """Raise InputError if a column is named; `name` is the name of a file without columns."""
        if self.column and not self.beside:
            raise InputError(
                f"{name}: --column {self.column}: a file of this format has no columns; leave it out"
            )


def sequences_in(
    lines: Lines, form: CorpusForm, notify: Notify = lambda _: None, name: str = ""
) -> Generator[Found, None, None]:
    """The sequences of a text: CoNLL-U or JSON by the file name, otherwise columns or JSON by the first lines."""
    if name.endswith(CONLLU):
        form.names.check_no_roles(lines.name)
        yield from read_conllu(lines, form.names, notify, form.most)
    else:
        yield from _of_text(lines, form, notify, name)


def _of_text(lines: Lines, form: CorpusForm, notify: Notify, name: str) -> Iterator[Found]:
    head = lines.ahead(form.most, lambda texts: any(map(str.strip, texts)))
    first = next((line for line in head if line.strip()), "")
    if not first and lines.ended:
        faults = [line for _, line in lines if isinstance(line, Rejection)]
        if not faults:
            raise InputError(f"{lines.name}: empty; expected token<TAB>label lines or JSON lines")
        yield from faults
        return
    if foreign := foreign_format(head):
        raise InputError(f"{lines.name}: {foreign}")
    text = _json_text(lines, first.lstrip(), form)
    if text is not None or name.endswith(JSON):
        form.names.check_no_roles(lines.name)
        if text:
            after = 0 if lines.start is None else lines.start[1]
            lines.resume()
            yield from json_array(text, lines.name, form.logits, notify, form.names, after)
        else:
            yield from json_lines(lines, form.logits, notify, form.names)
    elif name.endswith(labelled_xml.SUFFIXES) or labelled_xml.is_xml(head):
        form.check_no_column(lines.name)
        text, after = lines.text(), 0 if lines.start is None else lines.start[1]
        lines.resume()
        yield from labelled_xml.read_xml(text, lines.name, after)
    elif name.endswith(fasta.SUFFIXES) or fasta.is_fasta(head):
        form.check_no_column(lines.name)
        yield from fasta.read_fasta(lines, head)
    elif name.endswith(crfsuite_data.SUFFIXES) or crfsuite_data.is_crfsuite(head, form.names):
        yield from crfsuite_data.read_crfsuite_data(lines, head, form.names, notify)
    else:
        yield from _of_columns(lines, form, notify)


def _of_columns(lines: Lines, form: CorpusForm, notify: Notify) -> Iterator[Found]:
    names = None if form.logits is None else form.logits.names
    empty = True
    for each in columns(lines, form.names, notify, form.most, form.longest, names):
        empty = False
        yield each
    if empty and lines.start is None:
        raise InputError(
            f"{lines.name}: no sequence, but a header or borders only; expected token<TAB>label lines"
        )


def _json_text(lines: Lines, first: str, form: CorpusForm) -> str | None:
    """A JSON list as a text, an empty text for JSON lines, and None for another text."""
    if "\t" in first[:2]:
        return None
    if first.startswith("{"):
        if isinstance(_value(first), dict):
            return ""
        head = lines.ahead(form.most)
        if not lines.ended and any(isinstance(_value(line), dict) for line in head):
            return ""
        text = "\n".join(head if lines.ended else lines.ahead(None))
        return f"[{lines.text()}]" if isinstance(_value(text), dict) else ""
    if not first.startswith("["):
        return None
    head = lines.ahead(form.most)
    opened = next((line for line in [first[1:], *head[1:]] if line.strip()), "").lstrip()
    if first[1:].lstrip().startswith("{") or (not lines.ended and opened.startswith("{")):
        return lines.text()
    result = _value("\n".join(head)) if lines.ended else None
    if isinstance(result, list) and not _numbers(result):
        return lines.text()
    result = _value(first)
    if isinstance(result, list) and not _numbers(result):
        raise InputError(f"{lines.name}: a list on each line; {EXPECTED}")
    return None


def _value(text: str) -> Any:
    """The value of a JSON text, or None for another text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _numbers(result: list[Any]) -> bool:
    """Whether a list is a token such as `[12]`."""
    return bool(result) and all(isinstance(each, int | float) for each in result)
