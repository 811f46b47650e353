"""Sequences in data frames of pandas, polars and Arrow (`pip install 'ilpinfer[frames]'`), with a row for each token or sequence."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from formulations.labels.names import label_names
from formulations.messages import brief, counted, suggestion
from ilpinfer.core.solution import Solution, finite
from ilpinfer.corpus.examples import Example, InputError, input_at
from ilpinfer.corpus.label_names import feature_names, names_of_tags
from ilpinfer.corpus.tokens import with_columns
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    import narwhals as nw

Frame = TypeVar("Frame")
NAME_TAGS = "give names=, a list of them"
NEW_COLUMNS = ("label", "score", "status", "violations")


def sequences_of(
    frame: Any,
    tokens: str = "token",
    labels: str | None = "label",
    sequence: str | Sequence[str] | None = "sentence",
    columns: Sequence[str] = (),
    names: Sequence[str] | Mapping[Any, str] | None = None,
) -> list[Example]:
    """The sequences of a data frame, in the order of its rows.

    A frame has one row for each token, or one row for each sequence. In the second case, the cells of tokens
    and labels are lists, and the column `sequence` is not read.

    Parameters
    ----------
    frame : DataFrame or Table
        A data frame of pandas or polars, or an Arrow table.
    tokens : str, default "token"
        Column of the tokens.
    labels : str or None, default "label"
        Column of the labels; None if there is none.
    sequence : str, sequence of str or None, default "sentence"
        Columns that identify sequences, which begin where a value changes; an empty cell has the value of the row before.
        None for a frame that is a single sequence.
    columns : sequence of str, optional
        Further columns to keep with the tokens, for models that use them; cells become texts.
    names : sequence of str or mapping of object to str, optional
        Names of labels that are numbers. Tables of a data set of Hugging Face have them.

    Returns
    -------
    list of Example
        Sequences with `tokens` and `labels`. If all labels of a sequence are empty, `labels` is None.

    Raises
    ------
    InputError
        For missing columns, empty tokens, scattered sequences and lists of different lengths; messages name row and column.
    MissingLibrary
        If narwhals is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sentence": [7, 7, 8], "token": ["Ada", "slept", "Yes"], "label": ["name", "O", "O"]})
    >>> [(each.tokens, each.labels) for each in sequences_of(frame)]
    [(('Ada', 'slept'), ('name', 'O')), (('Yes',), ('O',))]
    """
    table = _table(frame)
    parts = _parts(table, tokens, sequence)
    cells = {name: _cells(table, name) for name in dict.fromkeys((tokens, labels, *columns)) if name}
    metadata = getattr(getattr(frame, "schema", None), "metadata", None)
    known = feature_names(metadata, labels or "") if names is None else label_names(names)
    return [_example(part, cells, tokens, labels, columns, known) for part in parts]


def with_solutions(
    frame: Frame,
    solutions: Iterable[Solution | Sequence[str] | None],
    tokens: str = "token",
    sequence: str | Sequence[str] | None = "sentence",
    prefix: str = "",
) -> Frame:
    """The frame with columns `label`, `score`, `status` and `violations` of its sequences.

    All rows, the index of pandas and the other columns are kept. In a frame with one row for each token,
    every row of a sequence has its score (nats), status and violations. In a frame with one row for each
    sequence, cells of `label` are lists. Parameters as for `sequences_of`, and two more.

    Parameters
    ----------
    solutions : iterable of Solution, sequence of str or None
        For each sequence, in order, a solution, T labels, or None. If none of them is a solution, only
        `label` is added.
    prefix : str, optional
        Prefix of the names of the new columns, such as `"predicted_"`.

    Returns
    -------
    DataFrame or Table
        A new frame of the same kind. `violations` are the broken rules with their numbers of violations, as
        JSON. An infeasible sequence has no label and no score.

    Raises
    ------
    InputError
        For a column that is missing or exists already, and for solutions that do not fit the sequences.
    MissingLibrary
        If narwhals is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sentence": [7, 7, 8], "token": ["Ada", "slept", "Yes"]}, index=[3, 1, 2])
    >>> with_solutions(frame, [["name", "O"], ["O"]])
       sentence  token label
    3         7    Ada  name
    1         7  slept     O
    2         8    Yes     O
    """
    table = _table(frame)
    import narwhals as nw

    parts, found = _parts(table, tokens, sequence), list(solutions)
    if len(parts) != len(found):
        raise InputError(
            f"{counted(len(found), 'solution')} for a frame of {counted(len(parts), 'sequence')}; give one for each"
        )
    scored = any(isinstance(each, Solution) for each in found)
    rows = [row for part, each in zip(parts, found, strict=True) for row in _rows(part, each)]
    lists = bool(parts) and parts[0].tokens is not None
    kinds: Mapping[str, Any] = {
        "label": nw.List(nw.String) if lists else nw.String,
        "score": nw.Float64,
        "status": nw.String,
        "violations": nw.String,
    }
    added = []
    for at, name in enumerate(NEW_COLUMNS[: len(NEW_COLUMNS) if scored else 1]):
        if prefix + name in table.columns:
            raise InputError(
                f'the frame has a column "{prefix + name}" already; give another prefix, such as prefix="predicted_"'
            )
        kind = None if lists and name == "label" and table.implementation.is_pandas_like() else kinds[name]
        values = [row[at] for row in rows]
        added.append(nw.new_series(prefix + name, values, kind, backend=table.implementation))
    result: Frame = table.with_columns(*added).to_native()
    return result


@dataclass(frozen=True)
class _Part:
    """The rows of a sequence, from `begin` to `end`, and its tokens if a single row holds them as a list."""

    begin: int
    end: int
    tokens: list[Any] | None = None

    @property
    def length(self) -> int:
        return self.end - self.begin if self.tokens is None else len(self.tokens)


def _table(frame: Any) -> "nw.DataFrame[Any]":
    require("a data frame", "frames", "narwhals")
    import narwhals as nw

    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        hint = "; collect() it first" if hasattr(frame, "collect") else ""
        raise InputError(
            f"a {kind} is not a supported data frame; expected one of pandas or polars, or an Arrow table{hint}"
        ) from None


def _cells(table: "nw.DataFrame[Any]", name: str) -> list[Any]:
    """The cells of a column, None for empty cells; InputError if the column is missing."""
    if name not in table.columns:
        raise InputError(f'no column "{name}"{suggestion(name, map(str, table.columns))}')
    column = table[name]
    return [
        None if empty else each
        for each, empty in zip(column.to_list(), column.is_null().to_list(), strict=True)
    ]


def _parts(table: "nw.DataFrame[Any]", tokens: str, sequence: str | Sequence[str] | None) -> list[_Part]:
    cells = _cells(table, tokens)
    for row, cell in enumerate(cells):
        if cell is None:
            raise InputError(f'column "{tokens}", row {row}: no token; give a text, or leave the row out')
    if cells and _is_list(cells[0]):
        return [_Part(row, row + 1, _list(cell, row, tokens)) for row, cell in enumerate(cells)]
    names = [] if sequence is None else [sequence] if isinstance(sequence, str) else list(sequence)
    keys = list(
        zip(*(_fill_down(_cells(table, name), name) for name in names), strict=True)
        if names
        else [()] * len(cells)
    )
    begins = [row for row in range(len(keys)) if row == 0 or keys[row] != keys[row - 1]]
    known: dict[tuple[Any, ...], int] = {}
    for row in begins:
        if keys[row] in known:
            shown = " and ".join(f'"{name}" {brief(key)}' for name, key in zip(names, keys[row], strict=True))
            raise InputError(
                f"row {row}: {shown} again, after other sequences since row {known[keys[row]]}; sort the frame by sequence, or "
                "name all columns that identify sequences"
            )
        known[keys[row]] = row
    return [_Part(begin, end) for begin, end in pairwise([*begins, len(keys)])]


def _fill_down(cells: list[Any], name: str) -> list[Any]:
    if cells and cells[0] is None:
        raise InputError(
            f'column "{name}", row 0: the name of the sequence is missing; give it at least in the first row'
        )
    result: list[Any] = []
    for cell in cells:
        result.append(result[-1] if cell is None else cell)
    return result


def _is_list(cell: Any) -> bool:
    return not isinstance(cell, str | bytes) and hasattr(cell, "__len__") and hasattr(cell, "__getitem__")


def _list(cell: Any, row: int, name: str) -> list[Any]:
    if not _is_list(cell):
        raise InputError(
            f'column "{name}", row {row}: {brief(cell)} is not a list, but the first row has one'
        )
    return list(cell)


def _example(
    part: _Part,
    cells: Mapping[str, list[Any]],
    tokens: str,
    labels: str | None,
    columns: Sequence[str],
    known_names: Sequence[str] | None,
) -> Example:
    where = f"row {part.begin}"

    def of(name: str) -> list[Any]:
        if part.tokens is None:
            return cells[name][part.begin : part.end]
        if name == tokens:
            return part.tokens
        cell = cells[name][part.begin]
        return [None] * part.length if cell is None else _list(cell, part.begin, name)

    def row_of(at: int) -> str:
        return f"row {part.begin + at}" if part.tokens is None else f"row {part.begin}, token {at}"

    texts = of(tokens)
    for at, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            raise InputError(f'column "{tokens}", {row_of(at)}: {brief(text)} is no token; expected a text')
    names = of(labels) if labels else None
    if names is not None:
        if len(names) != len(texts):
            raise InputError(
                f'column "{labels}", {where}: {counted(len(names), "label")}, but {counted(len(texts), "token")} in column "{tokens}"'
            )
        names = None if names and all(name is None for name in names) else names
    try:
        names = names and list(names_of_tags(names, known_names, f'column "{labels}", {where}', NAME_TAGS))
    except ValueError as error:
        raise InputError(str(error)) from None
    for at, name in enumerate(names or ()):
        if not isinstance(name, str) or not name:
            raise InputError(
                f'column "{labels}", {row_of(at)}: {brief(name)} is no label; expected a text, or no label in the sequence'
            )
    further = {name: ["" if each is None else str(each) for each in of(name)] for name in columns}
    with input_at(where):
        known = with_columns(texts, further)
    return Example(known, None if names is None else tuple(names), where)


def _rows(part: _Part, found: Solution | Sequence[str] | None) -> list[tuple[Any, ...]]:
    if isinstance(found, Solution):
        labels = list(found.labels) if found.has_labelling else None
        broken = {rule: count for rule, count in found.violations.items() if count}
        text = json.dumps(broken, ensure_ascii=False)
        rest: tuple[Any, ...] = (finite(found.score), str(found.status), text)
    elif isinstance(found, str):
        raise InputError(f"row {part.begin}: {found!r} for labels; expected a list of labels, or a Solution")
    else:
        labels, rest = None if found is None else list(found), (None, None, None)
    unlabelled: list[str | None] = [None] * part.length
    if labels is not None and len(labels) != part.length:
        raise InputError(
            f"row {part.begin}: {counted(len(labels), 'label')} for a sequence of {counted(part.length, 'token')}"
        )
    if part.tokens is not None:
        return [(labels, *rest)]
    return [(label, *rest) for label in labels or unlabelled]
