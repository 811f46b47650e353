"""Registration of commands, with the options of all commands."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

from ilpinfer.cli import settings
from ilpinfer.cli.arguments import with_signature
from ilpinfer.cli.config import FILE_VARIABLE, NO_FILE_VARIABLE
from ilpinfer.cli.tree import COMMON, Command

Function = Callable[..., None]

Quiet = Annotated[
    bool | None,
    typer.Option(
        "--quiet/--no-quiet",
        "-q",
        help="Show no progress and no notices on standard error; errors remain.",
        rich_help_panel=COMMON,
    ),
]
NoColor = Annotated[
    bool | None,
    typer.Option(
        "--no-color/--color",
        help="Print without colors and styles, as with the environment variable NO_COLOR.",
        rich_help_panel=COMMON,
    ),
]
Config = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help=f"Read defaults of options from this file (environment variable {FILE_VARIABLE}); ilpinfer.toml or "
        "pyproject.toml of the working folder or of a folder above it if not given.",
        rich_help_panel=COMMON,
    ),
]
NoConfig = Annotated[
    bool | None,
    typer.Option(
        "--no-config",
        help=f"Read no file of defaults (environment variable {NO_FILE_VARIABLE}=1).",
        rich_help_panel=COMMON,
    ),
]
COMMON_OPTIONS: dict[str, Any] = {
    "quiet": Quiet,
    "no_color": NoColor,
    "config": Config,
    "no_config": NoConfig,
}
"""Annotation of each option of all commands."""


class Panel:
    """A group of commands under one title of the help.

    Parameters
    ----------
    title : of the group
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._entries: list[tuple[str, Function, str]] = []

    def command(self, name: str, *examples: str) -> Callable[[Function], Function]:
        """Add the decorated function as a command.

        Parameters
        ----------
        name : of the command
        examples : command lines for its help
        """

        def add(function: Function) -> Function:
            self._entries.append((name, with_common_options(function), "\n".join(examples)))
            return function

        return add

    def register(self, app: typer.Typer) -> None:
        """Add the commands of the group to an application."""
        for name, function, epilog in self._entries:
            app.command(name, cls=Command, epilog=epilog, rich_help_panel=self.title)(function)


def with_common_options(function: Function) -> Function:
    """The function with the common options, which set up the run and are not passed on."""
    own = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in signature(function).parameters.values()]

    @wraps(function)
    def run(**values: Any) -> None:
        common = {name: values.pop(name) for name in COMMON_OPTIONS}
        set_up(common["quiet"], common["no_color"])
        function(**values)

    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in COMMON_OPTIONS.items()
    ]
    return with_signature(run, [*own, *added])


def set_up(quiet: bool | None, no_color: bool | None) -> None:
    """Set the amount of messages of this run, and whether they have colour."""
    settings.configure(quiet_run=bool(quiet), color=None if no_color is None else not no_color)
