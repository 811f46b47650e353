"""Time limits for the work of stating a problem, which callers set and long loops look at."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_passed: ContextVar[Callable[[], bool] | None] = ContextVar("passed", default=None)
_left: ContextVar[Callable[[], float | None] | None] = ContextVar("left", default=None)


class OutOfTime(Exception):
    """The time limit passed while a problem was stated."""


@contextmanager
def until(passed: Callable[[], bool], remaining: Callable[[], float | None] | None = None) -> Iterator[None]:
    """Work inside raises OutOfTime soon after `passed()` becomes true.

    Parameters
    ----------
    passed : whether the limit has passed
    remaining : seconds left, None for no limit; for work that is given its time beforehand
    """
    token, other = _passed.set(passed), _left.set(remaining)
    try:
        yield
    finally:
        _passed.reset(token)
        _left.reset(other)


def check() -> None:
    """Raise OutOfTime where a limit is set and has passed."""
    passed = _passed.get()
    if passed is not None and passed():
        raise OutOfTime


def left() -> float:
    """Seconds left of the limit; inf where none is set or nobody knows."""
    remaining = _left.get()
    seconds = None if remaining is None else remaining()
    return math.inf if seconds is None else seconds
