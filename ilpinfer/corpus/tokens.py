"""Tokens with the cells of further columns, such as parts of speech."""

from collections.abc import Mapping, Sequence
from typing import Any

from formulations.messages import counted, suggestion

NOTHING: Mapping[str, str] = {}


class Token(str):
    """A token with the cells of further columns of its line; it compares and prints like its text."""

    columns: Mapping[str, str]

    def __new__(cls, text: str, columns: Mapping[str, str] = NOTHING) -> "Token":
        result = super().__new__(cls, text)
        result.columns = columns
        return result


def with_columns(tokens: Sequence[str], columns: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The tokens with the cells of further columns, for models whose template reads them; ValueError for cells that do not fit."""
    for name, cells in columns.items():
        if isinstance(cells, str) or len(cells) != len(tokens):
            shown = repr(cells) if isinstance(cells, str) else counted(len(cells), "text")
            raise ValueError(
                f"column {name!r} is {shown}; expected a text for each of {counted(len(tokens), 'token')}"
            )
        for t, cell in enumerate(cells):
            if not isinstance(cell, str):
                raise ValueError(f"column {name!r}, token {t}: {cell!r} is no text")
    if not columns:
        return tuple(tokens)
    known: dict[tuple[str, ...], Mapping[str, str]] = {}
    rows = zip(*columns.values(), strict=True)
    return tuple(
        Token(token, known.setdefault(row, dict(zip(columns, row, strict=True))))
        for token, row in zip(tokens, rows, strict=True)
    )


def column_names(tokens: Sequence[str]) -> tuple[str, ...]:
    """The columns that every token has, in the order of the first one."""
    if not tokens or not getattr(tokens[0], "columns", NOTHING):
        return ()
    rows: list[Mapping[str, Any]] = [getattr(token, "columns", NOTHING) for token in tokens]
    return tuple(name for name in rows[0] if all(name in row for row in rows))


def column(tokens: Sequence[str], name: str) -> list[str]:
    try:
        return [token.columns[name] for token in tokens]  # type: ignore[attr-defined]
    except (AttributeError, KeyError):
        there = column_names(tokens)
        without = next(t for t, token in enumerate(tokens) if name not in getattr(token, "columns", NOTHING))
        hint = suggestion(name, there) if there else "; there is none beside token and label"
        raise ValueError(
            f'token {without}, {str(tokens[without])!r}, has no column "{name}", which the model looks at{hint}; give it in '
            f'files of columns, or as JSON lines {{"tokens": […], "columns": {{"{name}": […]}}}}'
        ) from None
