"""Sequences as rows of Parquet and Arrow files, with the keys of JSON records for columns."""

import base64
import json
from collections.abc import Iterator
from typing import Any

from ilpinfer.core.solution_fields import ABOUT
from ilpinfer.corpus.examples import Example, InputError, Rejection
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.notes import check
from ilpinfer.corpus.records import KEYS, read_rows
from ilpinfer.system.extras import require

PARQUET = (".parquet",)
ARROW = (".arrow", ".feather", ".ipc")
TABLES = (*PARQUET, *ARROW)
ROWS = 256
FURTHER = "further"
"""Column of files that `ilpinfer reprocess` wrote: the other notes of a sequence, as JSON."""
OF_OUTPUT = (*ABOUT, FURTHER, "tokens", "labels", "sequence")
"""Columns that are read of files that `ilpinfer reprocess` wrote."""


def read_table(path: str, reading: LogitsOptions | None) -> Iterator[Example | Rejection]:
    """The sequences of a Parquet file, or of an Arrow file or stream."""
    begin = 1
    try:
        for rows in _batches(path):
            yield from read_rows(rows, path, begin, reading)
            begin += len(rows)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {_words(error)}") from None
    except ValueError as error:  # of pyarrow, for damaged files
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: damaged, or not what its name says: {_words(error)}") from None


def count_rows(path: str) -> int:
    """The number of rows in the metadata of a Parquet file; 0 for a damaged file."""
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, ValueError):
        return 0


def _batches(path: str) -> Iterator[list[dict[str, Any]]]:
    require(path, "parquet", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(path, "rb") as stream:
        if path.endswith(PARQUET):
            file = pq.ParquetFile(stream)
            there = file.schema_arrow.names
            batches = file.iter_batches(ROWS, columns=_checked(path, there))
        else:
            batches = _arrow_batches(pa, stream)
            there = None
        for batch in batches:
            for begin in range(0, batch.num_rows, ROWS):
                part = batch.slice(begin, ROWS)
                columns = there or part.schema.names
                rows = list(map(_record, part.select(_checked(path, columns)).to_pylist()))
                yield list(map(_of_output, rows)) if _is_output(columns) else rows


def _arrow_batches(pa: Any, stream: Any) -> Iterator[Any]:
    """Record batches of the file format, or else of the stream format."""
    try:
        file = pa.ipc.open_file(stream)
    except pa.ArrowInvalid:
        stream.seek(0)
        yield from pa.ipc.open_stream(stream)
        return
    for number in range(file.num_record_batches):
        yield file.get_batch(number)


def _checked(path: str, names: list[str]) -> list[str]:
    """The columns to read; InputError for unknown ones."""
    if _is_output(names):
        return [name for name in OF_OUTPUT if name in names]
    for name in names:
        if name not in KEYS:
            check(name, KEYS, path)
    return names


def _is_output(names: list[str]) -> bool:
    return {"status", "method"} <= set(names)


def _of_output(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a shard as a record."""
    further = json.loads(row.pop(FURTHER, "{}"))
    return {**row, **further}


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """A row as a record; a column that is null, or NaN beside the columns of a record, is one that the record lacks."""
    there = {name: value for name, value in row.items() if value is not None}
    result = {name: there[name] for name in there if name in KEYS}
    for name in there.keys() - result.keys():
        if there[name] == there[name]:
            result[name] = json.loads(json.dumps(there[name], default=_plain))
    return result


def _plain(value: Any) -> str:
    """A text for a value that JSON does not have: ISO 8601 for dates and times, base64 for bytes."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
