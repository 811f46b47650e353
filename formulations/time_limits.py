"""Time limits of compilation: callers set a limit, long loops check it."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Limit = tuple[
    Callable[[], bool], Callable[[], float | None]
]  # whether the limit has passed, and seconds left if known
_limit: ContextVar[Limit | None] = ContextVar("limit", default=None)


class OutOfTime(Exception):
    """The time limit passed while a problem was compiled."""


@contextmanager
def time_limit(
    is_over: Callable[[], bool], remaining: Callable[[], float | None] = lambda: None
) -> Iterator[None]:
    """Work inside raises OutOfTime soon after `is_over()` becomes true, or if `remaining()` seconds cannot suffice."""
    before = _limit.set((is_over, remaining))
    try:
        yield
    finally:
        _limit.reset(before)


def check(needed: float = 0.0) -> None:
    """Raise OutOfTime if a limit is set, and has passed or leaves fewer seconds than needed."""
    limit = _limit.get()
    if limit is not None and (limit[0]() or seconds_left() < needed):
        raise OutOfTime


def seconds_left() -> float:
    """Seconds left; inf if no limit is set, or its end is unknown."""
    limit = _limit.get()
    seconds = None if limit is None else limit[1]()
    return math.inf if seconds is None else seconds
