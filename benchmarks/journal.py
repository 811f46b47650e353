"""Rows as JSON lines, one line a cell, written as soon as the cell is measured: an interrupted run goes on behind them."""

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from benchmarks.study import Cell, Row

ROOT = Path(__file__).parents[1]


class Journal:
    """The measured cells of a study at one scale and state of the code; without a header it is read only."""

    def __init__(self, path: Path, header: str | None = None) -> None:
        first, *lines = _lines(path) or [{"header": header or ""}]
        self.header: str = first["header"]
        self._cells: dict[str, Row] = {line["key"]: line for line in lines}
        self._file = None
        if header is not None:
            self._file = self._rewritten(path)

    def _rewritten(self, path: Path) -> TextIO:
        """The file, open for more lines, after it was replaced by what is known."""
        path.parent.mkdir(parents=True, exist_ok=True)
        replacement = path.with_suffix(".tmp")
        replacement.write_text(_text(self.header, self._cells.values()), "utf-8")
        replacement.replace(path)
        return path.open("a", encoding="utf-8")

    def compress(self, path: Path) -> None:
        """Write all cells into a file that is committed; the same cells make the same bytes."""
        text = _text(self.header, self.all_lines())
        path.write_bytes(gzip.compress(text.encode(), mtime=0))

    def __contains__(self, cell: Cell) -> bool:
        return key_of(cell) in self._cells

    def add(self, cell: Cell, result: Mapping[str, Any]) -> None:
        """Keep and write what a cell has: rows, seconds, and the number of rechecked optima."""
        line = {"key": key_of(cell), **result}
        self._cells[line["key"]] = line
        if self._file is not None:
            self._file.write(json.dumps(line, allow_nan=False) + "\n")
            self._file.flush()

    def lines(self, cells: Iterable[Cell]) -> list[Row]:
        keys = (key_of(cell) for cell in cells)
        return [self._cells[key] for key in keys if key in self._cells]

    def all_lines(self) -> list[Row]:
        """Every line, in the order of parts and cells."""
        return sorted(self._cells.values(), key=lambda line: list(line["number"]))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def key_of(cell: Cell) -> str:
    return json.dumps(vars(cell), sort_keys=True, default=vars)


def code_digest() -> str:
    """Of the library's code and the studies', so that rows of different code are never mixed."""
    result = hashlib.sha256()
    for folder in ("formulations", "ilpinfer", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".toml", ".lark") and ROOT / "benchmarks" / "rows" not in path.parents:
                result.update(path.read_bytes())
    return result.hexdigest()[:12]


def _text(header: str, lines: Iterable[Row]) -> str:
    return "".join(json.dumps(line) + "\n" for line in ({"header": header}, *lines))


def _lines(path: Path) -> list[Row]:
    """The lines of a file; a last one that an interrupt has cut short is dropped."""
    if not path.exists():
        return []
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    result: list[Row] = []
    for line in data.decode().splitlines():
        try:
            result.append(json.loads(line))
        except ValueError:
            break
    return result
