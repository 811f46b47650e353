"""Values of a program's columns, as solvers give them, checked and made whole."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from formulations.dtypes import Floats, Integers
from formulations.messages import brief, suggestion
from formulations.programs.names import Meaning, file_names
from formulations.programs.record import UNBOUNDED, IntegerProgram

TOLERANCE = 1e-5  # how far a value may be from a whole number


def by_column(values: Any, names: Sequence[str]) -> Floats:
    """(n,) values of a mapping by name, or by the name in files, or of an array; NaN is let through."""
    if not isinstance(values, Mapping):
        return _array(values, names)
    place = {name: c for c, name in enumerate(names)}
    place |= {name: c for c, name in enumerate(file_names(names))}
    result: list[float | None] = [None] * len(names)
    for name, value in values.items():
        c = place.get(name) if isinstance(name, str) else None
        if c is None:
            near = suggestion(name, names) if isinstance(name, str) and len(names) < 1000 else ""
            what = f"{brief(name)} is no column of this program{near}"
            raise ValueError(f"{what}: are these values of another program?")
        if result[c] is not None:
            raise ValueError(f"column {names[c]} has two values: by its name, and by its name in files")
        result[c] = _number(value, names[c])
    missing = [name for name, value in zip(names, result, strict=True) if value is None]
    if missing:
        more = f" and {len(missing) - 1} more columns" if len(missing) > 1 else ""
        raise ValueError(f"no value for column {missing[0]}{more}: give each column one, 0 included")
    return np.array(result, float)


def _array(values: Any, names: Sequence[str]) -> Floats:
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError, OverflowError):
        expected = "a mapping from columns to numbers, or an array"
        raise ValueError(f"values are {brief(values)}; expected {expected}") from None
    if array.shape != (len(names),):
        raise ValueError(f"values have the shape {array.shape}, but the program has {len(names)} columns")
    return array


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        hint = ": was the program solved?" if value is None else "; expected a number"
        raise ValueError(f"column {name} is {brief(value)}{hint}") from None


def feasible_values(
    values: Floats, program: IntegerProgram, columns: Sequence[str], rows: Sequence[Meaning]
) -> Integers:
    """Values (n,) as whole numbers in their boxes that keep every row exactly; ValueError for the first that does not."""
    for c in np.flatnonzero(~(np.abs(values - np.rint(values)) <= TOLERANCE))[:1]:
        value = float(values[c])
        what = f"which is not {'whole' if math.isfinite(value) else 'finite'}"
        raise ValueError(f"column {columns[c]} is {value:.9g}, {what}: give a solution in whole numbers")
    low, high = program.lower, program.upper
    for c in np.flatnonzero((values < low - 0.5) | (values > high + 0.5))[:1]:
        raise ValueError(f"column {columns[c]} is {values[c]:.9g}, outside {low[c]} to {high[c]}")
    x = np.rint(values).astype(np.int64)
    activity = program.activity(x)
    for r in np.flatnonzero((activity < program.row_lower) | (activity > program.row_upper))[:1]:
        path = ", so that the columns x are no path" if rows[r].kind == "flow" else ""
        least, most = int(program.row_lower[r]), int(program.row_upper[r])
        sides = [f"at least {least}"] * (least > -UNBOUNDED) + [f"at most {most}"] * (most < UNBOUNDED)
        expected = f"{least}" if least == most else " and ".join(sides)
        raise ValueError(f"row {rows[r].name} is broken: its sum is {activity[r]}, expected {expected}{path}")
    return x
