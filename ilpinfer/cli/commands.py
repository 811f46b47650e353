"""The commands by group. The module and the function of a command have its name, and are loaded when it runs."""

from importlib import import_module
from typing import Any

from typer.core import TyperCommand

from ilpinfer.cli.command import build
from ilpinfer.cli.tree import Group

GROUPS = {
    "Decode": {
        "demo": "Run an embedded example: train an HMM on generated résumé items, and compare exact and heuristic decoding.",
        "decode": "Label sequences.",
        "reprocess": "Label a corpus of any size into Parquet files.",
    },
    "Models and rules": {
        "train": "Train a model on labelled sequences, and evaluate it.",
        "codl": "Train a model on few labelled sequences, many unlabelled sequences, and rules (constraint-driven learning).",
        "mine": "Mine soft rules from labelled sequences.",
        "learn": "Learn the penalties of rules from labelled sequences, by their effect on held-out labellings.",
        "check": "Check rules on gold labels: how often each applies, holds and is broken, with examples and a suggested penalty; "
        "without GOLD, say what each rule becomes.",
    },
    "Compare": {
        "compare": "Decode with several methods, and report the gap of each to the proved optimum; INPUT may be the folder of an earlier "
        "run.",
        "evaluate": "Evaluate predicted labels against gold labels: fields, tokens, whole sequences and confusions.",
    },
    "Programs and proofs": {
        "export": "Write the integer program of each sequence for other solvers, with named columns and rows; or check their solutions.",
        "reference": "Make and verify reference solutions: problems with their optima, in files that contain the proof.",
    },
    "Services and tools": {
        "serve": "Serve decoding over HTTP, with a deadline for each request.",
        "methods": "List the decoding methods, exact and heuristic, with their options.",
        "convert": "Convert labelled sequences, or write predicted labels into the documents that they are about.",
    },
}
"""The first sentence of the help of each command, by which the program lists it."""


def load(name: str) -> Any:
    """A command with its options; its module is imported now."""
    work = getattr(import_module(f"ilpinfer.cli.{name}"), name)
    return work if isinstance(work, Group) else build(name, work)


class Program(Group):
    """The commands by their names and summaries; the one that runs is loaded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for title, summaries in GROUPS.items():
            for name, summary in summaries.items():
                self.add_command(TyperCommand(name, help=summary, rich_help_panel=title))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(name), rest  # type: ignore[arg-type]
