"""Calls of kernels in which several threads may take part, and generators that yield such calls."""

from collections.abc import Callable, Generator
from typing import Any, Optional, TypeVar

import numpy as np

from ilpinfer.kernels.share import NEXT

Value = TypeVar("Value")
NO_SHARE = np.zeros(0, np.int64)


class Work:
    """A call of a kernel on a number of pieces of work; threads that make the call at the same time divide them.

    Parameters
    ----------
    kernel : its last argument is a share, from which each call takes the next piece until none is left; returns whether
        the call reached its limit of steps before
    arguments : all the others
    number : of pieces
    """

    def __init__(self, kernel: Callable[..., object], arguments: tuple[Any, ...], number: int) -> None:
        self._kernel, self._arguments, self.number = kernel, arguments, number
        self.share = np.zeros(3, np.int64)

    def __call__(self) -> None:
        """Do all pieces that no other thread has begun, in several calls if needed."""
        while self._kernel(*self._arguments, self.share):
            pass

    def helpers(self, threads: int) -> int:
        """The number of other threads that can take part."""
        return min(threads, self.number - 1)

    def wait(self, following: Optional["Work"], threads: int) -> bool:
        """Wait briefly until other threads are done and have begun with the following work; whether all of this work is
        done.
        """
        from ilpinfer.kernels.atomics import wait

        share, others = (NO_SHARE, 0) if following is None else (following.share, following.helpers(threads))
        return bool(wait(self.share, self.number, share, others))

    def stop(self) -> None:
        """Cancel all pieces that have not begun."""
        self.share[NEXT] = self.number


Steps = Generator[Work, None, Value]
"""Generator of calls, one at a time, which returns a result after the last call is done."""


def finished(steps: Steps[Value]) -> Value:
    """The result of steps; all work is done in this thread."""
    while True:
        try:
            work = next(steps)
        except StopIteration as end:
            result: Value = end.value
            return result
        work()
