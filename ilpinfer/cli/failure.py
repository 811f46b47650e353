"""Failures of commands: one line, and an exit code."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from formulations.messages import counted
from ilpinfer.errors import describe, traceback_wanted, without_place
from ilpinfer.system.storage import source_name


class Failure(Exception):
    """A failed command: one line for standard error, and exit code 1 for failed work or 2 for bad input."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(" ".join(message.split()))
        self.code = code


class LeftOut(list[str]):
    """Messages of sequences or references that a command leaves out."""

    @contextlib.contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Collect an error of the item at `where`; it is raised if tracebacks are requested."""
        try:
            yield
        except (ValueError, MemoryError) as error:
            if traceback_wanted():
                raise
            self.append(f"{where}: {describe(error)}")

    def check(self, of: str, code: int) -> None:
        if self:
            raise Failure(f"{len(self)} of {of}: first {self[0]}", code)


@dataclass
class _Kind:
    """The number of failed sequences, the first message, and the last sequence."""

    sequences: int = 0
    first: str = ""
    last: int = -1

    def add(self, sequence: int, message: str) -> None:
        self.sequences += sequence != self.last
        self.first = self.first or message
        self.last = sequence


class Findings:
    """Counts of infeasible and failed sequences, updated row by row; the rows of a sequence are consecutive.

    Sequences for which no labelling was found count as failed, unless methods are compared.
    """

    def __init__(self, *, compared: bool = False) -> None:
        self._compared = compared
        self._failed, self._infeasible, self._rejected = _Kind(), _Kind(), list[str]()

    def add(self, row: Mapping[str, Any], where: str) -> None:
        """Count a row of the sequence at `where`."""
        if row.get("error"):
            self._failed.add(row["sequence"], row["reason"])
        elif row["status"] == "unknown" and not self._compared:
            reason = row["reason"] or "no labelling was found"
            self._failed.add(row["sequence"], f"{where}: {reason}")
        elif row["status"] == "infeasible":
            self._infeasible.add(row["sequence"], f"{where}: infeasible: {row['reason']}")

    def reject(self, error: Exception) -> None:
        """Count a left-out record."""
        self._rejected.append(describe(error))

    def check(self) -> None:
        """Raise Failure: code 1 if records were left out or sequences could not be decoded, code 2 if sequences are infeasible."""
        failed, infeasible = self._failed, self._infeasible
        if self._rejected:
            count = f"{counted(len(self._rejected), 'record')} rejected: first {self._rejected[0]}"
            others = [kind.first for kind in (failed, infeasible) if kind.sequences]
            raise Failure("; ".join([count, *others]), 1)
        more = f" (and {infeasible.sequences - 1} more)" if infeasible.sequences > 1 else ""
        if failed.sequences:
            count = f"{counted(failed.sequences, 'sequence')} could not be decoded"
            first = f"first {failed.first}" if failed.sequences > 1 else failed.first
            rest = f"; {infeasible.first}{more}" if infeasible.sequences else ""
            raise Failure(f"{count}: {first}{rest}", 1)
        if infeasible.sequences:
            raise Failure(infeasible.first + more, 2)


@contextlib.contextmanager
def about(path: str | None) -> Iterator[None]:
    """Add the file name to errors without it, such as MemoryError."""
    try:
        yield
    except Exception as error:
        if path is None or not without_place(error):
            raise
        from ilpinfer.corpus.examples import InputError

        raise InputError(f"{source_name(path)}: {describe(error)}") from error
