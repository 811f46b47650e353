"""The commands by name: the function of each, its group in the help, and its first sentence."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ilpinfer.cli.command import build
from ilpinfer.cli.tree import Group


class CommandEntry(NamedTuple):
    """A command: its name, the module and function of its work, the title of its group, and the first sentence of its help."""

    name: str
    place: str
    panel: str
    summary: str

    def load(self) -> Any:
        """The command; its module is imported now."""
        module, _, name = self.place.partition(":")
        work = getattr(import_module(f"ilpinfer.cli.{module}"), name)
        return work if isinstance(work, Group) else build(self.name, self.panel, work)


class Commands(Mapping[str, Any]):
    """Commands by name, loaded when they are asked for."""

    def __init__(self, entries: Sequence[CommandEntry]) -> None:
        self.entries = {entry.name: entry for entry in entries}
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self.entries[name].load()
        return self._loaded[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The command; errors of its module are raised."""
        return self[name] if name in self.entries else default

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def _read(table: str) -> Iterator[CommandEntry]:
    """The entries of a table: a line for each command, below the title of its group."""
    panel = ""
    for line in table.strip().splitlines():
        name, *others = (cell.strip() for cell in line.split("|"))
        if others:
            yield CommandEntry(name, others[0], panel, others[1])
        else:
            panel = name


REFERENCE_TABLE = """
Commands
  make     | referencing:make_references         | Decode each sequence, and write it with all optima, the next best score, and proofs.
  verify   | referencing:verify_references       | Verify references.
"""
TABLE = """
Decode
  demo            | demo:demo                  | Run an embedded example: train an HMM on generated résumé items, and compare exact and heuristic decoding.
  decode          | decoding:decode            | Label sequences.
  reprocess       | reprocessing:reprocess     | Label a corpus of any size into Parquet files.
Models and rules
  train           | training:train             | Train a model on labelled sequences, and evaluate it.
  codl            | codl:codl                  | Train a model on few labelled sequences, many unlabelled sequences, and rules (constraint-driven learning).
  mine            | mining:mine                | Mine soft rules from labelled sequences.
  learn           | learning:learn             | Learn the penalties of rules from labelled sequences, by their effect on held-out labellings.
  check           | checking:check             | Check rules on gold labels: how often each applies, holds and is broken, with examples and a suggested penalty; without GOLD, say what each rule becomes.
Compare and explain
  compare         | comparing:compare          | Decode with several methods, and report the gap of each to the proved optimum; INPUT may be the folder of an earlier run.
  evaluate        | evaluating:evaluate        | Evaluate predicted labels against gold labels: fields, tokens, whole sequences and confusions.
Programs and proofs
  export          | exporting:export           | Write the integer program of each sequence for other solvers, with named columns and rows; or check their solutions.
  reference       | commands:REFERENCES        | Make and verify reference solutions: problems with their optima, in files that contain the proof.
Services and tools
  serve           | serving:serve              | Serve decoding over HTTP, with a deadline for each request.
  methods         | methods:show_methods       | List the decoding methods, exact and heuristic, with their options.
  convert         | converting:convert         | Convert labelled sequences, or write predicted labels into the documents that they are about.
"""
REFERENCES = Group(
    name="reference",
    commands=Commands(list(_read(REFERENCE_TABLE))),  # type: ignore[arg-type]
    help="Make and verify reference solutions: problems with their optima, in files that contain the proof.",
    epilog="ilpinfer reference make scores.jsonl --rules rules.toml --output references.jsonl\n"
    "ilpinfer reference verify references.jsonl",
    rich_help_panel="Programs and proofs",
    rich_markup_mode=None,
)
COMMANDS = tuple(_read(TABLE))
