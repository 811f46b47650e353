"""The output folder of a run, on this machine or in storage of fsspec; files are written atomically."""

import contextlib
import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from ilpinfer.reprocessing.manifest import MANIFEST, Manifest, read_manifest
from ilpinfer.reprocessing.tables import ShardEntry, read_shard, shard_name
from ilpinfer.system.checkpoint import Row, json_line
from ilpinfer.system.files import lock_output
from ilpinfer.system.locks import LockNotice
from ilpinfer.system.output_paths import OutputError, OutputPath, check_folder, write_errors
from ilpinfer.system.storage import (
    file_system,
    is_address,
    is_file,
    joined,
    local_name,
    new_file,
    open_bytes,
    storage_errors,
)

REJECTED, UNPROVED = "rejected.jsonl", "unproved.jsonl"
LOCK = "run.lock"
SPOOL = 2**26
"""Largest size of a list in memory, in bytes; larger lists are spooled to disk."""
ShardContent = tuple[ShardEntry, dict[str, list[Any]]]
"""The entry of a shard, and its columns."""


class Folder:
    """A folder of shards, which is created if it does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = local_name(path)
        with write_errors(self.path):
            self._system, self._place = file_system(self.path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other runs, if the file system has locks; OutputError if another run has the lock."""
        elsewhere = is_address(self.path)
        if not elsewhere:
            check_folder(self.path)
        with write_errors(self.path):
            if elsewhere:
                self._check_transactions()
                self._system.invalidate_cache()
            if is_file(self.path):
                raise OutputError(f"{self.path}: is a file; name a folder")
        if elsewhere:
            with write_errors(self.path), storage_errors(), contextlib.suppress(FileExistsError):
                self._system.mkdir(self._place, create_parents=False)  # never create a bucket of s3
            text = f"{self.path}: this storage has no locks; make sure that no other run writes there"
            warnings.warn(text, LockNotice, stacklevel=3)
            yield
            return
        with lock_output(OutputPath(self.path, Path(self.path, LOCK.removesuffix(".lock")))):
            for part in Path(self.path).glob("*.part"):  # from a killed run
                with write_errors(part):
                    part.unlink()
            yield

    def _check_transactions(self) -> None:
        from fsspec.implementations.arrow import ArrowFSWrapper

        if isinstance(self._system, ArrowFSWrapper):
            what = "this storage has no transactions, so files could be incomplete; choose another storage"
            raise OutputError(f"{self.path}: {what}")

    def place(self, name: str) -> str:
        """The path of a file, for messages."""
        return joined(self.path, name)

    @property
    def names(self) -> list[str]:
        """The files of the folder."""
        with write_errors(self.path), storage_errors():
            there = self._system.isdir(self._place)  # an empty folder does not exist in s3
            found = self._system.ls(self._place, detail=False) if there else []
        names = [Path(each).name for each in found if each.rstrip("/") != self._place.rstrip("/")]
        return [name for name in names if name != LOCK]

    def manifest(self) -> Manifest:
        """The manifest of the run in the folder; OutputError if there is none."""
        return read_manifest(self.path)

    def begin(self, manifest: Manifest, resume: bool) -> Manifest:
        """Write the manifest to an empty folder; with `resume`, OutputError if the earlier run had another model, rules or options."""
        if not self.names:
            self.write(MANIFEST, manifest.text())
        elif not resume:
            raise OutputError(f"{self.path}: is not empty; continue with --resume, or choose another output")
        else:
            before = self.manifest()
            before.check_same(manifest, self.path)
            manifest = replace(manifest, shards=before.shards, rest=before.rest)
        return manifest

    def reopen(self, manifest: Manifest) -> Manifest:
        """The manifest of a finished run, for a retry; OutputError for another run, and for an unfinished run."""
        before = self.manifest()
        before.check_same(manifest, self.path, limits=False)
        if not before.finished:
            raise OutputError(f"{self.path}: the run has not finished; continue it with --resume first")
        return replace(before, retries=(*before.retries, manifest.time_limit))

    def shard(self, number: int, run: str) -> ShardContent | None:
        """A shard in the folder, or None; OutputError for a damaged shard, and for a shard of another run."""
        path = self.place(shard_name(number))
        try:
            if not is_file(path):
                return None
        except OSError as error:
            raise OutputError(f"{path}: cannot be read: {error.strerror}") from None
        entry, columns = read_shard(path)
        if entry.run != run:
            raise OutputError(
                f"{path}: belongs to another run; delete it and continue with --resume, or choose another output"
            )
        return entry, columns

    @property
    def shard_count(self) -> int:
        """Number of shards in the folder, by their names."""
        return sum(fnmatchcase(name, "part-*.parquet") for name in self.names)

    def content(self, name: str) -> bytes | None:
        """The bytes of a file; None if it cannot be read."""
        try:
            with open_bytes(self.place(name)) as stream:
                return stream.read()
        except OSError:
            return None

    def rejections(self) -> list[Row]:
        """The list of rejected records of an earlier run; empty if it is missing or damaged."""
        try:
            return [json.loads(line) for line in (self.content(REJECTED) or b"").splitlines()]
        except ValueError:
            return []

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically and flush it to disk."""
        path = self.place(name)
        with write_errors(path), new_file(path) as stream:
            stream.write(data)

    @contextlib.contextmanager
    def lines(self, name: str) -> Iterator["JsonLines"]:
        """A file of JSON lines, written at the end unless there is an error."""
        path = self.place(name)
        with SpooledTemporaryFile(SPOOL) as spool:
            yield JsonLines(path, spool)
            spool.seek(0)
            with write_errors(path), new_file(path) as stream:
                shutil.copyfileobj(spool, stream)


class JsonLines:
    def __init__(self, path: str, stream: IO[bytes]) -> None:
        self._path, self._stream, self.count = path, stream, 0

    def add(self, row: Row) -> None:
        with write_errors(self._path):
            self._stream.write(json_line(row))
        self.count += 1
