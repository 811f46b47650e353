"""A command of a function: its parameters are arguments and options, and a record among them stands for its fields."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, getdoc, signature
from typing import Annotated, Any, TypeVar, get_args

import typer

from ilpinfer.cli import settings
from ilpinfer.cli.tree import COMMON, Command

Work = TypeVar("Work", bound=Callable[..., None])

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
LogJson = Annotated[
    bool | None,
    typer.Option(
        "--log-json/--no-log-json",
        help="Write progress, notices and errors to standard error as JSON lines, and a summary as the last line.",
        rich_help_panel=COMMON,
    ),
]
COMMON_OPTIONS = {
    "quiet": Quiet,
    "no_color": NoColor,
    "log_json": LogJson,
}
"""Annotations of the options of all commands."""


def command(*examples: str) -> Callable[[Work], Work]:
    """Declare a function as the work of a command; its help is the first paragraph of the docstring, followed by examples."""

    def declare(work: Work) -> Work:
        work.__dict__["examples"] = examples
        return work

    return declare


def build(name: str, work: Callable[..., None]) -> Any:
    """The command of a function that `command` declares."""

    def run(**values: Any) -> None:
        from formulations.score_numbers import OneNotice

        set_up(values["quiet"], values["no_color"], values["log_json"])
        with OneNotice(everywhere=True):
            _call(work, values)

    added = [
        Parameter(each, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for each, annotation in COMMON_OPTIONS.items()
    ]
    parameters = [*_options(work), *added]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__dict__["__signature__"] = Signature(parameters)
    text = " ".join((getdoc(work) or "").partition("\n\n")[0].split())
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    epilog = "\n".join(work.__dict__["examples"])
    app.command(name, cls=Command, help=text, epilog=epilog)(run)
    return typer.main.get_command(app)


def common(options: Any, record: type[Any]) -> dict[str, Any]:
    """The given values of options that are also fields of another record."""
    values = {each.name: getattr(options, each.name, None) for each in fields(record)}
    return {name: value for name, value in values.items() if value is not None}


def set_up(quiet: bool | None, no_color: bool | None, log_json: bool | None) -> None:
    """Set verbosity, format and colour of the messages of this run."""
    color = None if no_color is None else not no_color
    json_lines = settings.log_json if log_json is None else log_json
    settings.configure(quiet_run=bool(quiet), color=color, json_lines=json_lines)


def _options(work: Callable[..., Any]) -> Iterator[Parameter]:
    """The parameters of a function or record, with records replaced by their fields; repeatable texts default to ()."""
    declared = fields(work) if is_dataclass(work) else ()
    own = {each.name: each.metadata["option"] for each in declared if "option" in each.metadata}
    for each in signature(work).parameters.values():
        if info := own.get(each.name):
            each = each.replace(annotation=Annotated[each.annotation, info])
        if is_dataclass(each.annotation):
            yield from _options(each.annotation)  # type: ignore[arg-type]
        elif each.default == ():
            several = Annotated[list[str] | None, get_args(each.annotation)[1]]
            yield each.replace(kind=Parameter.KEYWORD_ONLY, default=None, annotation=several)
        else:
            yield each.replace(kind=Parameter.KEYWORD_ONLY)


def _call(work: Callable[..., Any], values: dict[str, Any]) -> Any:
    """Call a function or record with the values for its parameters."""
    given = {}
    for name, each in signature(work).parameters.items():
        if is_dataclass(each.annotation):
            given[name] = _call(each.annotation, values)  # type: ignore[arg-type]
        elif name in values:
            given[name] = (values[name] or ()) if each.default == () else values[name]
    return work(**given)
