"""Time limits for compiling problems: callers set one, and long loops check it."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)
_remaining: ContextVar[Callable[[], float | None] | None] = ContextVar("remaining", default=None)


class OutOfTime(Exception):
    """The time limit passed while a problem was compiled."""


@contextmanager
def time_limit(
    is_over: Callable[[], bool], remaining: Callable[[], float | None] | None = None
) -> Iterator[None]:
    """Work inside raises OutOfTime soon after `is_over()` becomes true, or where `remaining()` seconds cannot suffice."""
    tokens = _is_over.set(is_over), _remaining.set(remaining)
    try:
        yield
    finally:
        _is_over.reset(tokens[0])
        _remaining.reset(tokens[1])


def check(needed: float = 0.0) -> None:
    """Raise OutOfTime where a limit is set, and has passed or leaves fewer seconds than needed."""
    is_over = _is_over.get()
    if is_over is not None and (is_over() or seconds_left() < needed):
        raise OutOfTime


def seconds_left() -> float:
    """Seconds left of the limit; inf where no limit is set, or its end is unknown."""
    remaining = _remaining.get()
    seconds = None if remaining is None else remaining()
    return math.inf if seconds is None else seconds
