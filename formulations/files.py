"""Reading files with a limit on their size, and writing them atomically."""

import gzip
import io
import json
import os
import stat
import zlib
from pathlib import Path

from formulations.errors import InferenceError


class Unreadable(InferenceError, ValueError):
    """Error for a file that cannot be read; the message has the reason, without the name."""


def read_text(path: str | Path, largest: int, instead: str = "") -> str:
    """The text of a UTF-8 file, without a byte order mark, line ends as `\\n`.

    Parameters
    ----------
    path : str or Path
        A regular file, or a link to one.
    largest : int
        Bytes that it may have.
    instead : str, optional
        Advice for a larger one.

    Raises
    ------
    FileNotFoundError
        Where there is none.
    Unreadable
        For a folder, a device, a pipe, a file that is too large, and a text that is not UTF-8.
    """
    return _decoded(_content(path, largest, instead))


def read_json_text(path: str | Path, largest: int) -> str:
    """The text of a `.json` file, or of one that is compressed, `.json.gz`.

    Parameters
    ----------
    largest : int
        Bytes that it may have, compressed or not.

    Raises
    ------
    FileNotFoundError, Unreadable
        As `read_text`; Unreadable for another suffix, and for a compressed file that is cut short or damaged.
    """
    compressed = is_compressed_json(path)
    content = _content(path, largest, "")
    if not compressed:
        return _decoded(content)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            content = stream.read(largest + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"not a whole gzip file: {error}") from None
    if len(content) > largest:
        raise Unreadable(f"more than {largest // 2**20} MiB when it is unpacked")
    return _decoded(content)


def is_compressed_json(path: str | Path) -> bool:
    """Whether a name ends in `.json.gz` rather than `.json`; Unreadable where it ends in neither."""
    name = str(path).lower()
    if not name.endswith((".json", ".json.gz")):
        raise Unreadable("its name ends neither in .json nor in .json.gz; name such a file")
    return name.endswith(".gz")


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file as `path.part`, which is renamed at the end."""
    target = Path(path)
    part = target.with_name(f"{target.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def json_bytes(path: str | Path, values: object) -> bytes:
    """Plain values as JSON in the form given by the name of a file, `.json` or `.json.gz`; equal for equal values.

    Raises
    ------
    Unreadable
        For another suffix.
    """
    compressed = is_compressed_json(path)
    content = (json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n").encode()
    return gzip.compress(content, mtime=0) if compressed else content


def _content(path: str | Path, largest: int, instead: str) -> bytes:
    try:
        place = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", "") or str(error)) from None
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise Unreadable("not a regular file")
        size = os.fstat(place).st_size
        with open(place, "rb", closefd=False) as file:
            content = file.read(largest + 1) if size <= largest else b""
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None
    finally:
        os.close(place)
    size = max(size, len(content))
    if size > largest:
        raise Unreadable(f"{size / 2**20:.1f} MiB, and it may have {largest // 2**20}{instead}")
    return content


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}: save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
