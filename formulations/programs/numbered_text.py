"""Integer programs as text that numbers columns: weighted constraint satisfaction (.wcsp)."""

from collections.abc import Iterator

import numpy as np

from formulations.dtypes import Integers
from formulations.programs.record import UNBOUNDED, IntegerProgram
from formulations.programs.text import Style


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
