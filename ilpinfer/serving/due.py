"""The time that a request has, from its arrival."""

import time
from dataclasses import dataclass

RESERVE = 0.02
"""Seconds kept back from the decoder, for what is left to do with its result."""
SHARE = 0.25
"""The most that is kept back, of what is left."""


@dataclass(frozen=True)
class Due:
    """A deadline that counts waiting too.

    Parameters
    ----------
    arrived : when the request came, in seconds of `time.perf_counter`
    seconds : that it has from then on
    """

    arrived: float
    seconds: float

    @property
    def left(self) -> float:
        """Seconds left; 0 or below when it has passed."""
        return self.arrived + self.seconds - time.perf_counter()


def for_decoding(left: float) -> float:
    """The seconds that a decoder gets of what is left."""
    return left - min(RESERVE, SHARE * left)
