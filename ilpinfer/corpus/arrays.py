"""Arrays of any library."""

from typing import Any

import numpy as np

from formulations.dtypes import Floats


def as_floats(value: Any, what: str, dimensions: int) -> Floats:
    """Numbers of a list, a numpy array, a tensor, or anything with `__array__` or `numpy()`."""
    try:
        array = np.asarray(_without_graph(value))
        if np.iscomplexobj(array):
            raise TypeError("complex numbers have no order")
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must hold numbers in rows of equal length: {error}") from None
    if array.ndim != dimensions:
        letters = ", ".join("TKK"[:dimensions]) if dimensions > 1 else "K,"
        hint = "; give one sequence at a time" if array.ndim == dimensions + 1 else ""
        raise ValueError(f"{what} has shape {array.shape}; expected ({letters}){hint}")
    bad = np.argwhere(np.isnan(array) | (array == np.inf))
    if len(bad):
        place = ", ".join(map(str, bad[0]))
        raise ValueError(
            f"{what}[{place}] is {array[tuple(bad[0])]}: give a finite number, or -inf to forbid"
        )
    return array


def _without_graph(value: Any) -> Any:
    """The value as numbers in memory, where it is a tensor that lives elsewhere or has a gradient."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(value, step):
            value = getattr(value, step)()
    return value
