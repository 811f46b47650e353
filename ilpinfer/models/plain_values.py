"""Checks of plain values of model files."""

from collections.abc import Callable
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Floats
from formulations.plain_values import kind_of as kind_of
from formulations.plain_values import strings
from formulations.plain_values import table as table
from formulations.plain_values import text as text

MOST_NUMBERS = 5 * 10**7
"""Largest number of entries of a table whose size is not bounded by the size of the file."""
MOST_COUNT = 2.0**53
"""Counts up to here are exact."""


def texts(value: Any, what: str) -> tuple[str, ...]:
    """Distinct texts."""
    result = strings(value, what)
    if len(set(result)) < len(result):
        raise ValueError(f"{what} has a text twice")
    return result


def label_set(body: dict[str, Any]) -> LabelSet:
    return LabelSet(texts(body["labels"], "labels"), text(body["scheme"], "scheme"))


def count(value: Any, what: str) -> float:
    """A number from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_COUNT:
        raise ValueError(f"{what} is {kind_of(value)}; expected a number from 0 to 2^53")
    return float(value)


def finite(value: Any, what: str) -> float:
    """A number up to 2^53 in size."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_COUNT:
        raise ValueError(f"{what} is {kind_of(value)}; expected a number up to 2^53 in size")
    return float(value)


def numbers(value: Any, shape: tuple[int, ...], what: str) -> Floats:
    """Finite numbers in nested lists of this shape."""
    return counts(value, shape, what, finite)


def counts(
    value: Any, shape: tuple[int, ...], what: str, each_of: Callable[[Any, str], float] = count
) -> Floats:
    """Numbers in nested lists of this shape; `each_of` checks each number, by default for a number from 0."""
    if not isinstance(value, list) or len(value) != shape[0]:
        result = f"a list of {len(value)}" if isinstance(value, list) else kind_of(value)
        raise ValueError(f"{what} is {result}; expected a list of {shape[0]}")
    if len(shape) == 1:
        return np.array([each_of(each, f"{what}[{at}]") for at, each in enumerate(value)], float)
    return np.array([counts(each, shape[1:], f"{what}[{at}]", each_of) for at, each in enumerate(value)])


def check_room(what: str, *sizes: int) -> None:
    """Raise ValueError for a table with too many entries."""
    entries = int(np.prod(np.array(sizes, dtype=object)))
    if entries > MOST_NUMBERS:
        raise ValueError(f"{what} would be a table of {' × '.join(map(str, sizes))} numbers; too large")
