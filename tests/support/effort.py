"""How much tests try, and how long they may take: more on a quiet machine, where `make strict` runs them."""

import os

STRICT = bool(os.environ.get("ILPINFER_STRICT"))
"""Whether the machine is quiet and there is time."""
SLACK = 60.0
"""Seconds by which a busy machine may pass a limit."""


def at_most(seconds: float) -> float:
    """The seconds that something may take."""
    return seconds if STRICT else seconds + SLACK


def examples(number: int) -> int:
    """How many random examples are tried, of so many in all."""
    return number if STRICT else max(10, 2 * number // 5)
