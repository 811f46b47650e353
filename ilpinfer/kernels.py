"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

from numba import njit


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for plain arrays: cached on disk where that can be written, and free of the interpreter lock while it runs."""
    try:
        compiled: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write
        compiled = njit(nogil=True)(function)
    return compiled


def place() -> str | None:
    """The folder where compiled kernels are kept; None where there is none that can be written."""
    from ilpinfer.exact.guide_kernels import complete

    cache: Any = complete
    return getattr(cache._cache, "cache_path", None)
