"""The program: commands in groups, and options before a command. The module and the function of a command have its name."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from ilpinfer import __version__
from ilpinfer.cli import settings, signals
from ilpinfer.cli.command import LogJson, NoColor, Quiet, build, set_up
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.tree import CommandGroup

GROUPS = {
    "Decode": {
        "demo": "Run a built-in example: train an HMM on generated résumé items, and compare exact and heuristic decoding.",
        "decode": "Label sequences.",
        "reprocess": "Label a corpus of any size into Parquet files.",
    },
    "Models and rules": {
        "train": "Train a model on labelled sequences, and evaluate it.",
        "codl": "Train a model on few labelled sequences, many unlabelled sequences, and rules (constraint-driven learning).",
        "mine": "Mine soft rules from labelled sequences.",
        "learn": "Learn rules, penalties and model scores from labelled sequences; held-out sequences decide which are best.",
        "check": "Check rules on gold labels: how often each applies, holds and is broken, with examples and a suggested penalty; "
        "without GOLD, show the kind and the size of each rule.",
    },
    "Compare": {
        "compare": "Decode with several methods, and report how far each stays below the proved optimum; INPUT may be the folder of an earlier "
        "run.",
        "evaluate": "Evaluate predicted labels against gold labels: fields, tokens, whole sequences and confusions.",
    },
    "Programs and proofs": {
        "export": "Write the integer program of each sequence for other solvers, with named columns and rows; or check their solutions.",
        "reference": "Make and verify references: problems with their optimal labellings and the proofs, in one file.",
    },
    "Services and tools": {
        "serve": "Serve decoding over HTTP, with a deadline for each request.",
        "methods": "List the decoding methods, exact and heuristic, with their options.",
        "convert": "Convert labelled sequences, or write predicted labels into their documents.",
    },
}
"""The first sentence of the help of each command, by which the program lists it."""


def load(name: str) -> Any:
    """A command with its options; its module is imported now."""
    work = getattr(import_module(f"ilpinfer.cli.{name}"), name)
    return work if isinstance(work, CommandGroup) else build(name, work)


class Commands(CommandGroup):
    """The commands by their names and summaries; the one that runs is loaded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for title, summaries in GROUPS.items():
            for name, summary in summaries.items():
                self.add_command(TyperCommand(name, help=summary, rich_help_panel=title))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(name), rest  # type: ignore[arg-type]


app = typer.Typer(
    name="ilpinfer",
    cls=Commands,
    help="Exact, constrained inference for sequence models: from scores and rules to the provably best labelling.",
    epilog="ilpinfer demo\nilpinfer decode scores.jsonl --rules citations\nilpinfer decode --help",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _program(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the versions of ilpinfer, its libraries and the solvers."),
    ] = False,
    as_json: Annotated[
        bool | None, typer.Option("--json", help="Print results as JSON, also those of --version.")
    ] = None,
    quiet: Quiet = None,
    no_color: NoColor = None,
    log_json: LogJson = None,
) -> None:
    set_up(quiet, no_color, log_json)
    if version:
        _show_versions(bool(as_json))
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def versions() -> dict[str, Any]:
    """Versions of ilpinfer, Python, numerical libraries and solvers."""
    import platform
    from importlib.metadata import version

    from ilpinfer.system.solver_versions import VERSIONS

    solvers = {name: find() for name, find in VERSIONS.items()}
    return {
        "ilpinfer": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "solvers": solvers,
    }


def _show_versions(as_json: bool) -> None:
    found = versions()
    if as_json:
        from ilpinfer.cli.screen import print_json

        print_json(found)
        return
    solvers = found.pop("solvers")
    for text in (*(f"{name} {number}" for name, number in found.items()), *solvers.values()):
        print(text)


def group() -> Any:
    """The program with all commands loaded, for generated documentation."""
    program: Any = typer.main.get_command(app)
    program.commands = {name: load(name) for summaries in GROUPS.values() for name in summaries}
    return program


def run(arguments: Sequence[str]) -> None:
    """Parse and run; Failure for invalid arguments."""
    settings.configure(json_lines="--log-json" in arguments)  # for errors of arguments
    signals.arguments = tuple(arguments)
    try:
        code = typer.main.get_command(app)(list(arguments), prog_name="ilpinfer", standalone_mode=False)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        command = f"{context.command_path} " if context is not None else "ilpinfer "
        text = error.format_message().rstrip()
        end = "" if text.endswith((".", "?")) else "."
        raise Failure(f"{text}{end} See {command}-h", 2) from None
    if code == 130:
        raise KeyboardInterrupt
    if code:
        raise SystemExit(code)
