"""Settings of one run that every command has: how much it says, and whether in colour."""

import os

quiet = False
"""Whether progress, notices and remarks are left out; errors are always said."""
_color: bool | None = None


def configure(*, quiet_run: bool = False, color: bool | None = None) -> None:
    """Set both; colour is None where the environment decides."""
    global quiet, _color
    quiet, _color = quiet_run, color


def colored() -> bool:
    """Whether output may have colours and styles: not with `--no-color`, or where `NO_COLOR` has a value."""
    return not os.environ.get("NO_COLOR") if _color is None else _color
