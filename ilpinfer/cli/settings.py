"""Settings of a run for all commands: quiet or not, and colour."""

import os

quiet = False
"""Whether progress, notices and remarks are not shown; errors are always shown."""
_color: bool | None = None


def configure(*, quiet_run: bool = False, color: bool | None = None) -> None:
    """Set both; with None for colour, the environment decides."""
    global quiet, _color
    quiet, _color = quiet_run, color


def uses_color() -> bool:
    """Whether output may have colours and styles: not with `--no-color`, or where `NO_COLOR` has a value."""
    return not os.environ.get("NO_COLOR") if _color is None else _color
