"""Rows as JSON lines, written while a study runs, so that an interrupted one goes on where it was."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
KEY = ("data", "item", "method", "limit", "seed")
"""What tells rows apart; the last two may be missing."""


class Journal:
    """Rows by their keys; the last one of a key counts.

    Parameters
    ----------
    path : the file; it is read where it exists and was written with the same settings, and begun anew otherwise
    settings : what rows depend on; None to read whatever is there, and to write nothing
    about : of the machine, kept from the run that began the file
    again : methods whose rows are dropped where the file was written with other code, and all others kept
    """

    def __init__(
        self, path: Path, settings: Row | None = None, about: str = "", again: Collection[str] = ()
    ) -> None:
        self.rows: dict[tuple[Any, ...], Row] = {}
        self.notes: dict[str, str] = {}
        self.about, self._file = about, None
        lines = _lines(path)
        first = lines[0] if lines else {}
        if lines and settings in (None, first.get("settings")):
            self.about = first.get("about", about)
            for line in lines[1:]:
                self._keep(line)
        elif lines and again and _without_code(settings) == _without_code(first.get("settings")):
            self.about = f"{first.get('about', '')}\nagain, {'; '.join(again)}: {about}"
            for line in lines[1:]:
                if line["method"] not in again:
                    self._keep(line)
        if settings is not None:
            self._file = path.open("w", encoding="utf-8")
            self._write({"settings": settings, "about": self.about})
            for name, text in self.notes.items():
                self._write({"data": name, "note": text, "method": None})
            for row in self.rows.values():
                self._write(row)

    def has(self, *key: Any) -> bool:
        """Whether the row is there."""
        return _full_key(key) in self.rows

    def get(self, *key: Any) -> Row | None:
        """The row, if it is there."""
        return self.rows.get(_full_key(key))

    def add(self, row: Row) -> None:
        """Keep and write a row."""
        self._keep(row)
        self._write(row)

    def describe(self, notes: Iterable[tuple[str, str]]) -> None:
        """How data sets were made, by name."""
        for name, text in notes:
            if self.notes.get(name) != text:
                self.add({"data": name, "note": text, "method": None})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _keep(self, row: Row) -> None:
        if row["method"] is None:
            self.notes[row["data"]] = row["note"]
        else:
            self.rows[tuple(row.get(name) for name in KEY)] = row

    def _write(self, row: Row) -> None:
        assert self._file is not None, "a journal that is only read"
        self._file.write(json.dumps(row, allow_nan=False) + "\n")
        self._file.flush()


def _without_code(settings: Row | None) -> Row:
    return {name: value for name, value in (settings or {}).items() if name != "code"}


def _full_key(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*key, *(None for _ in KEY[len(key) :]))


def _lines(path: Path) -> list[Row]:
    """Every whole line; one cut short by an interrupt is left out."""
    result: list[Row] = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            result.append(json.loads(line))
        except ValueError:
            break
    return result
