"""Files by name: paths of this machine, and addresses such as `s3://bucket/file`, which are left to fsspec."""

import contextlib
import errno
import glob
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from formulations import files
from formulations.errors import InferenceError
from formulations.files import UnpackedFile, is_packed
from ilpinfer.system.extras import require

LOCAL, SIGN = "file://", "://"
BUFFER = 2**20  # bytes


class _Local:
    """What is used of fsspec's file systems, for this machine; fsspec is optional, and takes long to import."""

    isfile, isdir = staticmethod(os.path.isfile), staticmethod(os.path.isdir)
    size = staticmethod(os.path.getsize)

    @staticmethod
    def ls(folder: str, detail: bool) -> list[str]:
        return [entry.path for entry in os.scandir(folder)]

    @staticmethod
    def find(folder: str) -> list[str]:
        names = (os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)
        return list(filter(os.path.isfile, names))

    @staticmethod
    def glob(pattern: str) -> list[str]:
        return glob.glob(pattern, recursive=True)

    unstrip_protocol = staticmethod(str)


class _Content(io.RawIOBase):
    """The content at an address; errors of its storage become those of the operating system."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def readinto(self, buffer: Any) -> int:
        with storage_errors():
            content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with storage_errors():
            return int(self._stream.seek(offset, whence))

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def source_name(source: str | Path) -> str:
    """The name of an input in messages."""
    return "standard input" if str(source) == "-" else str(source)


def local_name(path: str | Path) -> str:
    """The path of a `file://` address; other names as they are."""
    return str(path).removeprefix(LOCAL)


def is_address(path: str | Path) -> bool:
    """Whether a name is the address of a file elsewhere."""
    return SIGN in local_name(path)


def joined(folder: str, name: str) -> str:
    """The path or the address of a file of a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_address(folder) else str(Path(local_name(folder), name))


def file_system(path: str | Path) -> tuple[Any, str]:
    """The file system of a path or address, with methods of fsspec, and the place within it; OSError where there is none."""
    name = local_name(path)
    if not is_address(name):
        return _Local, name
    require(name, "fsspec", "fsspec")
    from fsspec.core import url_to_fs

    with storage_errors():
        return cast(tuple[Any, str], url_to_fs(name))


def is_file(path: str | Path) -> bool:
    system, place = file_system(path)
    with storage_errors():
        return bool(system.isfile(place))


def file_size(path: str | Path) -> int:
    """Number of bytes, as they are stored."""
    system, place = file_system(path)
    with storage_errors():
        return int(system.size(place) or 0)


def open_bytes(path: str | Path) -> BinaryIO:
    """The content of a file, unpacked where its name ends in `.gz`; OSError where it cannot be opened."""
    if not is_address(path):
        return files.open_bytes(local_name(path))
    system, place = file_system(path)
    with storage_errors():
        stream = io.BufferedReader(_Content(system.open(place, "rb")), BUFFER)
    if not is_packed(path):
        return cast(BinaryIO, stream)
    unpacked = UnpackedFile(fileobj=stream)
    unpacked.myfileobj = stream  # type: ignore[assignment]  # it is closed with the other
    return cast(BinaryIO, unpacked)


def read_bytes(path: str | Path, error: type[Exception], what: str = "") -> bytes:
    """The content of a file, as by `open_bytes`; an error of this type where it cannot be read."""
    try:
        with open_bytes(path) as stream:
            return stream.read()
    except OSError as fault:
        raise error(f"{path}: {what}cannot be read: {fault.strerror}") from None


@contextlib.contextmanager
def new_file(path: str | Path) -> Iterator[BinaryIO]:
    """A stream to a file that appears at the end, and not after an error; at an address by a transaction of its storage."""
    if not is_address(path):
        with files.new_file(Path(local_name(path))) as stream:
            yield stream
        return
    system, place = file_system(path)
    with storage_errors(), system.transaction, system.open(place, "wb") as stream:
        yield stream


@contextlib.contextmanager
def storage_errors() -> Iterator[None]:
    """Convert errors of file systems of fsspec, which raise those of their libraries, to errors of the operating system."""
    try:
        yield
    except (MemoryError, InferenceError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from None
        code = errno.EACCES if isinstance(error, PermissionError) else errno.EIO
        raise OSError(code, " ".join(str(error).split())[:200] or type(error).__name__) from error
