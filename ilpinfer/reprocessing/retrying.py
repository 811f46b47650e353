"""Unproved sequences of a run, decoded again with more time."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ilpinfer.corpus.examples import Example, Rejection
from ilpinfer.reprocessing.executors import Budget, BudgetSpent, Done, Executor
from ilpinfer.reprocessing.folder import UNPROVED, Folder, ShardContent
from ilpinfer.reprocessing.manifest import MANIFEST, Manifest
from ilpinfer.reprocessing.run import Outcome, list_unproved
from ilpinfer.reprocessing.shards import Shard, shards
from ilpinfer.reprocessing.tables import PROVED, Entry, columns_of, shard_file
from ilpinfer.system.output_paths import OutputError

Pending = deque[tuple[Shard, ShardContent, Callable[[Budget], Done]]]
"""Shards with unproved sequences, their present content, and functions that wait for the new results."""


@dataclass
class Retry:
    """Decodes the unproved sequences of a finished run again.

    A row is replaced if the new one is proved, or has a higher score, or the same score and a lower bound. A shard without new rows is
    not written.

    Parameters
    ----------
    folder, manifest, executor : Folder, Manifest or Executor
        As of `Run`.
    size : int
        Sequences of a shard.
    budget : Budget
        Time limit of the run.
    watch : callable, optional
        Function that is called with each shard that had unproved sequences.
    """

    folder: Folder
    manifest: Manifest
    executor: Executor
    size: int
    budget: Budget
    watch: Callable[[Entry], None] = lambda _: None
    entries: dict[int, Entry] = field(default_factory=dict)

    def over(self, records: Iterable[Example | Rejection]) -> Outcome:
        """Decode unproved sequences, until the input or the time limit ends.

        Raises
        ------
        OutputError
            For a run that has not finished, and for an input other than that of the run.
        """
        before = self.folder.manifest()
        before.check_same(self.manifest, self.folder.path, limits=False)
        if not before.finished:
            raise OutputError(
                f"{self.folder.path}: the run has not finished; continue it with --resume first"
            )
        pending: Pending = deque()
        in_time = True
        for shard in shards(records, self.size, lambda _: None):
            there = self._existing_shard(shard)
            self.entries[shard.number] = there[0]
            if not there[0].unproved or not in_time:
                continue
            try:
                self.budget.check()
                pending.append((shard, there, self.executor.submit(_open_part(shard, there[1]))))
                self._finish(pending, self.executor.width - 1)
            except BudgetSpent:
                in_time = False
        try:
            self._finish(pending, 0)
        except BudgetSpent:
            in_time = False
        failure = self._list_unproved()
        retries = (*before.retries, self.manifest.time_limit)
        after = replace(before, shards=tuple(self.entries.values()), retries=retries)
        self.folder.write(MANIFEST, after.text())
        return Outcome(replace(after, finished=in_time), "", failure)

    def _existing_shard(self, shard: Shard) -> ShardContent:
        there = self.folder.shard(shard.number, self.manifest.run)
        if there is None or there[0].input != shard.digest:
            raise OutputError(
                f"{self.folder.path}: has no shard with the sequences from {shard.examples[0].where} on; give the same input as before"
            )
        return there

    def _finish(self, pending: Pending, most: int) -> None:
        """Wait for results and replace their shards, until `most` shards are pending."""
        while len(pending) > most:
            shard, (entry, columns), wait = pending.popleft()
            if _improved(columns, columns_of(wait(self.budget)[0])):
                data, entry = shard_file(columns, entry.run, shard.number, shard.digest)
                self.folder.write(entry.file, data)
                self.entries[shard.number] = entry
            self.watch(entry)

    def _list_unproved(self) -> str:
        """Write the list of unproved sequences; returns the message of the first failed sequence."""
        failure = ""
        with self.folder.lines(UNPROVED) as lines:
            for number, entry in self.entries.items():
                there = self.folder.shard(number, self.manifest.run) if entry.unproved else None
                failure = list_unproved(there[1] if there else {}, lines, failure)
        return failure


def _open_part(shard: Shard, columns: dict[str, list[Any]]) -> Shard:
    """The sequences of a shard that are not proved."""
    chosen = (
        example
        for example, status in zip(shard.examples, columns["status"], strict=True)
        if status not in PROVED
    )
    return replace(shard, examples=tuple(chosen))


def _improved(columns: dict[str, list[Any]], new: dict[str, list[Any]]) -> bool:
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
