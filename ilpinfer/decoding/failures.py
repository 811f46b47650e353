"""Solutions that represent errors in decoding."""

import math
import time
from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args, overload

from formulations.arguments import choice
from ilpinfer.core.solution import Solution, Status
from ilpinfer.errors import describe

Decoded = TypeVar("Decoded")
Kind = TypeVar("Kind", bound=Solution)
OnError = Literal["raise", "row"]
"""An error is raised, or a solution takes its place."""


def check_on_error(on_error: str) -> None:
    """Raise ValueError for a value that is no `OnError`."""
    choice(on_error, "on_error", get_args(OnError))


def attempt(
    call: Callable[[], Decoded], on_error: OnError, failed: Callable[[Exception, float], Decoded]
) -> Decoded:
    """The value of a call; with `on_error="row"`, for an error, the result of `failed` for the error and the seconds
    until then.
    """
    began = time.perf_counter()
    try:
        return call()
    except Exception as error:
        if on_error == "raise":
            raise
        return failed(error, time.perf_counter() - began)


@overload
def failure(error: BaseException, method: str, **fields: Any) -> Solution: ...


@overload
def failure(error: BaseException, method: str, kind: type[Kind], **fields: Any) -> Kind: ...


def failure(error: BaseException, method: str, kind: type[Solution] = Solution, **fields: Any) -> Solution:
    """A solution of status "unknown" with the message and type of an error; `fields` are others of its class."""
    reason, name = describe(error), type(error).__name__
    nothing: tuple[Any, ...] = (Status.UNKNOWN, -math.inf, -math.inf, 0.0, 0.0, {}, math.inf, method)
    known: dict[str, Any] = {"reason": reason, "error": name, **fields}
    return kind(*nothing, **known)
