"""The time that a request has, from its arrival."""

import time
from dataclasses import dataclass

RESERVE = 0.02
"""Seconds that an answer has for its way, and that the decoder leaves for writing it down."""
SHARE = 0.25
"""The most that is kept back for each of them, of what there is."""


@dataclass(frozen=True)
class RequestDeadline:
    """A deadline that counts waiting too.

    Parameters
    ----------
    arrived : float
        Time of arrival of the request, in seconds of `time.perf_counter`.
    seconds : float
        Seconds that the request has from then on.
    """

    arrived: float
    seconds: float

    @property
    def left(self) -> float:
        """Seconds until the answer has to be on its way; 0 or below when that has passed."""
        return self.arrived + without_reserve(self.seconds) - time.perf_counter()


def without_reserve(seconds: float) -> float:
    """The seconds, without those that are kept back."""
    return seconds - min(RESERVE, SHARE * seconds)
