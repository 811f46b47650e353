"""The output folder of a run, and its files."""

import contextlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO

from ilpinfer.reprocessing.manifest import MANIFEST, Manifest, read_manifest
from ilpinfer.reprocessing.storage import storage_of
from ilpinfer.reprocessing.tables import ShardEntry, read_shard, shard_name
from ilpinfer.system.addresses import is_file, joined, local_name, open_bytes
from ilpinfer.system.output_paths import OutputError, write_errors

REJECTED, UNPROVED = "rejected.jsonl", "unproved.jsonl"
ShardContent = tuple[ShardEntry, dict[str, list[Any]]]
"""The entry of a shard, and its columns."""


class Folder:
    """A folder of shards, which is created if it does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = local_name(path)
        self._storage = storage_of(self.path)

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder against other runs; OutputError if another run has the lock."""
        return self._storage.locked()

    def place(self, name: str) -> str:
        """The path of a file, for messages."""
        return joined(self.path, name)

    @property
    def is_empty(self) -> bool:
        """Whether the folder has no files."""
        return not self._storage.names()

    def manifest(self) -> Manifest:
        """The manifest of the run in the folder; OutputError if there is none."""
        return read_manifest(self.path)

    def begin(self, manifest: Manifest, resume: bool) -> Manifest:
        """Write the manifest to an empty folder; with `resume`, OutputError for a run with another model, rules or options."""
        if self.is_empty:
            self.write(MANIFEST, manifest.text())
        elif not resume:
            raise OutputError(f"{self.path}: is not empty; continue with --resume, or choose another output")
        else:
            before = self.manifest()
            before.check_same(manifest, self.path)
            manifest = replace(manifest, shards=before.shards, rest=before.rest)
        return manifest

    def reopen(self, manifest: Manifest) -> Manifest:
        """The manifest of a finished run for a retry; OutputError for another run, and for one that has not finished."""
        before = self.manifest()
        before.check_same(manifest, self.path, limits=False)
        if not before.finished:
            raise OutputError(f"{self.path}: the run has not finished; continue it with --resume first")
        return replace(before, retries=(*before.retries, manifest.time_limit))

    def shard(self, number: int, run: str) -> ShardContent | None:
        """A shard in the folder, or None; OutputError for a damaged shard and for one of another run."""
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
        """Number of files that have the name of a shard."""
        return sum(fnmatchcase(name, "part-*.parquet") for name in self._storage.names())

    def content(self, name: str) -> bytes | None:
        """The bytes of a file; None where there is none, or it cannot be read."""
        try:
            with open_bytes(self.place(name)) as stream:
                return stream.read()
        except OSError:
            return None

    def rejections(self) -> list[dict[str, Any]]:
        """The rejected records that an earlier run has listed; none where the list is missing or damaged."""
        try:
            return [json.loads(line) for line in (self.content(REJECTED) or b"").splitlines()]
        except ValueError:
            return []

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically and flush it to disk."""
        with self._new_file(name) as stream, write_errors(self.place(name)):
            stream.write(data)

    @contextlib.contextmanager
    def lines(self, name: str) -> Iterator["JsonLines"]:
        """A file of JSON lines, which appears under its name at the end; after an error it is removed."""
        with self._new_file(name) as stream:
            yield JsonLines(self.place(name), stream)

    @contextlib.contextmanager
    def _new_file(self, name: str) -> Iterator[BinaryIO]:
        """A stream to a new file, whose errors of opening and of replacing are OutputError; those of the caller stay."""
        path = self.place(name)
        with contextlib.ExitStack() as stack:
            with write_errors(path):
                stream = stack.enter_context(self._storage.new_file(name))
            yield stream
            with write_errors(path):
                stack.close()


class JsonLines:
    def __init__(self, path: str, stream: Any) -> None:
        self._path, self._stream, self.count = path, stream, 0

    def add(self, row: dict[str, Any]) -> None:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        with write_errors(self._path):
            self._stream.write(text.encode("utf-8", "backslashreplace"))
        self.count += 1
