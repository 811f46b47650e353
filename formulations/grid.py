"""The score grid: int64 multiples of 2^-20 nats, exact in any order; `FORBIDDEN` stands for -inf and saturates."""

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from formulations.dtypes import Booleans, Floats, Integers
from formulations.messages import brief

Grid = Integers

UNITS_PER_NAT = 2**20
LIMIT = 2**31 * UNITS_PER_NAT  # largest total that input may reach: 2^31 nats, in units

SPARE = 2**24 * UNITS_PER_NAT
"""Largest sum of weights and penalties of rules that does not count towards that total, in units."""

FORBIDDEN = -(2**60)
"""Stands for -inf. Numbers below `FORBIDDEN // 2` count as forbidden."""

HARD = -FORBIDDEN  # the penalty of a hard rule, and the cost of breaking it, however often


def snap(values: ArrayLike, what: str = "score") -> Grid:
    """Round nats to the grid: int64, `FORBIDDEN` for -inf; ValueError for NaN, +inf and finite numbers beyond 2^31 nats, with their place."""
    array = _floats(values, what)
    with np.errstate(invalid="ignore", over="ignore"):
        units = np.rint(array * UNITS_PER_NAT)
    if np.abs(units).max(initial=0) <= LIMIT:  # false for NaN, too
        return units.astype(np.int64)
    bad = np.isnan(array) | (array == np.inf)
    if bad.any():
        raise ValueError(f"{what}{_index(bad)} is {array[bad][0]}: give a finite number, or -inf to forbid")
    large = np.isfinite(array) & (np.abs(units) > LIMIT)
    if large.any():
        raise ValueError(
            f"{what}{_index(large)} is {array[large][0]:g}, beyond 2^31 nats: rescale the scores, or use -inf, "
            "which forbids"
        )
    return np.where(np.isneginf(array), FORBIDDEN, np.nan_to_num(units, neginf=0.0)).astype(np.int64)


def snap_weight(value: float, what: str, *, allow_inf: bool = False) -> int:
    """Round one weight or penalty to the grid, infinity to `HARD` where it is allowed; ValueError for a number that rounds to 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number of nats, not {value!r}") from None
    except OverflowError:
        raise ValueError(f"{what} is beyond 2^31 nats: leave it out to make a rule hard") from None
    if allow_inf and number == math.inf:
        return HARD
    units = int(snap(number, what)) if math.isfinite(number) else 0
    if not math.isfinite(number):
        raise ValueError(f"{what} is {number}: give a finite number of nats")
    if units == 0:
        raise ValueError(
            f"{what} is {number:g} nats, which is 0 on the score grid of 2^-20 nats: leave it out"
        )
    return units


def nats(units: int | np.integer[Any]) -> float:
    return -math.inf if is_forbidden(units) else int(units) / UNITS_PER_NAT


def all_nats(units: Grid) -> Floats:
    return np.where(is_forbidden(units), -np.inf, units / UNITS_PER_NAT)


def is_forbidden(units: Any) -> Any:
    return units < FORBIDDEN // 2


def violation_costs(violations: Grid, penalty: int) -> Grid:
    """Grid units that violations cost, element by element; `HARD` for any number of violations of a hard rule."""
    return np.where(violations > 0, HARD, 0) if penalty == HARD else penalty * violations


def add(*terms: Grid) -> Grid:
    """Saturating sum of broadcast grid arrays."""
    total = np.asarray(terms[0], np.int64)
    for term in terms[1:]:
        total = np.maximum(total + term, FORBIDDEN)
        total = np.where(is_forbidden(total), FORBIDDEN, total)
    return total


def check_total(terms: list[tuple[str, Grid, int | Grid]], extra: int = 0) -> None:
    """Refuse terms (name, array, how many entries a labelling uses) and `extra` units whose total could pass 2^31 nats."""
    quick = extra
    for _, array, times in terms:
        quick += int(np.abs(array).max(initial=0)) * (times if isinstance(times, int) else int(times.sum()))
    if quick <= LIMIT:
        return
    total = extra
    largest = (0, "")
    for name, array, times in terms:
        if array.size == 0:
            continue
        size = np.where(is_forbidden(array), 0, np.abs(array))
        peak = int(size.max())
        if isinstance(times, int):
            total += times * peak
        else:
            total += sum((times.astype(object) * size.reshape(len(size), -1).max(axis=1)).tolist())
        if peak > largest[0]:
            largest = (peak, f"{name}{_index(size == peak)}")
    if total > LIMIT:
        raise ValueError(
            f"the scores could add up to {total / UNITS_PER_NAT:.4g} nats, more than 2^31; the largest entry is "
            f"{largest[1]} = {largest[0] / UNITS_PER_NAT:.4g} in size. Rescale the scores; -inf forbids"
        )


def _floats(values: ArrayLike, what: str) -> Floats:
    if _masked(values):
        raise ValueError(f"{what} is a masked array; fill it: filled(-inf) forbids what is masked")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers in rows of equal length, not {brief(values)}") from None
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.size == 0:
        return np.zeros(array.shape)
    if array.dtype.kind == "O":
        try:
            return np.array([float(x) for x in array.reshape(-1)]).reshape(array.shape)
        except (TypeError, ValueError):
            pass
        except OverflowError:
            raise ValueError(
                f"{what} holds a number beyond 2^31 nats: rescale the scores; -inf forbids"
            ) from None
    raise ValueError(f"{what} must hold numbers, not {brief(array.reshape(-1).tolist()[0])}")


def _masked(values: Any) -> bool:
    if isinstance(values, list | tuple):
        return not isinstance(next(iter(values), 0.0), float) and any(map(_masked, values))
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)  # importing it takes time


def _index(mask: Booleans) -> str:
    return f"[{', '.join(map(str, np.argwhere(mask)[0]))}]" if mask.ndim else ""
