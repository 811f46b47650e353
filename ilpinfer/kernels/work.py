"""Calls of kernels in which several threads may take part: steps that yield them, and go on when they are done."""

from collections.abc import Callable, Generator
from typing import Any, Optional, TypeVar

import numpy as np

from ilpinfer.kernels.share import NEXT

Value = TypeVar("Value")
NO_SHARE = np.zeros(0, np.int64)


class Work:
    """A call of a kernel that works through a number of pieces; threads that make it at the same time share them.

    Parameters
    ----------
    kernel : its last argument is a share, from which each call takes the next piece until there is none left; returns whether
        it ended before, as it took long
    arguments : all the others
    number : of pieces
    """

    def __init__(self, kernel: Callable[..., object], arguments: tuple[Any, ...], number: int) -> None:
        self._kernel, self._arguments, self.number = kernel, arguments, number
        self.share = np.zeros(3, np.int64)

    def __call__(self) -> None:
        """Do all that no other thread has begun, in several calls where it takes long."""
        while self._kernel(*self._arguments, self.share):
            pass

    def helpers(self, threads: int) -> int:
        """The number of other threads that can take part."""
        return min(threads, self.number - 1)

    def wait(self, following: Optional["Work"], threads: int) -> bool:
        """Wait briefly for other threads; whether all work is done, and the threads have begun with the following work."""
        from ilpinfer.kernels.atomics import wait

        share, others = (NO_SHARE, 0) if following is None else (following.share, following.helpers(threads))
        return bool(wait(self.share, self.number, share, others))

    def stop(self) -> None:
        """Cancel all items that have not started."""
        self.share[NEXT] = self.number


Steps = Generator[Work, None, Value]
"""Yields one piece of work at a time, and returns a result after the last of them is done."""


def finished(steps: Steps[Value]) -> Value:
    """The result, all work done in this thread."""
    while True:
        try:
            work = next(steps)
        except StopIteration as end:
            result: Value = end.value
            return result
        work()
