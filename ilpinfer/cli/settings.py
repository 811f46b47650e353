"""Settings of a run for all commands: verbosity, colour, and format of messages."""

import os
import sys

quiet = False
"""Whether progress, notices and remarks are hidden; errors are always shown."""
log_json = "--log-json" in sys.argv
"""Whether lines on standard error are JSON."""
_color: bool | None = None


def configure(*, quiet_run: bool = False, color: bool | None = None, json_lines: bool = False) -> None:
    """Set all settings; with `color=None`, the environment decides."""
    global quiet, _color, log_json
    quiet, _color, log_json = quiet_run, color, json_lines


def uses_color() -> bool:
    """Whether output may have colours and styles: not with `--no-color`, or if `NO_COLOR` is not empty."""
    return not os.environ.get("NO_COLOR") if _color is None else _color
