"""Settings of a run for all commands: quiet or not, colour, and the form of messages."""

import os
import sys

quiet = False
"""Whether progress, notices and remarks are not shown; errors are always shown."""
log_json = "--log-json" in sys.argv
"""Whether lines on standard error are JSON."""
_color: bool | None = None


def configure(*, quiet_run: bool = False, color: bool | None = None, json_lines: bool = False) -> None:
    """Set all; with None for colour, the environment decides."""
    global quiet, _color, log_json
    quiet, _color, log_json = quiet_run, color, json_lines


def uses_color() -> bool:
    """Whether output may have colours and styles: not with `--no-color`, or where `NO_COLOR` has a value."""
    return not os.environ.get("NO_COLOR") if _color is None else _color
