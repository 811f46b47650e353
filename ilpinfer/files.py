"""Writing files whole or not at all, and picking up where an interrupted run stopped."""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO


class OutputError(ValueError):
    """Output that cannot be written; the message names the place and the way out."""


def write_whole(path: str | Path, text: str) -> None:
    """Write text to `path` by way of `path.part`, which takes its place at the end."""
    part = part_of(path)
    with _clear(path):
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, "utf-8")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


def check_place(path: str | Path) -> None:
    """Raise OutputError before long work where `write_whole` could not write its result."""
    part = part_of(path)
    with _clear(path):
        part.parent.mkdir(parents=True, exist_ok=True)
        part.open("a").close()
        part.unlink()


def part_of(path: str | Path) -> Path:
    """Where a file grows until it is whole; OutputError for a folder."""
    if Path(path).is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    return Path(path).with_name(Path(path).name + ".part")


def digest(*parts: Any) -> str:
    """A short fingerprint of what a run is made of: text and plain values."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


class Journal:
    """JSON lines that grow in `path.part`, each row marked with its job; an equal job resumes there.

    Parameters
    ----------
    path : the file that the rows become in the end
    job : fingerprint of all that the rows depend on

    Raises
    ------
    OutputError
        where the place cannot be written to, or the part belongs to another job.
    """

    def __init__(self, path: str | Path, job: str) -> None:
        self.path, self.job = Path(path), job
        self.part = part_of(path)
        self.rows: list[dict[str, Any]] = []
        with _clear(path):
            self.part.parent.mkdir(parents=True, exist_ok=True)
            self._recover()
            self._stream: TextIO = self.part.open("a", encoding="utf-8")

    def _recover(self) -> None:
        """Read the whole lines of an earlier part, and cut off a torn one."""
        if not self.part.exists():
            return
        data = self.part.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            self.rows = [json.loads(line) for line in whole.decode().split("\n")[:-1]]
            same = all(row.get("job") == self.job for row in self.rows)
        except (ValueError, AttributeError):
            same = False
        if not same:
            raise OutputError(f"{self.part}: belongs to another run; delete it, or choose another output")
        if len(whole) < len(data):
            self.part.write_bytes(whole)

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Add rows that belong together, safe from an interrupt that follows."""
        lines = [
            json.dumps({**row, "job": self.job}, ensure_ascii=False, allow_nan=False) + "\n" for row in rows
        ]
        with _clear(self.path):
            self._stream.write("".join(lines))
            self._stream.flush()
        self.rows += rows

    def forget(self, count: int) -> None:
        """Take back the last rows, which turned out to be incomplete."""
        if not count:
            return
        lines = self.part.read_text("utf-8").split("\n")[:-1]
        self._stream.close()
        self.part.write_text("".join(f"{line}\n" for line in lines[:-count]), "utf-8")
        self._stream = self.part.open("a", encoding="utf-8")
        del self.rows[-count:]

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the whole file in its place; after an error keep what can be resumed."""
        self._stream.close()
        if kind is None:
            with _clear(self.path):
                os.replace(self.part, self.path)
        elif not self.rows:
            self.part.unlink(missing_ok=True)


@contextlib.contextmanager
def _clear(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written: {error.strerror or error}; choose another place"
        ) from None
