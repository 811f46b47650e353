"""Finished shards of an earlier run, recognised by digests in its manifest, without parsing their input again."""

import hashlib
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ilpinfer.corpus.examples import Rejection
from ilpinfer.corpus.slices import SliceReader
from ilpinfer.reprocessing.folder import Folder, JsonLines, ShardContent
from ilpinfer.reprocessing.manifest import Manifest
from ilpinfer.reprocessing.shards import ShardReader
from ilpinfer.reprocessing.tables import OF_UNPROVED, InputSlice, columns_of


@dataclass
class RejectedRecords:
    """Rejected records in order: `before` are records listed by an earlier run; `lines` is None if no list is written."""

    lines: JsonLines | None
    before: deque[dict[str, Any]]
    first: str = ""

    def add(self, rejection: Rejection) -> None:
        row = {"file": rejection.file, "line": rejection.line or None, "reason": rejection.reason}
        self._add(row, rejection.message)

    def repeat(self, count: int) -> None:
        """List the next records of the earlier run again."""
        for _ in range(count):
            row = self.before[0]
            line = f", line {row['line']}" if row["line"] else ""
            self._add(row, f"{row['file']}{line}: {row['reason']}")

    def _add(self, row: dict[str, Any], message: str) -> None:
        if self.before:
            self.before.popleft()
        self.first = self.first or message
        if self.lines is not None:
            self.lines.add(row)


@dataclass
class Finished:
    """Finished shards of an earlier run whose files and input slices match the manifest; to be closed."""

    folder: Folder
    manifest: Manifest
    reader: ShardReader
    rejected: RejectedRecords
    only_unproved: bool
    _same_input: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        self._slices = SliceReader(self.reader.stream.files)

    def close(self) -> None:
        self._slices.close()

    def next(self) -> ShardContent | None:
        """Skip the next shard: its entry, and the columns about unproved sequences; None if the shard has to be read."""
        known = self.manifest.shards[self.reader.number : self.reader.number + 1]
        if not known:
            return None
        (entry,) = known
        if (entry.run, entry.begin) != (self.manifest.run, self.reader.begin):
            return None
        if entry.slice is None or (self.only_unproved and entry.unproved):
            return None
        data = self.folder.content(entry.file)
        if data is None or hashlib.sha256(data).hexdigest() != entry.file_sha256:
            return None
        if not self._is_in_input(entry.slice):
            return None
        self.reader.pass_over(entry.rows, entry.slice)
        return entry, columns_of(data, OF_UNPROVED) if entry.unproved else {}

    def is_all(self) -> bool:
        """Whether all shards were skipped, and the rest of the input matches the manifest."""
        rest = self.manifest.rest
        if rest is None or self.reader.number < len(self.manifest.shards) or not self._is_in_input(rest):
            return False
        self.reader.rest = rest
        return True

    def compare(self, number: int, there: InputSlice | None) -> None:
        """Record whether a slice that was read matches the manifest."""
        known = self.manifest.shards[number : number + 1]
        self._same_input &= not known or known[0].slice == there

    def _is_in_input(self, there: InputSlice) -> bool:
        """Whether the input continues with a slice; if so, list the slice's rejected records again."""
        if not self._same_input or self.reader.place is None:
            return False
        if not self.only_unproved and there.rejected > len(self.rejected.before):
            return False
        try:
            self._same_input = self._slices.digest(self.reader.place, there.end) == there.sha256
        except OSError:
            self._same_input = False
        if self._same_input and not self.only_unproved:
            self.rejected.repeat(there.rejected)
        return self._same_input
