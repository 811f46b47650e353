"""Shards as Parquet files, with their entries as metadata."""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from formulations.plain_values import parse_json, record
from formulations.problem.known_labels import plain_given
from ilpinfer.core.solution import Solution, finite
from ilpinfer.core.solution_fields import ABOUT
from ilpinfer.core.status import Status
from ilpinfer.corpus.slices import InputPosition
from ilpinfer.pipelines.trellises import ScoredExample
from ilpinfer.system.output_paths import OutputError
from ilpinfer.system.storage import open_bytes

KEY = b"ilpinfer"
"""Key of the entry in the metadata of a file."""
TEXTS = (
    "file",
    *ABOUT,
    "further",
    "columns",
    "given",
    "status",
    "violations",
    "changed",
    "method",
    "certificate",
    "reason",
    "error",
)
"""Columns of texts; other values of notes are JSON."""
NUMBERS = ("score", "model_score", "feature_score", "penalty", "bound", "gap", "seconds")
OF_MANIFEST = ("file_sha256", "slice")
"""Keys of an entry that are in the manifest only."""
OF_UNPROVED = ("sequence", "file", "line", "status", "gap", "reason", "error")
"""Columns of the list of unproved sequences."""
PROVED = (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True)
class InputSlice:
    """The part of the input of a shard, from the end of the previous slice.

    `file`, `offset` and `line` are its end, `records` is the number of records up to there, `rejected` the number of rejected records in
    the slice, and `sha256` the digest of its bytes.
    """

    file: int
    offset: int
    line: int
    records: int
    rejected: int
    sha256: str

    @property
    def end(self) -> InputPosition:
        return InputPosition(self.file, self.offset, self.line)


@dataclass(frozen=True)
class ShardEntry:
    """A shard in the manifest: its file, the digests of the run and of its sequences, and the number of its first sequence.

    `sha256` is the digest of the content without the column `seconds`, `file_sha256` the digest of the file. `slice` is None if the
    input cannot be read again.
    """

    file: str
    run: str
    input: str
    begin: int
    rows: int
    proved: int
    failed: int
    sha256: str
    file_sha256: str = ""
    slice: InputSlice | None = None

    @property
    def unproved(self) -> int:
        return self.rows - self.proved

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "unproved": self.unproved}


def shard_name(number: int) -> str:
    return f"part-{number:05}.parquet"


def table_of(
    rows: Iterable[tuple[int, ScoredExample, Solution]], run: str, number: int, digest: str, *, explain: bool
) -> tuple[bytes, ShardEntry]:
    """The Parquet file of at least one numbered sequence with its solution, and the entry."""
    made = [_row(*row, explain) for row in rows]
    columns = {name: [row[name] for row in made] for name in made[0]}
    return shard_file(columns, run, number, digest)


def shard_file(columns: dict[str, list[Any]], run: str, number: int, digest: str) -> tuple[bytes, ShardEntry]:
    """The Parquet file of columns, and the entry."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    status, errors = columns["status"], columns["error"]
    entry = ShardEntry(
        shard_name(number),
        run,
        digest,
        columns["sequence"][0],
        len(status),
        sum(each in PROVED for each in status),
        sum(map(bool, errors)),
        content_digest(columns),
    )
    own = {name: value for name, value in asdict(entry).items() if name not in OF_MANIFEST}
    schema = _schema().with_metadata({KEY: json.dumps(own)})
    stream = io.BytesIO()
    pq.write_table(pa.table(columns, schema=schema), stream, compression="zstd")
    data = stream.getvalue()
    return data, replace(entry, file_sha256=hashlib.sha256(data).hexdigest())


def read_shard(path: str | Path) -> tuple[ShardEntry, dict[str, list[Any]]]:
    """The entry and the columns of a file; OutputError for a damaged file, and for a file that is not a shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    way_out = "delete it and continue with --resume, or choose another output"
    try:
        with open_bytes(path) as stream:
            data = stream.read()
        table = pq.read_table(pa.BufferReader(data))
        entry = record(
            ShardEntry, parse_json((table.schema.metadata or {})[KEY].decode("utf-8")), "the entry"
        )
    except KeyError:
        raise OutputError(
            f"{path}: was not written by ilpinfer; move it, since a shard needs this name"
        ) from None
    except (OSError, ValueError) as error:
        words = " ".join(str(error).split())[:100]
        raise OutputError(f"{path}: damaged ({words}); {way_out}") from None
    columns = table.to_pydict()
    if content_digest(columns) != entry.sha256 or entry.file != PurePath(path).name:
        raise OutputError(f"{path}: damaged, its content does not match its digest; {way_out}")
    return replace(entry, file_sha256=hashlib.sha256(data).hexdigest()), columns


