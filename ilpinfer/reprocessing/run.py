"""A run over a corpus: shards are decoded, and written in order."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ilpinfer.corpus.examples import Example, Rejection
from ilpinfer.reprocessing.executors import Budget, BudgetSpent, Done, Executor
from ilpinfer.reprocessing.folder import REJECTED, UNPROVED, Folder, JsonLines, ShardContent
from ilpinfer.reprocessing.manifest import MANIFEST, Manifest
from ilpinfer.reprocessing.shards import Shard, shards
from ilpinfer.reprocessing.tables import Entry, columns_of, unproved_rows
from ilpinfer.system.output_paths import OutputError

Pending = deque[tuple[Shard, Callable[[Budget], Done]]]
"""Submitted shards, and functions that wait for their results."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    Parameters
    ----------
    manifest : Manifest
        Manifest of the run, as it was written.
    first_rejection, first_failure : str, optional
        Messages of the first rejected record and the first failed sequence; empty if there is none.
    """

    manifest: Manifest
    first_rejection: str = ""
    first_failure: str = ""

    def count(self, what: str) -> int:
        """Sum of one count over all shards.

        Parameters
        ----------
        what : str
            "rows", "proved", "unproved" or "failed".

        Returns
        -------
        int
            The sum.
        """
        return sum(int(getattr(entry, what)) for entry in self.manifest.shards)


@dataclass
class Run:
    """A run over a corpus that writes its results to a folder, which the caller has locked.

    Parameters
    ----------
    folder, manifest, executor : Folder, Manifest or Executor
        Folder of the results, record of the settings, and executor that decodes the shards.
    size : int
        Number of sequences of a shard.
    budget : Budget
        Time limit of the run.
    watch : callable, optional
        Function that is called with each finished shard.
    entries : list of Entry, optional
        Entries of the shards that are ready.
    first_rejection : str, optional
        Message of the first record that was rejected.
    first_failure : str, optional
        Message of the first sequence whose decoding failed.
    """

    folder: Folder
    manifest: Manifest
    executor: Executor
    size: int
    budget: Budget
    watch: Callable[[Entry], None] = lambda _: None
    entries: list[Entry] = field(default_factory=list)
    first_rejection: str = ""
    first_failure: str = ""

    def over(self, records: Iterable[Example | Rejection]) -> Outcome:
        """Decode the shards that are not finished yet, until the input or the time limit ends.

        Parameters
        ----------
        records : iterable of Example or Rejection
            Sequences in order, and rejected records.

        Returns
        -------
        Outcome
            The manifest and the first errors.
        """
        pending: Pending = deque()
        with self.folder.lines(REJECTED) as rejected, self.folder.lines(UNPROVED) as unproved:

            def reject(rejection: Rejection) -> None:
                self.first_rejection = self.first_rejection or rejection.message
                line = rejection.line or None
                rejected.add({"file": rejection.file, "line": line, "reason": rejection.reason})

            try:
                for shard in shards(records, self.size, reject):
                    self.budget.check()
                    there = self._existing_shard(shard)
                    if there is not None:
                        self._commit(pending, unproved, 0)
                        self._note(*there, unproved)
                    else:
                        pending.append((shard, self.executor.submit(shard)))
                        self._commit(pending, unproved, self.executor.width - 1)
                self._commit(pending, unproved, 0)
                finished = True
            except BudgetSpent:
                finished = False
        done = self.manifest.with_results(self.entries, rejected.count, finished)
        self.folder.write(MANIFEST, done.text())
        return Outcome(done, self.first_rejection, self.first_failure)

    def _existing_shard(self, shard: Shard) -> ShardContent | None:
        """The shard if an earlier run has written it; OutputError if it has other sequences."""
        there = self.folder.shard(shard.number, self.manifest.run)
        if there is not None and (there[0].input, there[0].begin) != (shard.digest, shard.begin):
            raise OutputError(
                f"{self.folder.path / there[0].file}: has other sequences than those from {shard.examples[0].where} on;  "
                "give the same input as before, or choose another output"
            )
        return there

    def _commit(self, pending: Pending, unproved: JsonLines, most: int) -> None:
        """Wait for shards and write them, until `most` shards are pending."""
        while len(pending) > most:
            _, wait = pending.popleft()
            data, entry = wait(self.budget)
            self.folder.write(entry.file, data)
            self._note(entry, columns_of(data) if entry.unproved else {}, unproved)

    def _note(self, entry: Entry, columns: dict[str, list[Any]], unproved: JsonLines) -> None:
        """Add the entry of a finished shard, and list its unproved sequences."""
        self.entries.append(entry)
        self.first_failure = list_unproved(columns, unproved, self.first_failure)
        self.watch(entry)


def list_unproved(columns: dict[str, list[Any]], lines: JsonLines, failure: str) -> str:
    """List the unproved sequences of a shard; returns the message of the first failed sequence of the run so far."""
    for row in unproved_rows(columns) if columns else ():
        if row.pop("error"):
            failure = failure or f"{row['file']}, line {row['line']}: {row['reason']}"
        lines.add(row)
    return failure
