"""Integer programs as MPS and LP text, whole arrays at a time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from formulations.dtypes import Integers
from formulations.programs.record import UNBOUNDED, IntegerProgram, stable_order


@dataclass(frozen=True)
class Style:
    """Names and numbers of a text; c0 … are the columns and r0 … the rows where not named."""

    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None
    scale: int = 1  # a power of two, by which entries of the objective are divided
    title: str = "program"  # one word
    remarks: tuple[str, ...] = ()  # lines of comment


PLAIN = Style()


def mps(program: IntegerProgram, style: Style = PLAIN) -> str:
    """Free MPS text that MINIMISES the negated objective, in grid units; rows without a side are left out."""
    comment = "".join(f"* {line}\n" for line in style.remarks)
    head = [f"{comment}NAME {style.title} FREE\nROWS\n N obj\n", *_row_kinds(program, style)]
    columns = ["COLUMNS\n MARKER 'MARKER' 'INTORG'\n", *_columns(program, style)]
    middle = [" MARKER 'MARKER' 'INTEND'\nRHS\n", *_sides(program, style)]
    return "".join([*head, *columns, *middle, "BOUNDS\n", *_bounds(program, style), "ENDATA\n"])


def lp(program: IntegerProgram, style: Style = PLAIN) -> str:
    """CPLEX LP text that maximises the objective, in grid units; one line for each side of a row."""
    columns, names = _columns_as("{}", program, style).tolist(), _rows_as("{}", program, style).tolist()
    remarks = "".join(f"\\ {line}\n" for line in style.remarks)
    empty = [("+", "0", columns[0])]
    rows: list[str] = []
    for row in np.flatnonzero(_has_side(program)).tolist():
        entries = np.arange(program.indptr[row], program.indptr[row + 1])
        entries = entries[np.argsort(program.indices[entries], kind="stable")]
        at = [columns[c] for c in program.indices[entries].tolist()]
        terms = _sum(_terms(map(str, program.data[entries].tolist()), at) or empty)
        lower, upper = int(program.row_lower[row]), int(program.row_upper[row])
        several = lower > -UNBOUNDED and upper < UNBOUNDED
        if lower == upper:
            rows.append(f" {names[row]}: {terms} = {lower}\n")
            continue
        if lower > -UNBOUNDED:
            rows.append(f" {names[row]}{'.lower' * several}: {terms} >= {lower}\n")
        if upper < UNBOUNDED:
            rows.append(f" {names[row]}{'.upper' * several}: {terms} <= {upper}\n")
    binary = (program.lower == 0) & (program.upper == 1)
    objective = [
        (sign, weight, name)
        for sign, weight, name in _terms(_objective(program.objective, style), columns)
        if weight != "0"
    ]
    sections = {
        "Subject To": rows,
        "Bounds": [_box(program, columns[c], c) for c in np.flatnonzero(~binary).tolist()],
        "Binary": [f" {columns[c]}\n" for c in np.flatnonzero(binary).tolist()],
        "General": [f" {columns[c]}\n" for c in np.flatnonzero(~binary).tolist()],
    }
    body = "".join(f"{title}\n{''.join(lines)}" for title, lines in sections.items() if lines)
    return f"{remarks}Maximize\n obj: {_sum(objective or empty)}\n{body}End\n"


def _box(program: IntegerProgram, name: str, column: int) -> str:
    low, high = int(program.lower[column]), int(program.upper[column])
    return f" {name} = {low}\n" if low == high else f" {low} <= {name} <= {high}\n"


def _columns_as(pattern: str, program: IntegerProgram, style: Style) -> NDArray[np.object_]:
    if style.columns is None:
        n = program.n_columns
        return _numbered(pattern.format("c{}"), 1 << max(n - 1, 0).bit_length())[:n]
    return np.array([pattern.format(name) for name in style.columns], object)


def _rows_as(pattern: str, program: IntegerProgram, style: Style) -> NDArray[np.object_]:
    return np.array(_some(np.arange(program.n_rows), pattern, "r", style.rows), object)


def _some(at: Integers, pattern: str, letter: str, names: Sequence[str] | None) -> list[str]:
    before, after = pattern.split("{}")
    if names is None:
        return [f"{before}{letter}{place}{after}" for place in at.tolist()]
    return [f"{before}{names[place]}{after}" for place in at.tolist()]


def _objective(units: Integers, style: Style) -> list[str]:
    """Entries of an objective as exact decimals."""
    if style.scale == 1:
        return list(map(str, units.tolist()))
    distinct, which = np.unique(units, return_inverse=True)
    texts = [exact_decimal(int(value), style.scale) for value in distinct]
    return [texts[place] for place in which.tolist()]


def exact_decimal(units: int, scale: int) -> str:
    """units / scale, for a power of two, such as -0.00000286102294921875."""
    digits = scale.bit_length() - 1
    whole, rest = divmod(abs(units), scale)
    fraction = str(rest * 5**digits).zfill(digits).rstrip("0")
    sign = "-" if units < 0 else ""
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def _has_side(program: IntegerProgram) -> np.ndarray:
    return (program.row_lower > -UNBOUNDED) | (program.row_upper < UNBOUNDED)


def _row_kinds(program: IntegerProgram, style: Style) -> list[str]:
    rows = np.flatnonzero(_has_side(program))
    lower, upper = program.row_lower[rows], program.row_upper[rows]
    kinds = np.select([lower == upper, upper < UNBOUNDED], ["E", "L"], "G").tolist()
    names = _some(rows, "{}", "r", style.rows)
    return [f" {kind} {name}\n" for kind, name in zip(kinds, names, strict=True)]


def _columns(program: IntegerProgram, style: Style) -> list[str]:
    """Lines `column row value`, the entries of a column together and its objective first."""
    kept = _has_side(program)[program.row_of_entry]
    columns = np.concatenate([np.arange(program.n_columns), program.indices[kept]])
    rows = np.concatenate([np.zeros(program.n_columns, np.int64), program.row_of_entry[kept] + 1])
    order = stable_order(columns)
    column_names = _columns_as(" {} ", program, style)
    row_names = np.concatenate([np.array(["obj "], object), _rows_as("{} ", program, style)])
    distinct = np.unique(program.data[kept])
    own = [f"{value}\n" for value in _objective(-program.objective, style)]
    value_names = np.array(own + [f"{value}\n" for value in distinct.tolist()], object)
    which = program.n_columns + np.searchsorted(distinct, program.data[kept])
    which = np.concatenate([np.arange(program.n_columns), which])
    pieces = np.empty((len(order), 3), object)
    pieces[:, 0] = column_names[columns[order]]
    pieces[:, 1] = row_names[rows[order]]
    pieces[:, 2] = value_names[which[order]]
    text: list[str] = pieces.ravel().tolist()
    return text


def _sides(program: IntegerProgram, style: Style) -> list[str]:
    """The sections RHS and RANGES."""
    lower, upper = program.row_lower, program.row_upper
    above, below = lower > -UNBOUNDED, upper < UNBOUNDED
    right = np.flatnonzero((above | below) & (np.where(below, upper, lower) != 0))
    ranged = np.flatnonzero(above & below & (lower != upper))
    sides = np.where(below, upper, lower)[right]
    return [
        *_interleave(_some(right, " RHS {} ", "r", style.rows), sides),
        *(["RANGES\n"] if len(ranged) else []),
        *_interleave(_some(ranged, " RNG {} ", "r", style.rows), (upper - lower)[ranged]),
    ]


def _bounds(program: IntegerProgram, style: Style) -> list[str]:
    binary = (program.lower == 0) & (program.upper == 1)
    below, other = np.flatnonzero(program.lower), np.flatnonzero(~binary)
    return [
        *_columns_as(" BV BND {}\n", program, style)[binary],
        *_interleave(_some(below, " LO BND {} ", "c", style.columns), program.lower[below]),
        *_interleave(_some(other, " UP BND {} ", "c", style.columns), program.upper[other]),
    ]


@lru_cache(maxsize=4)
def _numbered(pattern: str, count: int) -> NDArray[np.object_]:
    """The pattern filled with 0 … count - 1, which all programs share; cached for each power of two."""
    return np.array([pattern.format(number) for number in range(count)], object)


def _interleave(starts: list[str], values: Integers) -> list[str]:
    return list(chain.from_iterable(zip(starts, map(str, values.tolist()), repeat("\n"), strict=False)))


Term = tuple[str, str, str]
"""Sign, weight and column."""


def _terms(weights: Iterable[str], columns: Sequence[str]) -> list[Term]:
    return [
        ("-" if w[0] == "-" else "+", w.removeprefix("-"), c) for w, c in zip(weights, columns, strict=True)
    ]


def _sum(terms: list[Term]) -> str:
    """`+ 3 c0 - c4`, at most four terms a line, as readers limit its length."""
    texts = [
        f"{sign} {column}" if weight == "1" else f"{sign} {weight} {column}" for sign, weight, column in terms
    ]
    return "\n  ".join(" ".join(texts[at : at + 4]) for at in range(0, len(texts), 4))
