"""What a service takes on."""

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Limits:
    """The largest request, and how long it may take.

    Parameters
    ----------
    deadline : seconds that a request has from its arrival where it does not say so itself
    longest_deadline : seconds that a request may ask for
    queue : requests that wait for a worker; more are refused
    body : bytes of a request
    tokens : of a sequence
    sequences : of a batch
    labels : of scores
    top : labellings of a sequence

    Raises
    ------
    ValueError
        for numbers that make no sense.
    """

    deadline: float = 1.0
    longest_deadline: float = 30.0
    queue: int = 1000
    body: int = 4 * 2**20
    tokens: int = 1000
    sequences: int = 256
    labels: int = 200
    top: int = 50

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.type is float:
                if not 0 < value < math.inf:
                    raise ValueError(f"{each.name} is {value!r}; expected seconds above 0")
            elif type(value) is not int or value < 1:
                raise ValueError(f"{each.name} is {value!r}; expected a whole number from 1")
        if self.deadline > self.longest_deadline:
            raise ValueError(
                f"deadline is {self.deadline:g} s, beyond the longest_deadline of {self.longest_deadline:g} s; "
                "raise that, or lower the deadline"
            )
