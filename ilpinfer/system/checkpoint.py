"""Checkpoints: rows of a long run, from which an interrupted run resumes."""

import contextlib
import gzip
import io
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from formulations.files import is_packed, keep_permissions, new_file, sync_folder
from ilpinfer.system.files import lock_output, open_direct, write_all
from ilpinfer.system.output_paths import OutputError, output_path, write_errors

Row = dict[str, Any]  # a JSON object
Position = tuple[int, int, int]
"""Where a row belongs: its group, its place in the group, both from 0, and the number of rows of the group."""
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False)


class RowCheckpoint:
    """JSON lines in `path.part`, in groups, all marked with the job; an equal job resumes after the last whole group.

    No row is kept in memory. A device, pipe or descriptor is written to as it stands, and never resumed from.
    `position` raises KeyError, TypeError or ValueError for a damaged row; the mark of an input may follow the job. OutputError
    where the place, which may be none of the `inputs`, cannot be written to, is taken, or has the part of another job.
    """

    def __init__(
        self,
        path: str | Path,
        job: str,
        position: Callable[[Row], Position],
        inputs: Iterable[str | Path | None] = (),
    ) -> None:
        self.job, self._position = job, position
        self.place = output_path(path, inputs)
        if self.place.direct and is_packed(self.place.name):
            what = "is not a regular file, and rows are compressed only at the end"
            raise OutputError(f"{self.place.name}: {what}; choose a name without .gz")
        self.groups = 0
        self.damage = ""  # error in an earlier part; the rows before it are kept
        self._end = 0
        self._stream: io.FileIO | None = None

    def rows(self) -> Iterator[Row]:
        """Every row that was written so far, read back from the file."""
        if not self._end:
            return
        with self.place.part.open("rb") as stream:
            while stream.tell() < self._end:
                yield json.loads(stream.readline())

    def write(self, rows: list[Row], mark: str = "") -> None:
        """Append the rows of a group; a later interrupt does not lose them."""
        data = b"".join(json_line({**row, "job": self.job + mark}) for row in rows)
        with write_errors(self.place.name):
            write_all(self._opened(), data)
        self._end += len(data)
        self.groups += 1

    def __enter__(self) -> "RowCheckpoint":
        with contextlib.ExitStack() as stack:
            if self.place.direct:
                with write_errors(self.place.name):
                    self._stream = stack.enter_context(open_direct(self.place))
            else:
                left = stack.enter_context(lock_output(self.place))
                with write_errors(self.place.name):
                    self._recover(left)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Move the complete file to its path; after an error keep the whole groups."""
        with self._stack:
            if self.place.direct:
                return
            if kind is None:
                with write_errors(self.place.name):
                    self._finish()
            else:
                with contextlib.suppress(OSError):  # there may be none yet
                    self._cut()

    def _opened(self) -> io.FileIO:
        """The stream to the part, which has the permissions of the file that it will replace."""
        if self._stream is None:
            self._stream = self._stack.enter_context(io.FileIO(self.place.part, "a" if self._end else "x"))
            keep_permissions(self.place.part, self.place.target)
        return self._stream

    def _finish(self) -> None:
        part, target, stream = self.place.part, self.place.target, self._opened()
        os.fsync(stream.fileno())
        stream.close()  # Windows replaces and removes closed files only
        if is_packed(self.place.name):
            new = part.with_name(part.name + ".new")
            new.unlink(missing_ok=True)  # of a run that was killed
            with (
                part.open("rb") as given,
                new_file(target, new) as packed,
                gzip.GzipFile("", "wb", fileobj=packed, mtime=0) as whole,
            ):
                shutil.copyfileobj(given, whole)
            part.unlink()  # last, so that a run that is killed before resumes
        else:
            os.replace(part, target)
        sync_folder(target.parent)

    def _recover(self, left: bool) -> None:
        """Find the whole groups of an earlier part, and cut off the rest; `left` is true if it is from a killed run."""
        part = self.place.part
        try:
            result = part.lstat()
        except FileNotFoundError:
            return
        if not stat.S_ISREG(result.st_mode):
            raise self._foreign()
        with part.open("rb") as lines:
            self._scan(lines, left or not result.st_size)
        self._cut()

    def _scan(self, lines: Iterable[bytes], ours: bool) -> None:
        """Count the whole groups up to the first row that is damaged, missing or out of order."""
        end = member = kept = 0
        for number, line in enumerate(lines, 1):
            row = _parse(line)
            job = row.get("job")
            if isinstance(job, str) and not job.startswith(self.job):
                raise self.of_another_run
            ours = ours or isinstance(job, str)
            if not ours:
                raise self._foreign()
            if not line.endswith(b"\n"):
                return
            members = self._members(row, line, member)
            if not members:
                self.damage = f"{self.place.part}: line {number} is damaged or out of order; " + (
                    f"the run continues after line {kept}" if kept else "the run starts again"
                )
                return
            end, member = end + len(line), member + 1
            if member == members:
                self.groups, member, self._end, kept = self.groups + 1, 0, end, number

    def _members(self, row: Row, line: bytes, member: int) -> int:
        """The number of rows of the group of a row that stands in a line; 0 where it does not belong there."""
        try:
            group, place, members = self._position(row)
            same = "job" in row and json_line(row) == line
        except (KeyError, TypeError, ValueError):
            return 0
        return members if same and (group, place) == (self.groups, member) and member < members else 0

    def _cut(self) -> None:
        """Leave nothing behind the last whole group."""
        if self._end:
            os.truncate(self.place.part, self._end)
        else:
            self.place.part.unlink()

    @property
    def of_another_run(self) -> OutputError:
        return OutputError(f"{self.place.part}: belongs to another run; delete it, or choose another output")

    def _foreign(self) -> OutputError:
        what = "exists, but ilpinfer did not write it"
        return OutputError(f"{self.place.part}: {what}; move it, or choose another output")


def json_line(row: Row) -> bytes:
    text = ENCODER.encode(row) + "\n"
    return text.encode("utf-8", "backslashreplace")


def _parse(line: bytes) -> Row:
    """A row; empty where the line is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
