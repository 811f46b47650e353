"""Deadlines of requests, which count from their arrival."""

import time
from dataclasses import dataclass

RESERVE = 0.02
"""Seconds that are reserved for sending an answer, and again for converting a solution to plain values."""
SHARE = 0.25
"""Largest fraction of the time that is reserved for each of them."""


@dataclass(frozen=True)
class RequestDeadline:
    """A deadline of some seconds after arrival, a time of `time.perf_counter`."""

    arrived: float
    seconds: float

    @property
    def left(self) -> float:
        """Seconds until the answer must be sent; 0 or below after that time."""
        return self.arrived + without_reserve(self.seconds) - time.perf_counter()


def without_reserve(seconds: float) -> float:
    return seconds - min(RESERVE, SHARE * seconds)
