"""Limits of a service, and deadlines of requests, which count from their arrival."""

import time
from dataclasses import dataclass, fields

from formulations.arguments import positive, whole

WORKERS = 2
"""Threads that decode, if not given."""


@dataclass(frozen=True)
class Limits:
    """Limits on the size and the time of requests, and on connections.

    Parameters
    ----------
    deadline : float, default 1.0
        Time limit in seconds from arrival, for requests without one.
    longest_deadline : float, default 30.0
        Largest time limit that a request may ask for, in seconds.
    queue : int, default 1000
        Largest number of requests that wait for a worker; further requests are refused.
    body : int, optional
        Largest body of a request in bytes.
    tokens : int, default 1000
        Largest number of tokens of a sequence.
    sequences : int, default 256
        Largest number of sequences of a batch.
    labels : int, default 200
        Largest number of labels of scores.
    top : int, default 50
        Largest number of labellings of a sequence.
    rule_text : int, optional
        Largest text of rules of a request in bytes; 0 to take none.
    headers : int, optional
        Largest size of the headers of a request in bytes.
    headers_time : float, default 10.0
        Seconds in which they must arrive.
    connections : int, default 1000
        Largest number of connections; beyond it, the one that has waited for its client the longest is closed.
    idle : int, default 500
        Largest number of connections without a request.
    idle_time : float, default 60.0
        Seconds that they are kept.

    Raises
    ------
    ValueError
        For numbers out of range.

    Examples
    --------
    >>> Limits(deadline=0.5).tokens
    1000
    """

    deadline: float = 1.0
    longest_deadline: float = 30.0
    queue: int = 1000
    body: int = 4 * 2**20
    tokens: int = 1000
    sequences: int = 256
    labels: int = 200
    top: int = 50
    rule_text: int = 64 * 2**10
    headers: int = 32 * 2**10
    headers_time: float = 10.0
    connections: int = 1000
    idle: int = 500
    idle_time: float = 60.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type is float:
                positive(value, each.name, "seconds")
            else:
                whole(value, each.name, 0 if each.name == "rule_text" else 1)
        if self.deadline > self.longest_deadline:
            raise ValueError(
                f"deadline is {self.deadline:g} s, beyond the longest_deadline of {self.longest_deadline:g} s; "
                "raise that, or lower the deadline"
            )


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
