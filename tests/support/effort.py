"""Numbers of examples and time limits of tests."""

import os

STRICT = bool(os.environ.get("ILPINFER_STRICT"))
"""Whether tests have all their examples, as with `make strict`."""
QUIET = bool(os.environ.get("ILPINFER_QUIET"))
"""Whether the machine does nothing else, so that time limits are kept to the letter."""
SLACK = 60.0
"""Seconds by which a busy machine may exceed a limit."""


def at_most(seconds: float) -> float:
    return seconds if QUIET else seconds + SLACK


def examples(number: int) -> int:
    """The number of random examples, of at most so many."""
    return number if STRICT else max(5, number // 8)
