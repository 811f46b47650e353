"""Calls of kernels in which several threads may take part: steps that yield them, and go on when they are done."""

from collections.abc import Callable, Generator
from typing import Any, TypeVar

import numpy as np

from ilpinfer.kernels.sharing import NEXT, settle

Result = TypeVar("Result")
NO_SHARE = np.zeros(0, np.int64)


class Work:
    """A call of a kernel that works through a number of pieces; made in several threads, it shares them out.

    Parameters
    ----------
    kernel : its last argument is a share, see `kernels.sharing`
    arguments : all the others
    number : of pieces
    """

    def __init__(self, kernel: Callable[..., object], arguments: tuple[Any, ...], number: int) -> None:
        self._kernel, self._arguments, self.number = kernel, arguments, number
        self.share = np.zeros(3, np.int64)

    def __call__(self) -> None:
        """Do what is left, as far as it is not being done in other threads."""
        self._kernel(*self._arguments, self.share)

    def stop(self) -> None:
        """Leave what was not begun."""
        self.share[NEXT] = self.number


Steps = Generator[Work, None, Result]
"""Yields one piece of work at a time, and returns a result after the last of them is done."""


def finished(steps: Steps[Result]) -> Result:
    """The result, all work done in this thread."""
    while True:
        try:
            work = next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        work()


def settled(work: Work, following: Work | None, others: int) -> bool:
    """Whether all of it is done, after a little patience with other threads: also until they have begun with the following."""
    share = NO_SHARE if following is None else following.share
    return bool(settle(work.share, work.number, share, others))
