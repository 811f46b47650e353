"""Sequences from JSON objects: one per line, a single one, or an array; texts with spans are recognised by their keys."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from formulations.messages import cut
from formulations.plain_values import parse_json
from ilpinfer.corpus import text_spans
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection, input_at
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.passages import Doubts
from ilpinfer.corpus.record_keys import OTHER_NAMES, is_output
from ilpinfer.corpus.records import EXPECTED, example


@dataclass(frozen=True)
class _Reader:
    """Reads records of a file, each of which is called a line, an item or a row."""

    file: str
    kind: str
    logits: LogitsOptions | None
    names: ColumnNames
    doubts: Doubts

    def read(self, record: Any, number: int) -> Iterator[Example | Rejection]:
        """The sequence of a record or of a JSON line, or the reason why there is none; nothing for a skipped task."""
        where = f"{self.file}, {self.kind} {number}"
        try:
            values = parse(record, where) if self.kind == "line" else record
            item = _any_example(_usual_keys(values, self.names, where), where, self.logits, self.doubts)
        except InputError as error:
            yield Rejection(self.file, number, str(error))
        else:
            if item is not None:
                yield replace(item, file=self.file, line=number)


def json_lines(
    lines: Lines, logits: LogitsOptions | None, notify: Notify, names: ColumnNames
) -> Iterator[Example | Rejection]:
    """One example for each non-empty line; lines without a sequence are rejected."""
    reader = _Reader(lines.name, "line", logits, names, Doubts(lines.name))
    lines.resume()
    for number, line in lines:
        if isinstance(line, Rejection):
            yield line
        elif line.strip():
            yield from reader.read(line, number)
    reader.doubts.tell(notify)


def json_array(
    text: str, name: str, logits: LogitsOptions | None, notify: Notify, names: ColumnNames, after: int = 0
) -> Iterator[Example | Rejection]:
    """The sequences of a JSON list of objects, after the first `after`; InputError if the text is no such list."""
    records = parse(text, name)
    if not records:
        raise InputError(f"{name}: an empty list; {EXPECTED}")
    reader = _Reader(name, "item", logits, names, Doubts(name))
    for number, record in enumerate(records[after:], after + 1):
        yield from reader.read(record, number)
    reader.doubts.tell(notify)


def read_rows(
    rows: Iterable[dict[str, Any]],
    name: str,
    begin: int,
    logits: LogitsOptions | None,
    names: ColumnNames,
    notify: Notify,
) -> Iterator[Example | Rejection]:
    """The sequences of table rows, which are numbered from `begin`."""
    reader = _Reader(name, "row", logits, names, Doubts(name))
    for number, row in enumerate(rows, begin):
        yield from reader.read(row, number)
    reader.doubts.tell(notify)


def takes(names: ColumnNames, key: str) -> bool:
    """Whether a key is the user's name for tokens or labels, or the usual key of labels that are left out."""
    return key in (names.token, names.label) or (names.unlabelled and OTHER_NAMES.get(key) == "labels")


def _usual_keys(record: Any, names: ColumnNames, where: str) -> Any:
    """The record with the user's keys for tokens and labels renamed to the usual keys."""
    if not names or not isinstance(record, dict) or is_output(record):
        return record
    token, label = names.token or "tokens", "" if names.unlabelled else names.label
    if names.beside and label not in record and "labels" in record:
        return record
    absent = next((key for key in (token, label) if key and key not in record), None)
    if absent is not None:
        keys = cut(", ".join(map(json.dumps, list(record)[:20])), 500)
        raise InputError(f"{where}: no key {json.dumps(absent)} for the column, but {keys}")
    result = {key: value for key, value in record.items() if key != "labels" and not takes(names, key)}
    return {**result, "tokens": record[token], "labels": record.get(label)}


def parse(text: str, where: str, expected: str = EXPECTED) -> Any:
    """The value of a JSON text; InputError if it is invalid."""
    with input_at(where):
        return parse_json(text, expected, finite=False)


def _any_example(record: Any, where: str, reading: LogitsOptions | None, doubts: Doubts) -> Example | None:
    """The sequence of an object; None for a skipped text with spans."""
    if text_spans.has_spans(record):
        return text_spans.example(record, where, doubts)
    return example(record, where, reading)
