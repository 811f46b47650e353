"""The output folder of a run, with a lock, and files that are written completely or not at all."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from formulations.files import new_file
from ilpinfer.reprocessing.manifest import MANIFEST, Manifest, read_manifest
from ilpinfer.reprocessing.tables import ShardEntry, read_shard, shard_name
from ilpinfer.system.files import lock_output
from ilpinfer.system.output_paths import OutputError, OutputPath, check_folder, write_errors

REJECTED, UNPROVED = "rejected.jsonl", "unproved.jsonl"
PART = ".part"
ShardContent = tuple[ShardEntry, dict[str, list[Any]]]
"""The entry of a shard, and its columns."""


class Folder:
    """A folder of shards, which is created if it does not exist."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, without incomplete files of a killed run; OutputError if another run has the lock."""
        check_folder(self.path)
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path}: is a file; name a folder")
        with lock_output(OutputPath(str(self.path), self.path / "run")):
            for part in self.path.glob(f"*{PART}"):
                with write_errors(part):
                    part.unlink()
            yield

    @property
    def is_empty(self) -> bool:
        return not any(each.name != "run.lock" for each in self.path.iterdir())

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
            self.manifest().check_same(manifest, self.path)
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
        path = self.path / shard_name(number)
        if not path.exists():
            return None
        entry, columns = read_shard(path)
        if entry.run != run:
            raise OutputError(
                f"{path}: belongs to another run; delete it and continue with --resume, or choose another output"
            )
        return entry, columns

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically and flush it to disk."""
        with self._new_file(name) as stream, write_errors(self.path / name):
            stream.write(data)

    @contextlib.contextmanager
    def lines(self, name: str) -> Iterator["JsonLines"]:
        """A file of JSON lines, which appears under its name at the end; after an error it is removed."""
        with self._new_file(name) as stream:
            yield JsonLines(self.path / name, stream)

    @contextlib.contextmanager
    def _new_file(self, name: str) -> Iterator[BinaryIO]:
        """A stream to a new file, whose errors of opening and of replacing are OutputError; those of the caller stay."""
        path = self.path / name
        with contextlib.ExitStack() as stack:
            with write_errors(path):
                stream = stack.enter_context(new_file(path, path.with_name(name + PART)))
            yield stream
            with write_errors(path):
                stack.close()


class JsonLines:
    def __init__(self, path: Path, stream: Any) -> None:
        self._path, self._stream, self.count = path, stream, 0

    def add(self, row: dict[str, Any]) -> None:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        with write_errors(self._path):
            self._stream.write(text.encode("utf-8", "backslashreplace"))
        self.count += 1
