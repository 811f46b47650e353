"""The time limit of a call."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from formulations.time_limits import time_limit

STRETCH = 0.005
"""Seconds that a search spends in a kernel between two readings of the clock; the call itself takes less than 2 % of that."""


class Deadline:
    """A time limit in seconds from now, or None, by a given clock; excluded seconds postpone the end."""

    def __init__(self, limit: float | None = None, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or time.perf_counter
        self.began = self.clock()
        self.limit = math.inf if limit is None else limit
        self.excused = 0.0

    def excuse(self, seconds: float) -> None:
        """Exclude some seconds, such as those in which the process of a user's decoder starts."""
        self.excused += seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without excluded ones."""
        return self.clock() - self.began - self.excused

    @property
    def remaining(self) -> float | None:
        """Seconds left, not below 0; None without a limit."""
        return None if self.limit == math.inf else max(0.0, self.limit - self.elapsed)

    @property
    def passed(self) -> bool:
        return self.elapsed >= self.limit

    def as_limit(self) -> AbstractContextManager[None]:
        """Work inside raises OutOfTime soon after the end."""
        return time_limit(lambda: self.passed, lambda: self.remaining)
