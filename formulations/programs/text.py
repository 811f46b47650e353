"""Integer programs as MPS and LP text with names of columns and rows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from formulations.dtypes import Integers
from formulations.programs.record import UNBOUNDED, IntegerProgram, stable_order


@dataclass(frozen=True)
class Style:
    """Names and scale of a text; by default, columns are c0, c1, …, rows r0, r1, …."""

    columns: Sequence[str] | None = None
    rows: Sequence[str] | None = None
    scale: int = 1  # a power of two, the divisor of objective coefficients
    title: str = "program"  # one word
    remarks: tuple[str, ...] = ()  # lines of comment


PLAIN = Style()


def mps(program: IntegerProgram, style: Style = PLAIN) -> str:
    """Free MPS text that MINIMISES the negated objective, in grid units; rows without sides are omitted."""
    columns, rows = _names(program, style)
    comment = "".join(f"* {line}\n" for line in style.remarks)
    head = [f"{comment}NAME {style.title} FREE\nROWS\n N obj\n", *_row_kinds(program, rows)]
    entries = ["COLUMNS\n MARKER 'MARKER' 'INTORG'\n", *_entries(program, columns, rows, style.scale)]
    constant = exact_decimal(program.constant or 0, style.scale)  # readers negate this side
    offset = [] if constant == "0" else [f" RHS obj {constant}\n"]
    middle = [" MARKER 'MARKER' 'INTEND'\nRHS\n", *offset, *_sides(program, rows)]
    return "".join([*head, *entries, *middle, "BOUNDS\n", *_bounds(program, columns), "ENDATA\n"])


def lp(program: IntegerProgram, style: Style = PLAIN) -> str:
    """CPLEX LP text that maximises the objective, in grid units; one line for each side of a row."""
    columns, names = _names(program, style)
    remarks = "".join(f"\\ {line}\n" for line in style.remarks)
    empty = [("+", "0", columns[0])] if program.n_columns else []
    rows: list[str] = []
    for row in np.flatnonzero(_has_side(program)).tolist():
        indices, data = program.row(row)
        terms = _sum(_terms(map(str, data.tolist()), [columns[c] for c in indices.tolist()]) or empty)
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
    weights = _objective(program.objective, style.scale)
    objective = [term for term in _terms(weights, columns) if term[1] != "0"] or empty
    others = np.flatnonzero(~binary).tolist()
    sections = {
        "Subject To": rows,
        "Bounds": [_box(program, columns[c], c) for c in others],
        "Binary": [f" {columns[c]}\n" for c in np.flatnonzero(binary).tolist()],
        "General": [f" {columns[c]}\n" for c in others],
    }
    body = "".join(f"{title}\n{''.join(lines)}" for title, lines in sections.items() if lines)
    constant = exact_decimal(program.constant or 0, style.scale)
    added = "" if constant == "0" else f" {'-' if constant[0] == '-' else '+'} {constant.removeprefix('-')}"
    return f"{remarks}Maximize\n obj: {_sum(objective)}{added}\n{body}End\n"


def _box(program: IntegerProgram, name: str, column: int) -> str:
    low, high = int(program.lower[column]), int(program.upper[column])
    return f" {name} = {low}\n" if low == high else f" {low} <= {name} <= {high}\n"


def _names(program: IntegerProgram, style: Style) -> tuple[Sequence[str], Sequence[str]]:
    columns, rows = style.columns, style.rows
    return (
        _numbered("c", program.n_columns) if columns is None else columns,
        _numbered("r", program.n_rows) if rows is None else rows,
    )


def _objective(units: Integers, scale: int) -> list[str]:
    """Coefficients of an objective as exact decimals."""
    if scale == 1:
        return list(map(str, units.tolist()))
    distinct, which = np.unique(units, return_inverse=True)
    texts = [exact_decimal(int(value), scale) for value in distinct]
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


def _row_kinds(program: IntegerProgram, names: Sequence[str]) -> list[str]:
    rows = np.flatnonzero(_has_side(program))
    lower, upper = program.row_lower[rows], program.row_upper[rows]
    kinds = np.select([lower == upper, upper < UNBOUNDED], ["E", "L"], "G").tolist()
    return [f" {kind} {names[row]}\n" for kind, row in zip(kinds, rows.tolist(), strict=True)]


def _entries(program: IntegerProgram, names: Sequence[str], rows_: Sequence[str], scale: int) -> list[str]:
    """Lines `column row value`, grouped by column, the objective first."""
    kept = _has_side(program)[program.row_of_entry]
    columns = np.concatenate([np.arange(program.n_columns), program.indices[kept]])
    rows = np.concatenate([np.zeros(program.n_columns, np.int64), program.row_of_entry[kept] + 1])
    order = stable_order(columns)
    column_names = np.array([f" {name} " for name in names], object)
    row_names = np.array(["obj ", *(f"{name} " for name in rows_)], object)
    distinct = np.unique(program.data[kept])
    values = [*_objective(-program.objective, scale), *distinct.tolist()]
    value_names = np.array([f"{value}\n" for value in values], object)
    which = program.n_columns + np.searchsorted(distinct, program.data[kept])
    which = np.concatenate([np.arange(program.n_columns), which])
    pieces = np.empty((len(order), 3), object)
    pieces[:, 0] = column_names[columns[order]]
    pieces[:, 1] = row_names[rows[order]]
    pieces[:, 2] = value_names[which[order]]
    text: list[str] = pieces.ravel().tolist()
    return text


def _sides(program: IntegerProgram, names: Sequence[str]) -> list[str]:
    """The sections RHS and RANGES."""
    lower, upper = program.row_lower, program.row_upper
    above, below = lower > -UNBOUNDED, upper < UNBOUNDED
    right = np.flatnonzero((above | below) & (np.where(below, upper, lower) != 0))
    ranged = np.flatnonzero(above & below & (lower != upper))
    sides = np.where(below, upper, lower)[right]
    return [
        *_lines("RHS", names, right, sides),
        *(["RANGES\n"] if len(ranged) else []),
        *_lines("RNG", names, ranged, (upper - lower)[ranged]),
    ]


def _bounds(program: IntegerProgram, names: Sequence[str]) -> list[str]:
    binary = (program.lower == 0) & (program.upper == 1)
    below, other = np.flatnonzero(program.lower), np.flatnonzero(~binary)
    return [
        *(f" BV BND {names[c]}\n" for c in np.flatnonzero(binary).tolist()),
        *_lines("LO BND", names, below, program.lower[below]),
        *_lines("UP BND", names, other, program.upper[other]),
    ]


def _numbered(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


def _lines(word: str, names: Sequence[str], at: Integers, values: Integers) -> Iterator[str]:
    return (f" {word} {names[c]} {x}\n" for c, x in zip(at.tolist(), values.tolist(), strict=True))


Term = tuple[str, str, str]  # sign, weight and column


def _terms(weights: Iterable[str], columns: Sequence[str]) -> list[Term]:
    pairs = zip(weights, columns, strict=True)
    return [("-" if weight[0] == "-" else "+", weight.removeprefix("-"), c) for weight, c in pairs]


def _sum(terms: list[Term]) -> str:
    """`+ 3 c0 - c4`, at most four terms per line, since readers limit line length."""
    texts = [
        " ".join((sign, column) if weight == "1" else (sign, weight, column))
        for sign, weight, column in terms
    ]
    return "\n  ".join(" ".join(texts[at : at + 4]) for at in range(0, len(texts), 4))
