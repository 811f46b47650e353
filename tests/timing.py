"""Time limits in tests: strict on a quiet machine, and only a guard against hanging on a busy one."""

import os

STRICT = bool(os.environ.get("ILPINFER_STRICT"))
"""Whether the machine is quiet, as `make strict` supposes."""
SLACK = 60.0
"""Seconds by which a busy machine may pass a limit."""


def at_most(seconds: float) -> float:
    """The seconds that something may take."""
    return seconds if STRICT else seconds + SLACK
