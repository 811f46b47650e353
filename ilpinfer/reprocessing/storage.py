"""Where the folder of a run is: on this machine, or in storage that fsspec reaches."""

import contextlib
import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from formulations.files import new_file
from ilpinfer.system.addresses import file_system, is_address, local_name, storage_errors
from ilpinfer.system.files import lock_output
from ilpinfer.system.locks import LockNotice
from ilpinfer.system.output_paths import OutputError, OutputPath, check_folder, write_errors

PART = ".part"
LOCK = "run.lock"
SPOOL = 2**26
"""Bytes of a file that are kept in memory before it is written to storage."""


class Storage(ABC):
    """A folder whose files appear whole or not at all."""

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Create the folder where it does not exist, and lock it where its file system has locks."""

    @abstractmethod
    def names(self) -> list[str]:
        """The files of the folder."""

    @abstractmethod
    def new_file(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A stream to a file that appears at the end, and not after an error."""


class LocalStorage(Storage):
    def __init__(self, path: str) -> None:
        self._path = Path(path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other runs, and remove incomplete files of a killed one."""
        check_folder(self._path)
        if self._path.exists() and not self._path.is_dir():
            raise OutputError(f"{self._path}: is a file; name a folder")
        with lock_output(OutputPath(str(self._path), self._path / LOCK.removesuffix(".lock"))):
            for part in self._path.glob(f"*{PART}"):
                with write_errors(part):
                    part.unlink()
            yield

    def names(self) -> list[str]:
        return [each.name for each in self._path.iterdir() if each.name != LOCK]

    def new_file(self, name: str) -> AbstractContextManager[BinaryIO]:
        return new_file(self._path / name, self._path / f"{name}{PART}")


class RemoteStorage(Storage):
    """A folder of a file system of fsspec, whose transactions make files appear whole; it has no locks."""

    def __init__(self, address: str) -> None:
        self._address = address
        with write_errors(address):
            self._system, self._path = file_system(address)
        from fsspec.implementations.arrow import ArrowFSWrapper

        if isinstance(self._system, ArrowFSWrapper):
            raise OutputError(
                f"{address}: this storage has no transactions, by which files appear whole; name another one"
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        with write_errors(self._address), storage_errors():
            self._system.invalidate_cache()
            is_file = self._system.isfile(self._path)
        if is_file:
            raise OutputError(f"{self._address}: is a file; name a folder")
        with write_errors(self._address), storage_errors(), contextlib.suppress(FileExistsError):
            self._system.mkdir(self._path, create_parents=False)  # of s3, no bucket is created
        text = f"{self._address}: this storage has no locks; let no second run write there"
        warnings.warn(text, LockNotice, stacklevel=2)
        yield

    def names(self) -> list[str]:
        with write_errors(self._address), storage_errors():
            found = self._system.ls(self._path, detail=False) if self._system.exists(self._path) else []
        return [each.rpartition("/")[2] for each in found if each.rstrip("/") != self._path.rstrip("/")]

    @contextlib.contextmanager
    def new_file(self, name: str) -> Iterator[BinaryIO]:
        with SpooledTemporaryFile(SPOOL) as stream:
            yield cast(BinaryIO, stream)
            stream.seek(0)
            with (
                storage_errors(),
                self._system.transaction,
                self._system.open(f"{self._path}/{name}", "wb") as target,
            ):
                shutil.copyfileobj(stream, target)


def storage_of(path: str) -> Storage:
    return RemoteStorage(path) if is_address(path) else LocalStorage(local_name(path))
