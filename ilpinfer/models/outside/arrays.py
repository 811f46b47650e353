"""Arrays of any library, and archives of arrays."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilpinfer.models.files import ModelError


def as_floats(value: Any, what: str, dimensions: int) -> NDArray[np.float64]:
    """Numbers of a list, a numpy array, a tensor, or anything with `__array__` or `numpy()`.

    Raises
    ------
    ValueError
        for what holds no numbers, another number of dimensions, NaN and +inf.
    """
    try:
        given = np.asarray(_without_graph(value))
        if np.iscomplexobj(given):
            raise TypeError("complex numbers have no order")
        array = given.astype(np.float64)
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
    """The value, as numbers in memory where it is a tensor that lives elsewhere or has a gradient."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(value, step):
            value = getattr(value, step)()
    return value


def read_archive(path: str | Path) -> dict[str, NDArray[Any]]:
    """Every array of an `.npz` file, by name.

    Raises
    ------
    ModelError
        for what is missing, no archive, damaged, or holds Python objects, which would have to be run.
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        if "Object arrays" in str(error):
            raise ModelError(f"{path}: holds Python objects; save texts as arrays of texts") from None
        raise ModelError(f"{path}: not an archive of arrays; write it with numpy.savez") from None
