"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for plain arrays: cached on disk, and free of the interpreter lock while it runs."""
    compiled: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return compiled
