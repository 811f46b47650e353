"""Numbers of examples and time limits of tests: stricter with `make strict`, on a quiet machine."""

import os

STRICT = bool(os.environ.get("ILPINFER_STRICT"))
"""Whether tests run with `make strict`."""
SLACK = 60.0
"""Seconds by which a busy machine may exceed a limit."""


def at_most(seconds: float) -> float:
    """The time limit in seconds."""
    return seconds if STRICT else seconds + SLACK


def examples(number: int) -> int:
    """The number of random examples, of at most so many."""
    return number if STRICT else max(10, 2 * number // 5)
