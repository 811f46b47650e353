"""Cells of CoNLL-U, and values of keys within them."""

from collections.abc import Sequence
from dataclasses import dataclass

from formulations.messages import suggestion
from ilpinfer.corpus.examples import InputError

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
NAMED_ENTITIES = "misc.NER"
"""Where labels of fields are kept: under the key NER of the last column."""
EMPTY = "_"
GLOBAL = "# global.columns ="
"""How the line begins by which CoNLL-U Plus names its columns."""


@dataclass(frozen=True)
class Cell:
    """A column, or the values of a key in a column of `KEY=VALUE|KEY=VALUE`."""

    at: int
    key: str = ""

    @classmethod
    def named(cls, name: str, columns: Sequence[str], where: str) -> "Cell":
        """By number from 1, by name, or by `misc.KEY`; InputError for one that does not exist."""
        whole, _, key = name.partition(".")
        low = [column.lower() for column in columns]
        if name.lower() in low:
            return cls(low.index(name.lower()))
        if key and whole.lower() in low:
            return cls(low.index(whole.lower()), key)
        if name.isdecimal() and name.isascii() and len(name) < 9 and 1 <= int(name) <= len(columns):
            return cls(int(name) - 1)
        more = "" if key or "misc" not in low else f"; a key of the last one is named such as misc.{name}"
        raise InputError(f'{where}: no column "{name}"{suggestion(whole.lower(), low)}{more}')

    def of(self, cells: Sequence[str]) -> str:
        """The value in a line; empty for none."""
        if not self.key:
            return cells[self.at]
        return _values(cells[self.at]).get(self.key) or ""

    def put(self, cells: Sequence[str], value: str) -> list[str]:
        """The cells with a value there, or without any where it is empty."""
        result = list(cells)
        if not self.key:
            result[self.at] = value or EMPTY
            return result
        values = {key: each for key, each in _values(cells[self.at]).items() if key != self.key}
        if value:
            values[self.key] = value
        parts = [f"{key}={each}" if each is not None else key for key, each in values.items()]
        result[self.at] = "|".join(parts) or EMPTY
        return result


def _values(cell: str) -> dict[str, str | None]:
    """Keys and values of a cell; the value is None for a key without a value."""
    parts = () if cell in (EMPTY, "") else (part.partition("=") for part in cell.split("|"))
    return {key: value if equals else None for key, equals, value in parts}


@dataclass(frozen=True)
class Sentence:
    """The lines of a sentence."""

    lines: tuple[str, ...]
    words: tuple[int, ...]
    columns: tuple[str, ...]


def usual(columns: Sequence[str], *, entities: bool) -> str:
    """The column of labels that nobody named: of named entities or of parts of speech; the last one where there is none."""
    low = [column.lower() for column in columns]
    if entities and "misc" in low:
        return NAMED_ENTITIES
    return "upos" if "upos" in low else str(len(columns))
