"""Calls of kernels that may run in other threads: steps that yield them, and go on when they are done."""

from collections.abc import Callable, Generator
from typing import TypeVar

Result = TypeVar("Result")
Work = Callable[[], object]
Steps = Generator[Work, None, Result]
"""Yields one call at a time, and returns a result after the last of them."""


def finished(steps: Steps[Result]) -> Result:
    """The result, all calls made in this thread."""
    while True:
        try:
            work = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        work()
