"""A run over a corpus: shards are decoded, and written in order."""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from ilpinfer.corpus.examples import Example, Rejection
from ilpinfer.reprocessing.executors import Budget, BudgetSpent, Done, Executor
from ilpinfer.reprocessing.folder import REJECTED, UNPROVED, Folder, JsonLines, ShardContent
from ilpinfer.reprocessing.manifest import MANIFEST, Manifest
from ilpinfer.reprocessing.shards import Shard, shards
from ilpinfer.reprocessing.tables import PROVED, ShardEntry, columns_of, shard_file, unproved_rows
from ilpinfer.system.output_paths import OutputError

Pending = deque[tuple[Shard, ShardContent | None, Callable[[Budget], Done] | None]]
"""Shards in order, their content in the folder, and functions that wait for new results, if there are some."""


@dataclass(frozen=True)
class Outcome:
    """The manifest of a run, as it was written, and the messages of its first rejected record and first failed sequence."""

    manifest: Manifest
    first_rejection: str = ""
    first_failure: str = ""

    def count(self, what: str) -> int:
        """Sum of "rows", "proved", "unproved" or "failed" over all shards."""
        return sum(int(getattr(entry, what)) for entry in self.manifest.shards)


@dataclass
class Run:
    """A run over a corpus that writes shards of `size` sequences to a folder, which the caller has locked.

    With `only_unproved`, shards that are there are decoded again where sequences have no proof. A row is replaced if the new one is proved,
    or has a higher score, or the same score and a lower bound. A shard without new rows is not written.
    """

    folder: Folder
    manifest: Manifest
    executor: Executor
    size: int
    budget: Budget
    watch: Callable[[ShardEntry], None] = lambda _: None
    only_unproved: bool = False
    entries: list[ShardEntry] = field(default_factory=list)
    _in_time: bool = field(default=True, init=False)
    _first_rejection: str = field(default="", init=False)
    _first_failure: str = field(default="", init=False)

    def over(self, records: Iterable[Example | Rejection]) -> Outcome:
        """Decode what is not finished yet, until the input or the time limit ends."""
        pending: Pending = deque()
        done = self.manifest
        with ExitStack() as stack, self.folder.lines(UNPROVED) as unproved:
            # a retry has the rejected records of its run
            rejected = None if self.only_unproved else stack.enter_context(self.folder.lines(REJECTED))

            def reject(rejection: Rejection) -> None:
                if rejected is not None:
                    self._first_rejection = self._first_rejection or rejection.message
                    line = rejection.line or None
                    rejected.add({"file": rejection.file, "line": line, "reason": rejection.reason})

            for shard in shards(records, self.size, reject):
                there = self._existing_shard(shard)
                pending.append((shard, there, self._submit(shard, there)))
                if not self._finish(pending, unproved, self.executor.width - 1):
                    break
            else:
                self._finish(pending, unproved, 0)
            if rejected is not None:
                done = replace(done, rejected=rejected.count, finished=self._in_time)
        done = replace(done, shards=tuple(self.entries))
        self.folder.write(MANIFEST, done.text())
        return Outcome(replace(done, finished=self._in_time), self._first_rejection, self._first_failure)

    def _existing_shard(self, shard: Shard) -> ShardContent | None:
        """The shard if an earlier run has written it; OutputError if it has other sequences."""
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
        return there

    def _submit(self, shard: Shard, there: ShardContent | None) -> Callable[[Budget], Done] | None:
        """Submit the sequences of a shard that are to be decoded; None if there are none, or no time is left."""
        if there is not None:
            entry, columns = there
            if not (self.only_unproved and entry.unproved):
                return None
            rows = zip(shard.examples, columns["status"], strict=True)
            shard = replace(shard, examples=tuple(each for each, status in rows if status not in PROVED))
        try:
            if self._in_time:
                self.budget.check()
                return self.executor.submit(shard)
        except BudgetSpent:
            self._in_time = False
        return None

    def _finish(self, pending: Pending, unproved: JsonLines, most: int) -> bool:
        """Wait for shards, write and list them, until `most` are pending; False at one that there was no time for."""
        while len(pending) > most:
            shard, content, wait = pending.popleft()
            try:
                if wait is not None and self._in_time:
                    content = self._written(shard, content, wait(self.budget))
            except BudgetSpent:
                self._in_time = False
            if content is None:
                return False
            self._note(*content, unproved)
        return True

    def _written(self, shard: Shard, there: ShardContent | None, done: Done) -> ShardContent:
        """Write a shard, or the better rows of its new results."""
        data, entry = done
        if there is None:
            columns = columns_of(data) if entry.unproved else {}
        else:
            entry, columns = there
            if not _improve(columns, columns_of(data)):
                return there
            data, entry = shard_file(columns, entry.run, shard.number, shard.digest)
        self.folder.write(entry.file, data)
        return entry, columns

    def _note(self, entry: ShardEntry, columns: dict[str, list[Any]], unproved: JsonLines) -> None:
        """Add the entry of a finished shard, and list its unproved sequences."""
        self.entries.append(entry)
        for row in unproved_rows(columns) if entry.unproved else ():
            if row.pop("error"):
                self._first_failure = (
                    self._first_failure or f"{row['file']}, line {row['line']}: {row['reason']}"
                )
            unproved.add(row)
        self.watch(entry)


def _improve(columns: dict[str, list[Any]], new: dict[str, list[Any]]) -> bool:
    """Replace unproved rows by better ones; returns whether any was replaced."""
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
    """Whether a new row is better than the old one: proved, or of a higher score, or of a lower bound."""
    if new["error"] or new["status"] in PROVED:
        return not new["error"]
    lowest = float("-inf")
    scores = [lowest if row["score"] is None else row["score"] for row in (new, old)]
    bounds = [-lowest if row["bound"] is None else row["bound"] for row in (new, old)]
    return bool(scores[0] > scores[1] or (scores[0] == scores[1] and bounds[0] < bounds[1]))
