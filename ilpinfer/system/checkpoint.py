"""Checkpoints: rows of a long run, from which an interrupted run resumes."""

import contextlib
import io
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from formulations.files import is_packed
from ilpinfer.system.files import (
    create_part,
    keep_part,
    lock_output,
    open_direct,
    pack_part,
    replace_target,
    write_all,
)
from ilpinfer.system.output_paths import OutputError, output_path, write_errors

Row = dict[str, Any]  # a JSON object
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, order=True)
class RowPosition:
    """Where a row belongs: the member of a group, both from 0, and how many members the group has."""

    group: int
    member: int = 0
    members: int = 1


class RowCheckpoint:
    """JSON lines in `path.part`, in groups of a sequence each, all marked with the job; an equal job resumes after the last.

    Only where rows are is kept in memory. A device, pipe or descriptor is written to as it stands, and never resumed from.
    `position` raises KeyError, TypeError or ValueError for a damaged row; the mark of an input may follow the job. OutputError
    where the place, which may be none of the `inputs`, cannot be written to, is taken, or has the part of another job.
    """

    def __init__(
        self,
        path: str | Path,
        job: str,
        position: Callable[[Row], RowPosition],
        inputs: Iterable[str | Path | None] = (),
    ) -> None:
        self.job, self._position = job, position
        self.place = output_path(path, inputs)
        if self.place.direct and is_packed(self.place.name):
            what = "is no file, and rows are compressed only when all are there"
            raise OutputError(f"{self.place.name}: {what}; choose a name without .gz")
        self.groups = 0
        self.unfinished: list[Row] = []
        self.damage = ""  # error in an earlier part; the rows before it are kept
        self._rows = self._whole = self._end = 0
        self._stream: io.FileIO

    def rows(self) -> Iterator[Row]:
        """Every row that was written so far, read back from the file; OutputError for a place that cannot be read back."""
        if self.place.direct:
            raise OutputError(f"{self.place.name}: cannot be read back; name a file")
        with self.place.part.open("rb") as stream:
            while stream.tell() < self._end:
                yield json.loads(stream.readline())

    def write(self, rows: list[Row], mark: str = "") -> None:
        """Append rows; a later interrupt does not lose them."""
        lines = [json_line({**row, "job": self.job + mark}) for row in rows]
        data = b"".join(lines)
        with write_errors(self.place.name):
            write_all(self._stream, data)
        if not self._end:
            keep_part(self.place)
        self._end += len(data)
        for row in rows:
            self._count(row, self._position(row))

    def drop_unfinished(self) -> None:
        with write_errors(self.place.name):
            self._cut(self._whole)
        self._rows -= len(self.unfinished)
        self.unfinished = []

    def __enter__(self) -> "RowCheckpoint":
        with contextlib.ExitStack() as stack:
            if self.place.direct:
                with write_errors(self.place.name):
                    self._stream = stack.enter_context(open_direct(self.place))
            else:
                left = stack.enter_context(lock_output(self.place))
                with write_errors(self.place.name):
                    self._stream = stack.enter_context(self._recover(left))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Move the complete file to its path; after an error keep the complete rows."""
        with self._stack:
            keep_part(self.place)
            if self.place.direct:
                return
            if kind is None:
                with write_errors(self.place.name):
                    if is_packed(self.place.name):
                        self._stream.close()  # Windows replaces and removes closed files only
                        pack_part(self.place)
                    else:
                        os.fsync(self._stream.fileno())
                        self._stream.close()
                        replace_target(self.place)
                return
            with contextlib.suppress(OSError):
                self._cut(self._end)
                if not self._end:
                    self.place.part.unlink(missing_ok=True)

    def _recover(self, left: bool) -> io.FileIO:
        """The part, new or up to its last complete row; `left` is true if it is from a killed run."""
        part = self.place.part
        try:
            result = part.lstat()
        except FileNotFoundError:
            return create_part(self.place)
        if not stat.S_ISREG(result.st_mode):
            raise self._foreign()
        with part.open("rb") as lines:
            self._scan(lines, left or not result.st_size)
        self._stream = io.FileIO(os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)), "r+")
        self._cut(self._end)
        return self._stream

    def _scan(self, lines: Iterable[bytes], ours: bool) -> None:
        """Count the rows of an earlier part up to the first that is damaged, missing or out of order."""
        for line in lines:
            row = _parse(line)
            job = row.get("job")
            if isinstance(job, str) and not job.startswith(self.job):
                raise self.of_another_run
            ours = ours or isinstance(job, str)
            if not ours:
                raise self._foreign()
            if not line.endswith(b"\n"):
                return
            if "job" not in row or not _is_canonical(row, line) or not self._follows(row):
                self.damage = (
                    f"{self.place.part}: line {self._rows + 1} is damaged, or not the row that belongs there; "
                    + (f"begun anew behind line {self._rows}" if self._rows else "begun anew")
                )
                return
            self._end += len(line)
            self._count(row, self._position(row))

    def _follows(self, row: Row) -> bool:
        try:
            position = self._position(row)
        except (KeyError, TypeError, ValueError):
            return False
        if not self.unfinished:
            return position == RowPosition(self.groups, 0, position.members) and position.members >= 1
        before = self._position(self.unfinished[-1])
        return position == RowPosition(before.group, before.member + 1, before.members)

    def _count(self, row: Row, position: RowPosition) -> None:
        self._rows += 1
        self.unfinished.append(row)
        if position.member == position.members - 1:
            self.groups, self.unfinished, self._whole = position.group + 1, [], self._end

    def _cut(self, end: int) -> None:
        os.ftruncate(self._stream.fileno(), end)
        self._stream.seek(end)
        self._end = end

    @property
    def of_another_run(self) -> OutputError:
        return OutputError(f"{self.place.part}: belongs to another run; delete it, or choose another output")

    def _foreign(self) -> OutputError:
        what = "is in the way, and ilpinfer did not write it"
        return OutputError(f"{self.place.part}: {what}; move it, or choose another output")


def json_line(row: Row) -> bytes:
    text = ENCODER.encode(row) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _is_canonical(row: Row, line: bytes) -> bool:
    try:
        return json_line(row) == line
    except ValueError:  # NaN, which Python reads
        return False


def _parse(line: bytes) -> Row:
    """A row; empty where the line is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
