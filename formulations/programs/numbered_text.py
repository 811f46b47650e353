"""Integer programs as text that numbers columns and rows: AMPL (.nl), and weighted constraint satisfaction (.wcsp)."""

from collections.abc import Iterator

import numpy as np

from formulations.dtypes import Integers
from formulations.programs.record import UNBOUNDED, IntegerProgram
from formulations.programs.text import Style, exact_decimal


def nl(program: IntegerProgram, style: Style) -> str:
    """Text of AMPL that maximises the objective; columns and rows in the order of the program, all of them integer."""
    n, m, entries = program.n_columns, program.n_rows, len(program.data)
    lower, upper = program.row_lower, program.row_upper
    ranges = (lower > -UNBOUNDED) & (upper < UNBOUNDED) & (lower != upper)
    weighted = np.flatnonzero(program.objective)
    head = [
        f"g3 1 1 0 # {style.title}; {'; '.join(style.remarks)}",
        f" {n} {m} 1 {ranges.sum()} {(lower == upper).sum()}",
        *(" 0 0", " 0 0", " 0 0 0", " 0 0 0 1"),
        f" 0 {n} 0 0 0",
        f" {entries} {len(weighted)}",
        *(" 0 0", " 0 0 0 0 0"),
    ]
    counts = np.cumsum(np.bincount(program.indices, minlength=n))[: n - 1]
    lines = [
        *head,
        *(line for row in range(m) for line in (f"C{row}", "n0")),
        *("O0 1", f"n{exact_decimal(program.constant or 0, style.scale)}"),
        *("r", *map(_range, lower.tolist(), upper.tolist())),
        *("b", *map(_range, program.lower.tolist(), program.upper.tolist())),
        *(f"k{n - 1}", *map(str, counts.tolist())),
        *_rows(program),
    ]
    if len(weighted):
        lines.append(f"G0 {len(weighted)}")
        units = program.objective[weighted].tolist()
        pairs = zip(weighted.tolist(), units, strict=True)
        lines += [f"{column} {exact_decimal(value, style.scale)}" for column, value in pairs]
    return "\n".join(lines) + "\n"


def _range(lower: int, upper: int) -> str:
    if lower == upper:
        return f"4 {lower}"
    if lower <= -UNBOUNDED:
        return "3" if upper >= UNBOUNDED else f"1 {upper}"
    return f"2 {lower}" if upper >= UNBOUNDED else f"0 {lower} {upper}"


def _rows(program: IntegerProgram) -> Iterator[str]:
    """The entries of each row, by column."""
    for row in range(program.n_rows):
        columns, values = program.row(row)
        if len(columns):
            yield f"J{row} {len(columns)}"
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            yield f"{column} {value}"


def wcsp(program: IntegerProgram, style: Style) -> str:
    """Text of toulbar2: a variable for each column, whose value v stands for its lower side + v, and costs in grid units.

    A cost function of one column is what it loses against its best value, and each side of a row is a linear constraint. The
    objective is `best_objective` less the cost, the constant included.
    """
    sizes = (program.upper - program.lower + 1).tolist()
    constraints = list(_knapsacks(program))
    weighted = np.flatnonzero((program.objective != 0) & (program.upper > program.lower)).tolist()
    least, greatest = np.sort(_ends(program), axis=0)
    most = int((greatest - least).sum()) + 1
    lines = [
        f"{style.title} {len(sizes)} {max(sizes)} {len(weighted) + len(constraints)} {most}",
        " ".join(map(str, sizes)),
    ]
    for column in weighted:
        weight = int(program.objective[column])
        costs = [-weight * v for v in range(sizes[column])]
        lines.append(f"1 {column} 0 {len(costs)}")
        lines += [f"{v} {cost - min(costs)}" for v, cost in enumerate(costs)]
    return "\n".join([*lines, *constraints]) + "\n"


def best_objective(program: IntegerProgram) -> int:
    """The sum of the best values of all columns, each by itself, in grid units."""
    return int(np.maximum(*_ends(program)).sum()) + (program.constant or 0)


def _ends(program: IntegerProgram) -> tuple[Integers, Integers]:
    return program.objective * program.lower, program.objective * program.upper


def _knapsacks(program: IntegerProgram) -> Iterator[str]:
    """Each side of each row as a sum of values that is at least a capacity."""
    for row in range(program.n_rows):
        columns, weights = program.row(row)
        shift = int((weights * program.lower[columns]).sum())
        for sign, side in ((1, int(program.row_lower[row])), (-1, int(program.row_upper[row]))):
            if abs(side) < UNBOUNDED:
                lows, highs = program.lower[columns].tolist(), program.upper[columns].tolist()
                terms = [
                    [(v, sign * weight * v) for v in range(1, high - low + 1)]
                    for weight, low, high in zip(weights.tolist(), lows, highs, strict=True)
                ]
                texts = (
                    f"{len(pairs)}{''.join(f' {value} {amount}' for value, amount in pairs)}"
                    for pairs in terms
                )
                scope = " ".join(map(str, columns.tolist()))
                yield f"{len(terms)} {scope} -1 knapsackp {sign * (side - shift)} {' '.join(texts)}"
