"""A Sphinx extension: the line `<!-- commands -->` of a page becomes the reference of all commands, made from the code."""

import re
from collections.abc import Iterator
from typing import Any

from typer import Context

from ilpinfer.cli.app import GROUPS, group
from ilpinfer.cli.tree import CommandGroup, examples, option_groups

MARK = "<!-- commands -->"


def markdown() -> str:
    """The program's options and its commands, in their groups."""
    tree = group()
    context = Context(tree, info_name="ilpinfer")
    lines = ["### ilpinfer", "", *_usage(tree, context), *_options(tree, context)]
    for title, summaries in GROUPS.items():
        lines += [f"### {title}", ""]
        for name in summaries:
            lines += _command(tree.commands[name], context, 4)
    return "\n".join(lines)


def _command(command: Any, parent: Context, level: int) -> Iterator[str]:
    context = Context(command, info_name=command.name, parent=parent)
    yield from [f"{'#' * level} {context.command_path}", "", text(command.help or ""), ""]
    yield from _usage(command, context)
    if command.epilog:
        shown = examples(command.epilog)
        yield from [
            "Examples:" if len(shown) > 1 else "Example:",
            "",
            "```console",
            *(f"$ {each}" for each in shown),
            "```",
            "",
        ]
    yield from _options(command, context)
    if isinstance(command, CommandGroup):
        for each in command.commands.values():
            yield from _command(each, context, level + 1)


def _usage(command: Any, context: Context) -> list[str]:
    return ["```text", re.sub(r"\s+", " ", command.get_usage(context).removeprefix("Usage: ")), "```", ""]


def _options(command: Any, context: Context) -> Iterator[str]:
    """Arguments and options as definition lists; the common ones are shown once, for the program."""
    program = context.parent is None
    for title, rows in option_groups(command, context):
        if title != "Common options" or program:
            yield from [f"**{title}**", ""]
            for name, help_text in rows:
                yield from [f"`{name}`", f": {text(help_text)}", ""]


def text(value: str) -> str:
    """A text of the program as Markdown: code and names of options are code, and nothing else is markup."""
    marked = re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)(?![\w`])", r"`\1`", " ".join(value.split()))
    parts = re.split(r"(`[^`]*`)", marked)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_\[\]<>$#|{}])", r"\\\1", part) for part in parts
    )


def _insert(app: Any, page: str, source: list[str]) -> None:
    source[0] = source[0].replace(MARK, markdown()) if MARK in source[0] else source[0]


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True}
