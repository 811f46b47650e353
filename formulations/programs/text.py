"""Integer programs as MPS and LP text, whole arrays at a time: c0 … are the columns, r0 … the rows."""

from functools import lru_cache
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from formulations.dtypes import Integers
from formulations.programs.record import UNBOUNDED, IntegerProgram, stable_order


def mps(program: IntegerProgram) -> str:
    """Free MPS text that MINIMISES the negated objective, in grid units; rows without a side are left out."""
    head = ["NAME program FREE\nROWS\n N obj\n", *_row_kinds(program), "COLUMNS\n MARKER 'MARKER' 'INTORG'\n"]
    middle = [" MARKER 'MARKER' 'INTEND'\nRHS\n", *_sides(program), "BOUNDS\n"]
    return "".join([*head, *_columns(program), *middle, *_bounds(program), "ENDATA\n"])


def lp(program: IntegerProgram) -> str:
    """CPLEX LP text that maximises the objective, in grid units."""
    columns = range(program.n_columns)
    rows: list[str] = []
    for row in np.flatnonzero(_has_side(program)).tolist():
        entries = slice(program.indptr[row], program.indptr[row + 1])
        terms = _sum(program.data[entries].tolist(), program.indices[entries].tolist())
        lower, upper = int(program.row_lower[row]), int(program.row_upper[row])
        if lower == upper:
            rows.append(f" r{row}: {terms} = {lower}\n")
        else:
            if lower > -UNBOUNDED:
                rows.append(f" r{row}_lower: {terms} >= {lower}\n")
            if upper < UNBOUNDED:
                rows.append(f" r{row}_upper: {terms} <= {upper}\n")
    boxes = zip(program.lower.tolist(), columns, program.upper.tolist(), strict=True)
    bounds = "".join(f" {low} <= c{column} <= {high}\n" for low, column, high in boxes)
    names = "".join(f" c{column}\n" for column in columns)
    objective = _sum(program.objective.tolist(), columns)
    return f"Maximize\n obj: {objective}\nSubject To\n{''.join(rows)}Bounds\n{bounds}General\n{names}End\n"


def _has_side(program: IntegerProgram) -> np.ndarray:
    """(m,) bool: rows that have a side."""
    return (program.row_lower > -UNBOUNDED) | (program.row_upper < UNBOUNDED)


def _row_names(before: str, rows: Integers) -> list[str]:
    return [f"{before}{row} " for row in rows.tolist()]


def _row_kinds(program: IntegerProgram) -> list[str]:
    rows = np.flatnonzero(_has_side(program))
    lower, upper = program.row_lower[rows], program.row_upper[rows]
    kinds = np.select([lower == upper, upper < UNBOUNDED], ["E", "L"], "G").tolist()
    return [f" {kind} r{row}\n" for kind, row in zip(kinds, rows.tolist(), strict=True)]


def _columns(program: IntegerProgram) -> list[str]:
    """Lines `column row value`, the entries of a column together and its objective first."""
    kept = _has_side(program)[program.row_of_entry]
    columns = np.concatenate([np.arange(program.n_columns), program.indices[kept]])
    rows = np.concatenate([np.zeros(program.n_columns, np.int64), program.row_of_entry[kept] + 1])
    order = stable_order(columns)
    column_names = _each(" c{} ", program.n_columns)
    row_names = np.array(["obj ", *(f"r{row} " for row in range(program.n_rows))], object)
    distinct = np.unique(program.data[kept])
    own = [f"{value}\n" for value in (-program.objective).tolist()]
    value_names = np.array(own + [f"{value}\n" for value in distinct.tolist()], object)
    which = program.n_columns + np.searchsorted(distinct, program.data[kept])
    which = np.concatenate([np.arange(program.n_columns), which])
    pieces = np.empty((len(order), 3), object)
    pieces[:, 0] = column_names[columns[order]]
    pieces[:, 1] = row_names[rows[order]]
    pieces[:, 2] = value_names[which[order]]
    text: list[str] = pieces.ravel().tolist()
    return text


def _sides(program: IntegerProgram) -> list[str]:
    """The sections RHS and RANGES."""
    lower, upper = program.row_lower, program.row_upper
    above, below = lower > -UNBOUNDED, upper < UNBOUNDED
    right = np.flatnonzero((above | below) & (np.where(below, upper, lower) != 0))
    ranged = np.flatnonzero(above & below & (lower != upper))
    sides = np.where(below, upper, lower)[right]
    return [
        *_interleave(_row_names(" RHS r", right), sides),
        *(["RANGES\n"] if len(ranged) else []),
        *_interleave(_row_names(" RNG r", ranged), (upper - lower)[ranged]),
    ]


def _bounds(program: IntegerProgram) -> list[str]:
    binary = (program.lower == 0) & (program.upper == 1)
    below, other = np.flatnonzero(program.lower), np.flatnonzero(~binary)
    return [
        *_each(" BV BND c{}\n", program.n_columns)[binary],
        *_interleave(_row_names(" LO BND c", below), program.lower[below]),
        *_interleave(_row_names(" UP BND c", other), program.upper[other]),
    ]


def _each(pattern: str, count: int) -> NDArray[np.object_]:
    """The pattern filled with 0 … count - 1."""
    return _fill(pattern, 1 << max(count - 1, 0).bit_length())[:count]


@lru_cache(maxsize=4)
def _fill(pattern: str, count: int) -> NDArray[np.object_]:
    """Texts that are the same for every program: made once for each power of two."""
    return np.array([pattern.format(number) for number in range(count)], object)


def _interleave(starts: list[str], values: Integers) -> list[str]:
    return list(chain.from_iterable(zip(starts, map(str, values.tolist()), repeat("\n"), strict=False)))


def _sum(weights: list[int], columns: list[int] | range) -> str:
    """`+ 3 c0 - 1 c4`, at most 12 terms a line, as readers limit its length; `0 c0` if empty."""
    signs = ("-" if weight < 0 else "+" for weight in weights)
    terms = [f"{s} {abs(w)} c{c}" for s, w, c in zip(signs, weights, columns, strict=True)]
    return "\n  ".join(" ".join(terms[at : at + 12]) for at in range(0, len(terms), 12)) or "0 c0"
