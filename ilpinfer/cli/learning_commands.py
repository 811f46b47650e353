"""The commands that learn: rules, penalties and models; the work is imported when a command runs."""

from collections.abc import Callable, Mapping
from typing import Any

COMMANDS: Mapping[str, Callable[..., Any]] = {}
"""Functions by the names of their commands, in the order of the help."""
