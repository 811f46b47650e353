"""Sequences as rows of Parquet and Arrow files, with the keys of JSON records as columns."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from formulations.problem.known_labels import plain_given
from ilpinfer.core.solution_fields import ABOUT
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.json_records import read_rows, takes
from ilpinfer.corpus.label_names import feature_names
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.record_keys import KEYS, fault_of
from ilpinfer.system.extras import require
from ilpinfer.system.storage import open_bytes

PARQUET = (".parquet",)
ARROW = (".arrow", ".feather", ".ipc")
TABLES = (*PARQUET, *ARROW)
ROWS = 256
FURTHER = "further"
"""The column of notes without their own column, as a JSON object."""
RESULT_COLUMNS = (*ABOUT, "tokens", "columns", "labels", "sequence", FURTHER)
"""Columns that are read from files of `ilpinfer reprocess`."""


def read_table(
    path: str, reading: LogitsOptions | None, names: ColumnNames, notify: Notify, after: int = 0
) -> Iterator[Example | Rejection]:
    """The sequences of a Parquet file, or of an Arrow file or stream, after the first `after` rows."""
    rows = (_without_nulls(row, path) for batch in _batches(path, names, after) for row in batch)
    try:
        yield from read_rows(rows, path, after + 1, reading, names, notify)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {_words(error)}") from None
    except ValueError as error:  # from pyarrow, for damaged files
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: damaged, or not what its name says: {_words(error)}") from None


def count_rows(path: str) -> int:
    """The number of rows in the metadata of a Parquet file; 0 for a damaged file."""
    require(path, "parquet", "pyarrow")
    import pyarrow.parquet as pq

    try:
        with open_bytes(path) as stream:
            return int(pq.read_metadata(stream).num_rows)
    except (OSError, ValueError):
        return 0


def _batches(path: str, own: ColumnNames, after: int) -> Iterator[list[dict[str, Any]]]:
    require(path, "parquet", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    names: list[str] | None
    with open_bytes(path) as stream:
        if path.endswith(PARQUET):
            file = pq.ParquetFile(stream)
            names = _columns_to_read(path, file.schema_arrow.names, own)
            batches = file.iter_batches(ROWS, columns=names)
            metadata = file.schema_arrow.metadata
        else:
            batches = _arrow_batches(pa, stream)
            names, metadata = None, None
        for batch in batches:
            passed = min(after, batch.num_rows)
            after -= passed
            for begin in range(passed, batch.num_rows, ROWS):
                part = batch.slice(begin, ROWS)
                rows = part.select(names or _columns_to_read(path, part.schema.names, own)).to_pylist()
                tags = feature_names(metadata or part.schema.metadata, own.label or "labels")
                yield [{"label_names": list(tags), **row} for row in rows] if tags else rows


def _arrow_batches(pa: Any, stream: Any) -> Iterator[Any]:
    """Record batches of the file format, otherwise of the stream format."""
    try:
        file = pa.ipc.open_file(stream)
    except pa.ArrowInvalid:
        stream.seek(0)
        yield from pa.ipc.open_stream(stream)
        return
    for number in range(file.num_record_batches):
        yield file.get_batch(number)


def _columns_to_read(path: str, names: list[str], own: ColumnNames) -> list[str]:
    """The columns to read; InputError for unknown columns."""
    if {"status", "method"} <= set(names):
        return [name for name in RESULT_COLUMNS if name in names]
    for name in names:
        if name != FURTHER and not takes(own, name) and (fault := fault_of(name)):
            raise InputError(f"{path}: unknown column {name!r}{fault}")
    return names


def _without_nulls(row: dict[str, Any], path: str) -> dict[str, Any]:
    """A row as a record without nulls and NaN notes; dates and similar values become texts, map columns become objects."""
    cells = {name: value for name, value in row.items() if value is not None}
    stored = _stored(cells.pop(FURTHER, "{}"), path, FURTHER)
    if isinstance(cells.get("columns"), str):  # of a shard
        cells["columns"] = _stored(cells["columns"], path, "columns")
    known = {name: value for name, value in cells.items() if name in KEYS}
    further = {name: value for name, value in cells.items() if name not in KEYS and value == value}
    for name in ("given", "columns"):
        pairs = known.get(name)
        if isinstance(pairs, list) and all(isinstance(each, tuple) for each in pairs):  # a map
            known[name] = {str(key): value for key, value in pairs}
    return {**known, **json.loads(json.dumps(further, default=str)), **stored}


def _stored(text: Any, path: str, column: str) -> dict[str, Any]:
    """The object in a cell of a JSON column; InputError if it is not an object."""
    try:
        notes = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        notes = None
    if not isinstance(notes, dict):
        raise InputError(
            f"{path}: column {column!r} has {text!r:.60}; expected a JSON object, or another name"
        )
    return notes


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def parquet_bytes(examples: Sequence[Example], path: str) -> bytes:
    """Sequences as a Parquet file."""
    require(path, "parquet", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.list_(pa.string())
    given = [plain_given(each.given) for each in examples]
    if several := any(isinstance(known, list) for each in given for known in each.values()):
        given = [
            {t: [known] if isinstance(known, str) else known for t, known in each.items()} for each in given
        ]
    columns = {
        "tokens": pa.array([list(map(str, each.tokens)) for each in examples], texts),
        "labels": pa.array([None if each.labels is None else list(each.labels) for each in examples], texts),
        "given": pa.array(
            [[(int(t), known) for t, known in each.items()] or None for each in given],
            pa.map_(pa.int32(), texts if several else pa.string()),
        ),
        "columns": pa.array(
            [list(each.named_columns.items()) or None for each in examples], pa.map_(pa.string(), texts)
        ),
    }
    needed = ("tokens", "labels")
    columns = {name: x for name, x in columns.items() if name in needed or x.null_count < len(x)}
    stream = io.BytesIO()
    pq.write_table(pa.table({**_note_columns([each.about for each in examples]), **columns}), stream)
    return stream.getvalue()


def _note_columns(notes: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Notes with only texts, numbers or booleans as columns of their names, all other notes as JSON in `FURTHER`."""
    import pyarrow as pa

    names = dict.fromkeys(name for each in notes for name in each)
    kinds = {name: {_simple_kind(each[name]) for each in notes if name in each} for name in names}
    plain = [name for name, some in kinds.items() if len(some) == 1 and None not in some and name != FURTHER]
    further = [{name: value for name, value in each.items() if name not in plain} for each in notes]
    result = {name: pa.array([each.get(name) for each in notes]) for name in plain}
    if any(further):
        result[FURTHER] = pa.array(
            [json.dumps(each, ensure_ascii=False) if each else None for each in further]
        )
    return result


def _simple_kind(value: Any) -> type | None:
    """The kind of a value that a column can store unchanged; None for other values."""
    kind = type(value)
    return kind if kind in (str, bool, float) or (kind is int and abs(value) < 2**63) else None
