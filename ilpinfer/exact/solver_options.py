"""Options of solvers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from formulations.messages import brief
from ilpinfer.solvers.answer import Choices

NAME = re.compile(r"[\w/]+")


@dataclass(frozen=True)
class SolverOptions:
    """Parameters of the solver by its own names, None for its default, in place of those that the toolkit sets; and a file to which what it prints is appended."""

    solver_options: Mapping[str, Any] | None = None
    solver_log: str | Path | None = None

    def __post_init__(self) -> None:
        _check_options(self.solver_options)
        if not isinstance(self.solver_log, str | Path | None):
            raise ValueError(f"solver_log is {brief(self.solver_log)}; expected the path of a file")

    @cached_property
    def choices(self) -> Choices:
        """Options and log for the solver; OSError if the log cannot be written."""
        log = "" if self.solver_log is None else str(Path(self.solver_log).absolute())
        if log:
            Path(log).open("a").close()
        return Choices(dict(self.solver_options or {}), log)


def _check_options(options: Any) -> None:
    """Raise ValueError unless these are names with values that solvers accept."""
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise ValueError(f"solver_options is {brief(options)}; expected a mapping from names to values")
    for name, value in options.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"solver_options: {brief(name)} is no name of an option")
        for one in value if isinstance(value, list | tuple) else [value]:
            plain = isinstance(one, str | bool | int | float | None)
            if not plain or (isinstance(one, str) and not one.isprintable()):
                raise ValueError(
                    f"solver_options: {name} is {brief(value)}; expected a text, number, true or false"
                )
