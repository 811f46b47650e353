"""Limits of a check: steps and memory are requested before they are used."""

import time
from dataclasses import dataclass, field
from typing import Any

MAX_STEPS = 1_000_000_000
"""Steps that the check of a solution may take where nothing else is said: about half a minute."""
OVERHEAD = 2_000  # steps that a token of a pass costs, however few edges it has
RULE = 200  # steps to look at a rule for a leaf
SORT = 8  # steps for each number of an array that is sorted
MOST_CELLS = 2**24  # largest size of a temporary array
MOST_STORED = 2**26  # largest number of values of 8 bytes that a leaf may store


class CheckFailure(ValueError):
    """Error for a wrong claim, and for a proof that does not prove its claim."""


def need(holds: Any, otherwise: str) -> None:
    if not holds:
        raise CheckFailure(otherwise)


@dataclass
class Meter:
    """The work of one check so far, and its limits; `stored` counts the numbers that the present leaf keeps."""

    most: int = MAX_STEPS
    time_limit: float | None = None
    steps: int = 0
    stored: int = 0
    began: float = field(default_factory=time.monotonic)

    def need(self, steps: int) -> None:
        """Refuse a check that would take more further steps than are left."""
        enough = self.steps + steps <= self.most
        need(enough, f"the check would take more than {self.most} steps; allow more with max_steps")

    def spend(self, steps: int, tokens: int = 1) -> None:
        """Request steps of a pass over some tokens."""
        self.steps += int(steps) + OVERHEAD * tokens
        self.need(0)
        if self.time_limit is not None and time.monotonic() - self.began > self.time_limit:
            raise CheckFailure(f"the check takes longer than the time_limit of {self.time_limit:g} s")

    def keep(self, numbers: int) -> None:
        self.stored += int(numbers)
        need(self.stored <= MOST_STORED, f"leaf: more than {MOST_STORED} numbers would have to be stored")

    def make(self, numbers: int, what: str) -> None:
        """Request memory for a temporary array."""
        need(numbers <= MOST_CELLS, f"leaf: {what}: too many to check")
