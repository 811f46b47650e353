"""Files of references: JSON for one reference, JSON lines for several; gzipped if the name ends in `.gz`."""

import contextlib
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from ilpinfer.checker import MOST_BYTES
from ilpinfer.errors import describe
from ilpinfer.references.record import InvalidReference, Reference
from ilpinfer.system.files import whole_file, write_all
from ilpinfer.system.output_paths import OutputPath, output_path


def read(path: str | Path) -> Iterator[Reference]:
    """Read the references of a file lazily.

    Parameters
    ----------
    path : str or Path
        JSON, or JSON lines if the name contains `.jsonl`; gzipped if the name ends in `.gz`. `-` is standard
        input, with one reference on each line.

    Yields
    ------
    Reference
        The references in order.

    Raises
    ------
    InvalidReference
        For a record that cannot be read; the message names its place.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> import tempfile, pathlib
    >>> reference = references.make(Trellis([0.0, -1.0], [], labels=["a", "b"]), [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "reference.json")
    ...     _ = references.write(path, [reference])
    ...     [each.optima for each in references.read(path)]
    [((0,),)]
    """
    for number, each in number_references(path):
        if isinstance(each, InvalidReference):
            raise InvalidReference(f"{path}, reference {number}: {each}")
        yield each


def number_references(path: str | Path) -> Iterator[tuple[int, Reference | InvalidReference]]:
    """Number, from 1, and reference or error of each record of a file; see `read`."""
    for number, record in records(path):
        try:
            yield number, Reference.from_dict(record)
        except InvalidReference as error:
            yield number, error


def records(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Number, from 1, and plain values of each record of a file; see `read`."""
    name, number = str(path), 1
    try:
        with _open(name) as stream:
            take = stream.readline if name == "-" or ".jsonl" in Path(name).name else stream.read
            while text := take(MOST_BYTES + 1):
                if len(text) > MOST_BYTES:
                    raise ValueError(
                        f"it has more than {MOST_BYTES} bytes; write it as JSON lines, one a line"
                    )
                yield number, json.loads(text)
                number += 1
    except InvalidReference:
        raise
    except (EOFError, zlib.error, ValueError, RecursionError, MemoryError) as error:
        raise InvalidReference(f"{name}, reference {number}: {describe(error)}") from None
    except OSError as error:
        raise InvalidReference(f"{name}: cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def _open(name: str) -> Iterator[BinaryIO]:
    """The uncompressed bytes of a file, or of standard input, which is not closed."""
    if name == "-":
        yield sys.stdin.buffer
    elif name.endswith(".gz"):
        with gzip.open(name, "rb") as packed:
            yield cast(BinaryIO, packed)
    else:
        with Path(name).open("rb") as stream:
            yield stream


def write(path: str | Path, references: Iterable[Reference], inputs: Iterable[str | Path | None] = ()) -> int:
    """Write references as JSON or JSON lines, with gzip if the name ends in `.gz`.

    The file appears under its name only when it is complete.

    Parameters
    ----------
    path : str or Path
        As in `read`.
    references : iterable of Reference
        The references; a single reference unless the name contains `.jsonl`.
    inputs : iterable of str, Path or None, optional
        Files that must not be overwritten.

    Returns
    -------
    int
        The number of references.

    Raises
    ------
    OutputError
        If the file cannot be written, or exists already.
    InvalidReference
        For several references and a name without `.jsonl`, for no reference, and for a reference that is
        too large to be read.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> import tempfile, pathlib
    >>> reference = references.make(Trellis([0.0, -1.0], [], labels=["a", "b"]), [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     references.write(pathlib.Path(folder, "two.jsonl.gz"), [reference, reference])
    2
    """
    place = output_path(path, inputs)
    with whole_file(place) as stream:
        return _write(place, stream, references)


def _write(place: OutputPath, stream: io.FileIO | BinaryIO, references: Iterable[Reference]) -> int:
    name, count = Path(place.name).name, 0
    packed = gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) if name.endswith(".gz") else None
    for count, reference in enumerate(references, 1):
        if count == 2 and ".jsonl" not in name and not place.direct:
            raise InvalidReference(
                f"{place.name}: a JSON file holds one reference; name it {name.split('.')[0]}.jsonl"
            )
        text = json.dumps(reference.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = text.encode("utf-8", "surrogatepass") + b"\n"
        if len(data) > MOST_BYTES:
            raise InvalidReference(
                f"{reference.name or f'reference {count}'}: has {len(data)} bytes, more than {MOST_BYTES}; use scores with "
                "transitions that all steps share, or shorter sequences"
            )
        if packed:
            packed.write(data)
        else:
            write_all(stream, data)
    if packed:
        packed.close()
    if not count:
        raise InvalidReference(f"{place.name}: there is no reference to write")
    return count
