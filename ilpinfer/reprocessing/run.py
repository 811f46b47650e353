"""A run over a corpus: shards are decoded in parallel, and written in order."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from ilpinfer.corpus.streams import ExampleStream
from ilpinfer.reprocessing.executors import Budget, BudgetSpent, Done, Executor
from ilpinfer.reprocessing.folder import REJECTED, UNPROVED, Folder, JsonLines, ShardContent
from ilpinfer.reprocessing.manifest import MANIFEST, Manifest
from ilpinfer.reprocessing.resuming import Finished, RejectedRecords
from ilpinfer.reprocessing.shards import Shard, ShardReader
from ilpinfer.reprocessing.tables import (
    PROVED,
    InputSlice,
    ShardEntry,
    columns_of,
    shard_file,
    unproved_rows,
)
from ilpinfer.system.output_paths import OutputError

CHECKPOINT = 5.0
"""Least number of seconds between checkpoints of the manifest; the number of shards must also have grown by 5 %."""


@dataclass
class Pending:
    """A shard in order: its slice, its content in the folder if it exists, and a function that waits for a new result, if any."""

    shard: Shard | None
    slice: InputSlice | None
    size: int | None
    content: ShardContent | None
    wait: Callable[[Budget], Done] | None = None


@dataclass(frozen=True)
class RunResult:
    """The manifest of a run, and the messages of its first rejected record and first failed sequence.

    Numbers of shards: `found` in the folder, `checked` against the input, and `decoded` in this run.
    """

    manifest: Manifest
    first_rejection: str = ""
    first_failure: str = ""
    found: int = 0
    checked: int = 0
    decoded: int = 0

    def count(self, what: str) -> int:
        """Sum of "rows", "proved", "unproved" or "failed" over all shards."""
        return sum(int(getattr(entry, what)) for entry in self.manifest.shards)


@dataclass
class Run:
    """A run over a corpus that writes shards of `size` sequences to a folder, which the caller has locked.

    Finished shards are skipped if the digests in the manifest match, and read otherwise. `seconds` is the time limit, which starts with
    the first decoded shard. With `only_unproved`, unproved sequences of existing shards are decoded again. A row is replaced if the
    new row is proved, or has a higher score, or the same score and a lower bound. Unchanged shards are not written. `look` gets the
    first shard that is read; `watch` gets each entry and the position of its end in the input in bytes, None if it was skipped.
    """

    folder: Folder
    manifest: Manifest
    executor: Executor
    size: int
    seconds: float | None = None
    watch: Callable[[ShardEntry, int | None], None] = lambda *_: None
    look: Callable[[Shard], None] | None = None
    only_unproved: bool = False
    part: int = 1
    parts: int = 1
    entries: list[ShardEntry] = field(default_factory=list)
    _budget: Budget | None = field(default=None, init=False)
    _in_time: bool = field(default=True, init=False)
    _checked: int = field(default=0, init=False)
    _decoded: int = field(default=0, init=False)
    _saved: tuple[float, int] = field(default_factory=lambda: (time.monotonic(), 0), init=False)
    _first_failure: str = field(default="", init=False)

    def over(self, stream: ExampleStream) -> RunResult:
        """Decode unfinished shards, until the input or the time limit ends."""
        pending = deque[Pending]()
        found = self.folder.shard_count
        with ExitStack() as stack, self.folder.lines(UNPROVED) as unproved:
            # a retry keeps the rejected records of the run
            lines = None if self.only_unproved else stack.enter_context(self.folder.lines(REJECTED))
            rejected = RejectedRecords(lines, deque(self.folder.rejections()))
            reader = ShardReader(stream, self.size, rejected.add, self.part, self.parts)
            before = Finished(self.folder, self.manifest, reader, rejected, self.only_unproved)
            stack.enter_context(contextlib.closing(before))
            while self._finish(pending, unproved, self.executor.width - 1):
                if (content := before.next()) is not None:
                    self._checked += 1
                    pending.append(Pending(None, content[0].slice, None, content))
                elif before.is_all() or (read := reader.read()) is None:
                    self._finish(pending, unproved, 0)
                    break
                else:
                    before.compare(read[0].number, read[1])
                    pending.append(self._begun(*read, stream.size))
            done = self.manifest
            if lines is not None:
                done = replace(done, rejected=lines.count, finished=self._in_time, rest=reader.rest)
        rest = () if done.finished else self._unread
        self.folder.write(MANIFEST, replace(done, shards=(*self.entries, *rest)).text())
        done = replace(done, shards=tuple(self.entries), finished=self._in_time)
        counts = (found, self._checked, self._decoded)
        return RunResult(done, "" if lines is None else rejected.first, self._first_failure, *counts)

    @property
    def _unread(self) -> Sequence[ShardEntry]:
        """Entries of an earlier run for shards that this run has not reached."""
        return self.manifest.shards[len(self.entries) :]

    def _begun(self, shard: Shard, slice_: InputSlice | None, size: int) -> Pending:
        """The existing shard, or the submitted shard."""
        if self.look is not None:
            self.look(shard)
            self.look = None
        there = self._existing_shard(shard)
        return Pending(shard, slice_, size, there, self._submit(shard, there))

    def _existing_shard(self, shard: Shard) -> ShardContent | None:
        """The shard of an earlier run, if it exists; OutputError if it has other sequences."""
        there = self.folder.shard(shard.number, self.manifest.run)
        same = there is not None and (there[0].input, there[0].begin) == (shard.digest, shard.begin)
        if self.only_unproved and not same:
            raise OutputError(
                f"{self.folder.path}: has no shard with the sequences from {shard.examples[0].where} on; give the same input as before"
            )
        if there is not None and not same:
            raise OutputError(
                f"{self.folder.place(there[0].file)}: has other sequences than those from {shard.examples[0].where} on; "
                "give the same input as before, or choose another output"
            )
        self._checked += there is not None
        return there

    def _submit(self, shard: Shard, there: ShardContent | None) -> Callable[[Budget], Done] | None:
        """Submit the sequences of a shard that have to be decoded; None if there are none, or no time is left."""
        if there is not None:
            entry, columns = there
            if not (self.only_unproved and entry.unproved):
                return None
            rows = zip(shard.examples, columns["status"], strict=True)
            shard = replace(shard, examples=tuple(each for each, status in rows if status not in PROVED))
        try:
            if self._in_time:
                self._budget = self._budget or Budget(self.seconds)
                self._budget.check()
                return self.executor.submit(shard)
        except BudgetSpent:
            self._in_time = False
        return None

    def _finish(self, pending: deque[Pending], unproved: JsonLines, most: int) -> bool:
        """Wait for shards, write and list them, until `most` are pending; False if a shard was not decoded in time."""
        while len(pending) > most:
            each = pending.popleft()
            content = each.content
            try:
                if each.shard is not None and each.wait is not None and self._in_time:
                    assert self._budget is not None
                    content = self._written(each.shard, content, each.wait(self._budget))
            except BudgetSpent:
                self._in_time = False
            if content is None:
                return False
            self._note(replace(content[0], slice=each.slice), content[1], each.size, unproved)
        return True

    def _written(self, shard: Shard, there: ShardContent | None, done: Done) -> ShardContent:
        """Write a new shard, or improve the rows of an existing shard."""
        data, entry = done
        self._decoded += 1
        if there is None:
            columns = columns_of(data) if entry.unproved else {}
        else:
            entry, columns = there
            if not _improve(columns, columns_of(data)):
                return there
            data, entry = shard_file(columns, entry.run, shard.number, shard.digest)
        self.folder.write(entry.file, data)
        return entry, columns

    def _note(
        self, entry: ShardEntry, columns: dict[str, list[Any]], size: int | None, unproved: JsonLines
    ) -> None:
        """Add the entry of a finished shard, and list its unproved sequences."""
        self.entries.append(entry)
        for row in unproved_rows(columns) if entry.unproved else ():
            if row.pop("error"):
                self._first_failure = (
                    self._first_failure or f"{row['file']}, line {row['line']}: {row['reason']}"
                )
            unproved.add(row)
        self.watch(entry, size)
        now, (before, count) = time.monotonic(), self._saved
        if now > before + CHECKPOINT and len(self.entries) > 1.05 * count:
            self._saved = now, len(self.entries)
            self.folder.write(MANIFEST, replace(self.manifest, shards=(*self.entries, *self._unread)).text())


def _improve(columns: dict[str, list[Any]], new: dict[str, list[Any]]) -> bool:
    """Replace unproved rows by better new rows; returns whether any row was replaced."""
    places = [at for at, status in enumerate(columns["status"]) if status not in PROVED]
    result = False
    for number, at in enumerate(places):
        row = {name: values[number] for name, values in new.items() if name != "sequence"}
        if _better(row, {name: values[at] for name, values in columns.items()}):
            result = True
            for name, value in row.items():
                columns[name][at] = value
    return result


def _better(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether a new row is better: proved, or with a higher score, or with the same score and a lower bound."""
    if new["error"] or new["status"] in PROVED:
        return not new["error"]
    lowest = float("-inf")
    scores = [lowest if row["score"] is None else row["score"] for row in (new, old)]
    bounds = [-lowest if row["bound"] is None else row["bound"] for row in (new, old)]
    return bool(scores[0] > scores[1] or (scores[0] == scores[1] and bounds[0] < bounds[1]))
