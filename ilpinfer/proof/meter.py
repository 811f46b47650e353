"""Limits of a check: steps and memory are requested before they are used."""

import time
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

MAX_STEPS = 1_000_000_000
"""Steps that the check of a solution may take where nothing else is said: about half a minute."""
OVERHEAD = 2_000
"""Steps that a token of a pass costs, however few edges it has."""
RULE = 200
"""Steps to look at a rule for a leaf."""
MOST_CELLS = 2**24
"""Largest size of a temporary array."""
MOST_STORED = 2**26
"""Largest number of values of 8 bytes that a leaf may store."""


class CheckFailure(Exception):
    """Error for a wrong claim, and for a proof that does not prove its claim."""


def whole_numbers(values: Any, end: int, what: str) -> tuple[int, ...]:
    """The values, each of which must be a whole number from 0 and below `end`."""
    for value in values:
        if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) < end:
            raise CheckFailure(f"{value!r} is not a {what} from 0 to {end - 1}")
    return tuple(int(value) for value in values)


@dataclass
class Meter:
    """The account of one check.

    Parameters
    ----------
    most : int, default MAX_STEPS
        Steps that it may take; a step is about one edge of a pass, read by one machine.
    time_limit : float, optional
        Seconds that it may take; None for no limit.
    steps : int, default 0
        Taken so far.
    stored : int, default 0
        Numbers that the leaf at hand keeps.
    """

    most: int = MAX_STEPS
    time_limit: float | None = None
    steps: int = 0
    stored: int = 0
    began: float = field(default_factory=time.monotonic)
    way_out = "max_steps allows more"

    @property
    def left(self) -> int:
        """Steps that may still be taken."""
        return self.most - self.steps

    def spend(self, steps: int, tokens: int = 1) -> None:
        """Request steps of a pass over some tokens.

        Raises
        ------
        CheckFailure
            Where they are more than are left, or the time is up.
        """
        self.steps += int(steps) + OVERHEAD * tokens
        if self.steps > self.most:
            raise CheckFailure(f"the check would take more than {self.most} steps; {self.way_out}")
        if self.time_limit is not None and time.monotonic() - self.began > self.time_limit:
            raise CheckFailure(f"the check takes longer than the time_limit of {self.time_limit:g} s")

    def keep(self, numbers: int) -> None:
        """Request memory until the end of the leaf.

        Raises
        ------
        CheckFailure
            Where a leaf would keep more than `MOST_STORED` numbers.
        """
        self.stored += int(numbers)
        if self.stored > MOST_STORED:
            raise CheckFailure(f"leaf: more than {MOST_STORED} numbers would have to be kept")

    def make(self, numbers: int, what: str) -> None:
        """Request memory for a temporary array.

        Raises
        ------
        CheckFailure
            Where it would have more than `MOST_CELLS` numbers.
        """
        if numbers > MOST_CELLS:
            raise CheckFailure(f"leaf: {what}, too many to check")