def columns_of(data: bytes, names: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """The columns of a file, all or some."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, list[Any]] = pq.read_table(pa.BufferReader(data), columns=names).to_pydict()
    return columns


def content_digest(columns: dict[str, list[Any]]) -> str:
    """SHA-256 of all columns except `seconds`, as JSON; independent of the version of the file format."""
    result = hashlib.sha256()
    for name, values in columns.items():
        if name != "seconds":
            result.update(json.dumps([name, values], ensure_ascii=False).encode())
    return result.hexdigest()


def unproved_rows(columns: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Number, place and gap (nats) of each sequence without a proof."""
    for values in zip(*(columns[name] for name in OF_UNPROVED), strict=True):
        row = dict(zip(OF_UNPROVED, values, strict=True))
        if row["status"] not in PROVED:
            yield row


def _schema() -> Any:
    import pyarrow as pa

    texts = pa.list_(pa.string())
    special = {"sequence": pa.int64(), "line": pa.int64(), "tokens": texts, "labels": texts}
    kinds = {**special, **dict.fromkeys(TEXTS, pa.string()), **dict.fromkeys(NUMBERS, pa.float64())}
    return pa.schema([(name, kinds[name]) for name in NAMES])


NAMES = (
    *(
        "sequence",
        "file",
        "line",
        *ABOUT,
        "further",
        "tokens",
        "columns",
        "given",
        "labels",
        "status",
        "score",
        "model_score",
        "feature_score",
    ),
    *(
        "penalty",
        "bound",
        "gap",
        "violations",
        "changed",
        "method",
        "certificate",
        "reason",
        "error",
        "seconds",
    ),
)
"""The columns, in order."""


def _row(number: int, item: ScoredExample, solution: Solution, explain: bool) -> dict[str, Any]:
    example = item.example
    labels = solution.labels if solution.has_labelling else None
    broken = {rule: count for rule, count in solution.violations.items() if count}
    further = {name: value for name, value in example.about.items() if name not in ABOUT}
    changed = None
    if explain and solution.has_labelling:
        changed = solution.explain(change=True).short()
    values = {
        "sequence": number,
        "file": _text(example.file),
        "line": example.line,
        **{name: _note(example.about.get(name)) for name in ABOUT},
        "further": _note(further or None),
        "tokens": list(map(str, item.tokens)),
        "columns": _note(example.named_columns or None),
        "labels": labels,
        "given": _note(plain_given(solution.given) or None),
        "status": str(solution.status),
        "violations": json.dumps(broken, ensure_ascii=False),
        "changed": _note(changed),
        "method": solution.method,
        "certificate": solution.certificate.kind,
        "reason": _text(solution.reason),
        "error": solution.error,
        **{name: finite(getattr(solution, name)) for name in NUMBERS},
    }
    return {name: values[name] for name in NAMES}


def _note(value: Any) -> str | None:
    """A note as text: unchanged if it is a text, else JSON; None if it is missing."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(text: str) -> str:
    """The text, with escapes for characters (of file names) that UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode()
