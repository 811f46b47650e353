"""The score grid: int64 multiples of 2^-20 nats, so that sums are exact in any order; `FORBIDDEN` is -inf and saturates."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from formulations.dtypes import Floats, Integers
from formulations.score_numbers import MASK, check_finite, floats, place, without_masks

Grid = Integers

UNITS_PER_NAT = 2**20
LIMIT = 2**31 * UNITS_PER_NAT  # largest total of the input: 2^31 nats, in units

SPARE = 2**24 * UNITS_PER_NAT
"""Largest sum of weights and penalties of rules that is not checked against the total, in units."""

FORBIDDEN = -(2**60)
"""-inf; numbers below `FORBIDDEN // 2` count as forbidden."""

HARD = -FORBIDDEN  # the penalty of a hard rule, and the cost of any number of violations


def snap(values: ArrayLike, what: str = "score") -> Grid:
    """Round nats to the grid: int64, `FORBIDDEN` for -inf; ValueError for NaN, +inf and finite numbers beyond 2^31 nats, with their place."""
    return _snap(floats(values, what), what)


def snap_scores(values: ArrayLike, what: str, rows: Integers | None = None) -> Grid:
    """As `snap`, for user input: large negative scores forbid, with a notice; `rows` as for `place`."""
    array = floats(values, what)
    if np.abs(array).max(initial=0.0) < -MASK:  # false for NaN, too
        return np.rint(array * UNITS_PER_NAT).astype(np.int64, order="C")
    return _snap(without_masks(array, what, rows), what, rows)


def _snap(array: Floats, what: str, rows: Integers | None = None) -> Grid:
    with np.errstate(invalid="ignore", over="ignore"):
        units = np.rint(array * UNITS_PER_NAT)
    if np.abs(units).max(initial=0) <= LIMIT:  # false for NaN, too
        return units.astype(np.int64)
    check_finite(array, what, rows)
    large = np.isfinite(array) & (np.abs(units) > LIMIT)
    if large.any():
        raise ValueError(
            f"{what}{place(large, rows)} is {array[large][0]:g}, beyond 2^31 nats; rescale the scores, or use -inf "
            "(null in JSON) to forbid"
        )
    return np.where(np.isneginf(array), FORBIDDEN, np.nan_to_num(units, neginf=0.0)).astype(np.int64)


def snap_weight(value: float, what: str, *, allow_inf: bool = False) -> int:
    """Round a weight or penalty to the grid, infinity to `HARD` if allowed; ValueError for a number that rounds to 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number of nats, not {value!r}") from None
    except OverflowError:
        raise ValueError(f"{what} is beyond 2^31 nats: leave it out to make a rule hard") from None
    if allow_inf and number == math.inf:
        return HARD
    if math.isfinite(number) and abs(number) * UNITS_PER_NAT > LIMIT:
        way = "; leave it out to make a rule hard" if allow_inf else ""
        raise ValueError(f"{what} is {number:g}, beyond 2^31 nats: give a smaller number{way}")
    units = int(snap(number, what)) if math.isfinite(number) else 0
    if not math.isfinite(number):
        raise ValueError(f"{what} is {number}: give a finite number of nats")
    if units == 0:
        raise ValueError(
            f"{what} is {number:g} nats, which rounds to 0 on the score grid of 2^-20 nats; remove it"
        )
    return units


def nats(units: int | np.integer[Any]) -> float:
    return -math.inf if is_forbidden(units) else int(units) / UNITS_PER_NAT


def all_nats(units: Grid) -> Floats:
    return np.where(is_forbidden(units), -np.inf, units / UNITS_PER_NAT)


def is_forbidden(units: Any) -> Any:
    return units < FORBIDDEN // 2


def violation_costs(violations: Grid, penalty: int) -> Grid:
    """Costs of violations in grid units, elementwise; `HARD` for any number of violations of a hard rule."""
    return np.where(violations > 0, HARD, 0) if penalty == HARD else penalty * violations


def add(*terms: Grid) -> Grid:
    """Saturating sum of broadcast grid arrays."""
    total = np.asarray(terms[0], np.int64)
    for term in terms[1:]:
        total = total + term
        total = np.where(is_forbidden(total), FORBIDDEN, total)
    return total


def check_total(terms: list[tuple[str, Grid, int | Grid]], extra: int = 0, cause: str = "") -> None:
    """Raise ValueError if terms (name, array, number of entries that a labelling uses) plus `extra` units could exceed 2^31 nats."""
    quick = extra
    for _, array, times in terms:
        quick += int(np.abs(array).max(initial=0)) * (times if isinstance(times, int) else int(times.sum()))
    if quick <= LIMIT:
        return
    total = 0
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
            largest = (peak, f"{name}{place(size == peak)}")
    if total + extra <= LIMIT:
        return
    if extra > total:
        raise ValueError(
            f"penalties and scores could add up to {_shown(total + extra)} nats, more than 2^31; {cause}"
        )
    raise ValueError(
        f"the scores could add up to {_shown(total + extra)} nats, more than 2^31; the largest entry is "
        f"{largest[1]} = {_shown(largest[0])} in size. Rescale the scores; use -inf (null in JSON) to forbid"
    )


def _shown(units: int) -> str:
    return f"{units / UNITS_PER_NAT:.4g}"
