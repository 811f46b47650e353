"""Time limits for the work of stating a problem, which callers set and long loops look at."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_passed: ContextVar[Callable[[], bool] | None] = ContextVar("passed", default=None)


class OutOfTime(Exception):
    """The time limit passed while a problem was stated."""


@contextmanager
def until(passed: Callable[[], bool]) -> Iterator[None]:
    """Work inside raises OutOfTime soon after `passed()` becomes true."""
    token = _passed.set(passed)
    try:
        yield
    finally:
        _passed.reset(token)


def check() -> None:
    """Raise OutOfTime where a limit is set and has passed."""
    passed = _passed.get()
    if passed is not None and passed():
        raise OutOfTime
