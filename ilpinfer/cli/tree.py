"""Commands and groups of commands: options before a command, and help in groups, with examples."""

import inspect
import re
from typing import Any, get_args

from typer.core import TyperCommand, TyperGroup

from ilpinfer.cli.failure import Failure

SHARED = ("quiet", "no_color", "log_json", "as_json")
"""Parameters of the program that are also parameters of its commands."""
COMMON = "Common options"
"""The group of the common options, the last group of the help of a command."""


class Conversion:
    """Keeps values that are missing or have the type of their parameter; typer converts others with pydantic, which loads slowly."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind = param.type_descriptor.annotation
        several = isinstance(value, list | tuple)
        kinds = {type(each) for each in (value if several else [value])}
        if value is None or kinds <= {*get_args(kind), kind}:
            return list(value) if several else value
        return type(param).get_runtime_param(param).coerce(value, param=param, ctx=ctx)


class Converting:
    """A command whose parameters, including help, are converted this way."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            each.get_runtime_param = Conversion
        return parameters


class Command(Converting, TyperCommand):
    """A command that also accepts the options before its name."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        for each in self.params:
            if not each.default and (each.default == "" or getattr(each, "is_flag", False)):
                each.show_default = False  # type: ignore[attr-defined]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        before = ctx.find_root().params
        ctx.default_map = {name: before[name] for name in SHARED if before.get(name) is not None}
        rest = super().parse_args(ctx, args)
        for each in self.params:
            value = ctx.params.get(each.name)
            texts = value if isinstance(value, list | tuple) else [value]
            if "" in texts and value != each.default and not ctx.resilient_parsing:
                argument = each.param_type_name == "argument"
                raise Failure(f"{each.metavar if argument else each.opts[0]} is empty; give a value", 2)
        return rest

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line, with arguments without braces."""
        return [re.sub("[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options in their groups."""
        for title, rows in option_groups(self, ctx):
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_examples(self.epilog, formatter)


class CommandGroup(Converting, TyperGroup):
    """Commands in groups; without arguments, it shows its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ([] if ctx.resilient_parsing else ["--help"]))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Commands by group, then options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            title = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(title, []).append((name, command.get_short_help_str(200)))
        for title, rows in [*sections.items(), *option_groups(self, ctx)]:
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_examples(self.epilog, formatter)


def option_groups(command: Any, context: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Group titles with names and texts of their arguments and options; common options come last."""
    result: dict[str, list[tuple[str, str]]] = {}
    for each in command.get_params(context):
        record = each.get_help_record(context)
        if record is not None:
            argument = each.param_type_name == "argument"
            title = "Arguments" if argument else getattr(each, "rich_help_panel", None)
            title = title or (COMMON if each.name == "help" else "Options")
            result.setdefault(title, []).append((names(each, record[0]), record[1]))
    order = {"Arguments": 0, "Options": 1, COMMON: 3}
    return sorted(result.items(), key=lambda group: order.get(group[0], 2))


def names(parameter: Any, shown: str) -> str:
    """The names of a parameter in the help, `--[no-]trace` for an option and its negation."""
    if parameter.param_type_name == "argument":
        return f"{parameter.metavar}{'...' * (parameter.nargs != 1)}"
    for opposite in parameter.secondary_opts:
        yes = f"--{opposite.removeprefix('--no-')}"
        if opposite.startswith("--no-") and yes in parameter.opts:
            return ", ".join(f"--[no-]{opposite[5:]}" if name == yes else name for name in parameter.opts)
    return shown


def examples(epilog: str | None) -> list[str]:
    return inspect.cleandoc(epilog).splitlines() if epilog else []


def write_examples(epilog: str | None, formatter: Any) -> None:
    lines = examples(epilog)
    if lines:
        with formatter.section("Examples" if len(lines) > 1 else "Example"):
            formatter.write("".join(f"{'':>{formatter.current_indent}}{line}\n" for line in lines))
