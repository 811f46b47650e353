"""Stack levels of warnings that refer to a line of the user's program."""

import sys

PACKAGES = ("formulations", "ilpinfer")


def stack_level() -> int:
    """The `stacklevel` with which `warnings.warn`, called by the same function, names the first caller outside the packages."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in PACKAGES:
        level, frame = level + 1, frame.f_back
    return level
