"""Rows as JSON lines, written while the study runs, so that an interrupted one goes on where it was."""

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Journal:
    """Rows by data set, sequence and method; the last one counts.

    Parameters
    ----------
    path : the file; it is read where it exists and was written with the same settings, and begun anew otherwise
    settings : what rows depend on
    """

    def __init__(self, path: Path, settings: Row) -> None:
        self.rows: dict[tuple[str, str, str], Row] = {}
        lines = _lines(path)
        if lines and lines[0] == {"settings": settings}:
            for row in lines[1:]:
                self._keep(row)
        self._file = path.open("w", encoding="utf-8")
        self._write({"settings": settings})
        for row in self.rows.values():
            self._write(row)

    def has(self, data: str, item: str, method: str) -> bool:
        """Whether the row is there."""
        return (data, item, method) in self.rows

    def get(self, data: str, item: str, method: str) -> Row | None:
        """The row, if it is there."""
        return self.rows.get((data, item, method))

    def add(self, row: Row) -> None:
        """Keep and write a row."""
        self._keep(row)
        self._write(row)

    def close(self) -> None:
        self._file.close()

    def _keep(self, row: Row) -> None:
        self.rows[row["data"], row["item"], row["method"]] = row

    def _write(self, row: Row) -> None:
        self._file.write(json.dumps(row, allow_nan=False) + "\n")
        self._file.flush()


def _lines(path: Path) -> list[Row]:
    """Every whole line; one cut short by an interrupt is left out."""
    found: list[Row] = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found
