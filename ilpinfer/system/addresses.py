"""Input files by name: paths of this machine, and addresses such as `s3://bucket/file`, which fsspec opens."""

import contextlib
import errno
import glob
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from formulations import files
from formulations.files import UnpackedFile, is_packed
from ilpinfer.system.extras import require

LOCAL = "file://"
SIGN = "://"
BUFFER = 2**20  # bytes


def source_name(source: str | Path) -> str:
    """The name of an input in messages."""
    return "standard input" if str(source) == "-" else str(source)


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

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _UnpackedAddress(UnpackedFile):
    """The content of a compressed file at an address, which is closed with it."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(fileobj=stream)
        self._packed = stream

    def close(self) -> None:
        super().close()
        self._packed.close()


def local_name(path: str | Path) -> str:
    """The path of a `file://` address; other names as they are."""
    return str(path).removeprefix(LOCAL)


def is_address(path: str | Path) -> bool:
    """Whether a name is the address of a file elsewhere."""
    return SIGN in local_name(path)


def open_bytes(path: str | Path) -> BinaryIO:
    """The content of a file, unpacked where its name ends in `.gz`; OSError where it cannot be opened."""
    if not is_address(path):
        return files.open_bytes(local_name(path))
    system, place = file_system(path)
    with storage_errors():
        stream = io.BufferedReader(_Content(system.open(place, "rb")), BUFFER)
    return cast(BinaryIO, _UnpackedAddress(stream) if is_packed(path) else stream)


def read_bytes(path: str | Path, error: type[Exception], what: str = "") -> bytes:
    """The content of a file, as by `open_bytes`; an error of this type where it cannot be read."""
    try:
        with open_bytes(path) as stream:
            return stream.read()
    except OSError as fault:
        raise error(f"{path}: {what}cannot be read: {fault.strerror}") from None


def file_size(path: str) -> int:
    """Number of bytes, as they are stored."""
    if not is_address(path):
        return os.stat(local_name(path)).st_size
    system, place = file_system(path)
    with storage_errors():
        return int(system.size(place) or 0)


def is_file(path: str) -> bool:
    if not is_address(path):
        return os.path.isfile(local_name(path))
    system, place = file_system(path)
    with storage_errors():
        return bool(system.isfile(place))


def is_folder(path: str) -> bool:
    if not is_address(path):
        return os.path.isdir(local_name(path))
    system, place = file_system(path)
    with storage_errors():
        return bool(system.isdir(place))


def files_below(folder: str) -> list[str]:
    """The files of a folder and of its folders, relative to it and in order, with `/` between their parts."""
    if not is_address(folder):
        root = Path(local_name(folder))
        return sorted(each.relative_to(root).as_posix() for each in root.rglob("*") if each.is_file())
    system, place = file_system(folder)
    with storage_errors():
        return sorted(each.removeprefix(place).lstrip("/") for each in system.find(place))


def files_beside(path: str) -> list[str]:
    """The names in the folder of a file."""
    if not is_address(path):
        return os.listdir(Path(local_name(path)).parent)
    system, place = file_system(path)
    with storage_errors():
        return [each.rpartition("/")[2] for each in system.ls(place.rpartition("/")[0], detail=False)]


def matching_files(pattern: str) -> list[str]:
    """The files that a pattern matches, in order."""
    if not is_address(pattern):
        return sorted(each for each in glob.glob(local_name(pattern), recursive=True) if os.path.isfile(each))
    system, place = file_system(pattern)
    with storage_errors():
        found = system.glob(place, detail=True)
        return sorted(
            system.unstrip_protocol(name) for name, about in found.items() if about["type"] == "file"
        )


def joined(folder: str, name: str) -> str:
    """The path or the address of a file of a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_address(folder) else str(Path(local_name(folder), name))


def file_system(address: str | Path) -> tuple[Any, str]:
    """The file system of fsspec for an address, and the path within it; OSError where there is none."""
    require(str(address), "fsspec", "fsspec")
    from fsspec.core import url_to_fs

    with storage_errors():
        return cast(tuple[Any, str], url_to_fs(str(address)))


@contextlib.contextmanager
def storage_errors() -> Iterator[None]:
    """Convert errors of file systems of fsspec, which raise those of their libraries, to errors of the operating system."""
    try:
        yield
    except MemoryError:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from None
    except Exception as error:
        code = errno.EACCES if isinstance(error, PermissionError) else errno.EIO
        raise OSError(code, " ".join(str(error).split())[:200] or type(error).__name__) from error
