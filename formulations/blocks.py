"""Compressed tables of steps: equal rows and equal columns are stored once."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

LARGE = 2**16
"""Least number of steps of a compressed table; smaller plain arrays are faster."""


class Blocks(NDArrayOperatorsMixin):
    """A table (…, N, M) with entries `cells[…, rows[i], columns[j]]`; each kind of row and column occurs."""

    def __init__(self, cells: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> None:
        self.cells, self.rows, self.columns = cells, rows, columns

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.cells.shape[:-2], len(self.rows), len(self.columns))

    @property
    def ndim(self) -> int:
        return self.cells.ndim

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def dtype(self) -> Any:
        return self.cells.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        cells = self.cells if dtype is None else self.cells.astype(dtype)
        return np.take(np.take(cells, self.rows, axis=-2), self.columns, axis=-1)

    def __getitem__(self, key: Any) -> Any:
        if key is None:
            return Blocks(self.cells[None], self.rows, self.columns)
        if isinstance(key, int | np.integer):
            if self.ndim == 2:
                return self.cells[self.rows[key], self.columns]
            return Blocks(self.cells[key], self.rows, self.columns)
        if (
            isinstance(key, tuple)
            and len(key) == self.ndim
            and not any(isinstance(part, slice) for part in key)
        ):
            *which, before, label = key
            return self.cells[(*which, self.rows[before], self.columns[label])]
        return np.asarray(self)[key]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return getattr(ufunc, method)(*map(_plain, inputs), **options)
        tables = [each if np.ndim(each) == 0 else blocks(each) for each in inputs]
        shared = [each for each in tables if isinstance(each, Blocks)]
        if any(each is None for each in tables) or len({each.shape[-1] for each in shared} - {1}) > 1:
            return ufunc(*map(_plain, inputs))
        rows, row_kinds = _common([each.rows for each in shared])
        columns, column_kinds = _common([each.columns for each in shared])
        kinds = iter(zip(row_kinds, column_kinds, strict=True))
        return Blocks(
            ufunc(*(_chosen(each, *next(kinds)) if isinstance(each, Blocks) else each for each in tables)),
            rows,
            columns,
        )

    def astype(self, dtype: Any) -> "Blocks":
        return Blocks(self.cells.astype(dtype), self.rows, self.columns)

    def min(self, **options: Any) -> Any:
        return self.cells.min(**options)

    def max(self, **options: Any) -> Any:
        return self.cells.max(**options)

    def any(self) -> bool:
        return bool(self.cells.any())

    def reshape(self, *shape: int) -> NDArray[Any]:
        return np.asarray(self).reshape(*shape)

    def tolist(self) -> Any:
        return np.asarray(self).tolist()

    def tobytes(self) -> bytes:
        return np.asarray(self).tobytes()


def blocks(table: Any) -> Blocks | None:
    """Compress a row (M,) or (1, M), or a column (N, 1); `Blocks` are unchanged; None for other arrays."""
    if isinstance(table, Blocks):
        return table
    table = np.asarray(table)
    one_row = table.ndim == 1 or (table.ndim == 2 and len(table) == 1)
    if not one_row and not (table.ndim == 2 and table.shape[1] == 1):
        return None
    entries, kinds = _kinds(table.reshape(-1))
    alone = np.zeros(1, np.int16)
    return Blocks(entries[None], alone, kinds) if one_row else Blocks(entries[:, None], kinds, alone)


def of_kinds(cells: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> Blocks:
    """A table by kinds; unused kinds are removed."""
    kept = [np.flatnonzero(np.bincount(kinds)) for kinds in (rows, columns)]
    numbers = [
        (kinds if len(each) == each[-1] + 1 else np.searchsorted(each, kinds)).astype(np.int16)
        for each, kinds in zip(kept, (rows, columns), strict=True)
    ]
    return Blocks(cells[..., kept[0][:, None], kept[1]], *numbers)


def taken(table: Any, rows: NDArray[Any], columns: NDArray[Any]) -> Any:
    """Select rows and columns of tables (…, N, M)."""
    if isinstance(table, Blocks):
        return of_kinds(table.cells, table.rows[rows], table.columns[columns])
    return np.ascontiguousarray(table[..., rows[:, None], columns])


def stored(table: Any) -> Any:
    """Compress a table if it is large and can be compressed."""
    large = table.shape[-1] ** 2 >= LARGE
    found = blocks(table) if large else None
    return table if found is None else found


def mapped(function: Callable[[NDArray[Any]], NDArray[Any]], table: Any) -> Any:
    """Apply an elementwise function."""
    if isinstance(table, Blocks):
        return Blocks(function(table.cells), table.rows, table.columns)
    return function(table)


def entries(tables: Any) -> NDArray[Any]:
    """(P, X) the values in each of P tables, perhaps repeated."""
    each: NDArray[Any] = tables.cells if isinstance(tables, Blocks) else tables
    return each.reshape(len(each), -1)


def stacked(tables: list[Any]) -> Any:
    """Stack tables of equal shape along a new first axis."""
    parts = [each for each in tables if isinstance(each, Blocks)]
    if not parts:
        return np.stack(tables)
    every = [each if isinstance(each, Blocks) else blocks(each) for each in tables]
    if any(each is None for each in every):
        return np.stack([np.asarray(each) for each in tables])
    one = cast(list[Blocks], every)
    rows, row_kinds = _common([each.rows for each in one])
    columns, column_kinds = _common([each.columns for each in one])
    chosen = map(_chosen, one, row_kinds, column_kinds)
    return Blocks(np.stack(list(chosen)), rows, columns)


def _kinds(entries: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int16]]:
    """The distinct entries, and the index of each entry."""
    if entries.dtype == bool:
        if entries.all() or not entries.any():
            return entries[:1], np.zeros(len(entries), np.int16)
        return np.array([False, True]), entries.astype(np.int16)
    different, kinds = np.unique(entries, return_inverse=True)
    return different, kinds.astype(np.int16)


def _common(numbers: list[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """The common refinement of several numberings, and for each numbering the kinds of the refined kinds."""
    if len(numbers) == 1 or all(each is numbers[0] for each in numbers):
        return numbers[0], [np.arange(int(numbers[0].max()) + 1)] * len(numbers)
    sizes = [int(each.max()) + 1 for each in numbers]
    code: Any = np.int64(0)
    for each, size in zip(numbers, sizes, strict=True):
        code = code * size + each
    used = np.bincount(code) > 0
    left, parts = np.flatnonzero(used), list[NDArray[Any]]()
    for size in reversed(sizes):
        left, part = np.divmod(left, size)
        parts.append(part)
    return (np.cumsum(used) - 1)[code].astype(np.int16), parts[::-1]


def _chosen(table: Blocks, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    return table.cells[..., rows[:, None], columns]


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, Blocks) else value
