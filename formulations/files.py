"""Reading files with a limit on their size, and writing them atomically; files whose names end in `.gz` are compressed."""

import codecs
import contextlib
import errno
import gzip
import io
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from formulations.errors import InferenceError
from formulations.forks import emptied_by_forks

PACKED = ".gz"
CHUNK_SIZE = 2**20  # bytes of a read


class Unreadable(InferenceError, ValueError):
    """Error for a file that cannot be read; the message is the reason, without the file name."""


class UnpackedFile(gzip.GzipFile):
    """The content of a compressed file; format errors are raised as OSError."""

    def read(self, size: int | None = -1) -> bytes:
        return self._checked(super().read, size)

    def read1(self, size: int = -1) -> bytes:
        return self._checked(super().read1, size)

    def _checked(self, read: Callable[[Any], bytes], size: int | None) -> bytes:
        try:
            data = read(size)
            if not data and not self.position:  # gzip reads an empty file as empty content
                raise EOFError("it is empty")
            return data
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise OSError(errno.EINVAL, f"truncated or damaged gzip file: {error}") from None

    @property
    def position(self) -> int:
        """Number of bytes read from the compressed file."""
        stream = cast(BinaryIO | None, self.fileobj)
        return 0 if stream is None else stream.tell()


def is_packed(path: str | Path) -> bool:
    return str(path).lower().endswith(PACKED)


def plain_name(path: str | Path) -> str:
    name = str(path)
    return name[: -len(PACKED)] if is_packed(path) else name


def open_bytes(path: str | Path) -> BinaryIO:
    return cast(BinaryIO, UnpackedFile(path, "rb")) if is_packed(path) else Path(path).open("rb")


def packed(path: str | Path, content: bytes) -> bytes:
    """Compress content if the file name ends in `.gz`. The result is deterministic, as it includes neither time nor name."""
    return gzip.compress(content, mtime=0) if is_packed(path) else content


def read_text(path: str | Path, largest: int, instead: str = "") -> str:
    """The text of a UTF-8 file, unpacked if the name ends in `.gz`; Unreadable, with the advice `instead` if it is too large."""
    try:
        text = _content(path, largest, instead).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 at byte {error.start}: save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json_text(path: str | Path, largest: int) -> str:
    """The text of a `.json` or `.json.gz` file, as by `read_text`; Unreadable also for another suffix."""
    check_json_name(path)
    return read_text(path, largest)


def check_json_name(path: str | Path) -> None:
    if not plain_name(path).lower().endswith(".json"):
        raise Unreadable("its name ends neither in .json nor in .json.gz; name such a file")


unfinished: set[Path] = emptied_by_forks(set())
"""Incomplete files of this process, to be removed if it ends at once."""


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file atomically; it is compressed if its name ends in `.gz`."""
    with new_file(Path(path)) as stream:
        stream.write(packed(path, content))


@contextlib.contextmanager
def new_file(target: Path, part: Path | None = None) -> Iterator[BinaryIO]:
    """A stream to a new file, which replaces the target at the end and keeps its permissions; after an error, the new file is removed."""
    part = part or target.with_name(f"{target.name}.{os.urandom(4).hex()}.part")
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    unfinished.add(part)
    stream = open(descriptor, "wb")  # noqa: SIM115
    try:
        keep_permissions(part, target)
        yield stream
        stream.flush()
        os.fsync(descriptor)
        stream.close()
        os.replace(part, target)
        sync_folder(target.parent)
    finally:
        with contextlib.suppress(OSError):  # a full disk fails again, with a worse message
            stream.close()
        part.unlink(missing_ok=True)
        unfinished.discard(part)


def keep_permissions(part: Path, target: Path) -> None:
    with contextlib.suppress(OSError):  # the target may not exist
        os.chmod(part, stat.S_IMODE(target.stat().st_mode))


def sync_folder(folder: Path) -> None:
    """Flush new names in a folder to disk."""
    with contextlib.suppress(OSError):  # some file systems cannot flush a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def json_bytes(path: str | Path, values: object) -> bytes:
    """Plain values as uncompressed JSON, for a file `.json` or `.json.gz`; Unreadable for another suffix."""
    check_json_name(path)
    return (json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n").encode()


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
        raise Unreadable(f"{size / 2**20:.1f} MiB; at most {largest // 2**20} MiB are read{instead}")
    return _unpacked(content, largest, instead) if is_packed(path) else content


def _unpacked(content: bytes, largest: int, instead: str) -> bytes:
    try:
        with UnpackedFile(fileobj=io.BytesIO(content)) as stream:
            result = stream.read(largest + 1)
    except OSError as error:
        raise Unreadable(error.strerror) from None
    if len(result) > largest:
        raise Unreadable(f"more than {largest // 2**20} MiB when it is unpacked{instead}")
    return result


def read_text_bytes(stream: BinaryIO) -> bytes:
    """All bytes of a text stream; ValueError for a byte order mark of UTF-16, and at the first zero byte."""
    data = bytearray()
    while chunk := stream.read(CHUNK_SIZE):
        if not data and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise ValueError("line 1: UTF-16; save it as UTF-8")
        if b"\0" in chunk:  # this also stops at endless streams such as /dev/zero
            line = (data + chunk[: chunk.index(b"\0")]).count(b"\n") + 1
            raise ValueError(f"line {line}: byte 0x00, which does not occur in text; save it as UTF-8")
        data += chunk
    return bytes(data)
