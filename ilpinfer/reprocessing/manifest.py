"""The manifest of a run: its input, model, rules and options."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from formulations.messages import counted
from formulations.plain_values import items, kind_of, parse_json, record, table, text
from ilpinfer.reprocessing.tables import InputSlice, ShardEntry
from ilpinfer.system.files import digest
from ilpinfer.system.output_paths import OutputError
from ilpinfer.system.storage import joined, open_bytes

MANIFEST = "manifest.json"
MODEL, RULES = "model", "rule set"  # compared by digest
FORMAT = 2
"""Version of the layout of the folder."""


@dataclass(frozen=True)
class Manifest:
    """The record of a run: names and sizes of inputs, digests of model and rules, and options that affect rows.

    `retries` are the time limits of retries of unproved sequences. `finished` is whether the input was read to its end; `rest` is the
    slice after the last shard.
    """

    inputs: Sequence[Mapping[str, Any]]
    model: str
    rules: str
    options: Mapping[str, Any]
    time_limit: float | None = None
    shards: Sequence[ShardEntry] = ()
    rejected: int = 0
    retries: Sequence[float | None] = ()
    finished: bool = False
    rest: InputSlice | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: own_versions())
    format: int = FORMAT

    @property
    def run(self) -> str:
        """Digest of everything that affects rows, except sequences and time limits."""
        options = sorted(self.options.items())
        return digest(self.format, self.versions["ilpinfer"], self.model, self.rules, options)

    def text(self) -> bytes:
        """Content of the file; identical for identical runs."""
        shards = [entry.to_dict() for entry in self.shards]
        values = {**vars(self), "run": self.run, "shards": shards, "rest": self.rest and asdict(self.rest)}
        return (json.dumps(values, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "backslashreplace")

    def check_same(self, other: "Manifest", folder: str, *, limits: bool = True) -> None:
        """Raise OutputError if the folder belongs to another run than `other`; with `limits`, also for another time limit."""
        pairs: list[tuple[str, Any, Any]] = [
            ("format", self.format, other.format),
            ("version of ilpinfer", self.versions.get("ilpinfer"), other.versions["ilpinfer"]),
            (MODEL, self.model, other.model),
            (RULES, self.rules, other.rules),
            *(
                (f"--{name.replace('_', '-')}", self.options.get(name), now)
                for name, now in other.options.items()
            ),
            *([("--time-limit", self.time_limit, other.time_limit)] if limits else []),
            *_of_inputs(self.inputs, other.inputs),
        ]
        for what, before, now in pairs:
            if before != now:
                values = f"{what} {_shown(before)}, now it is {_shown(now)}; use the first value again"
                change = f"another {what}; use that again" if what in (MODEL, RULES) else values
                raise OutputError(
                    f"{joined(folder, MANIFEST)}: the run was begun with {change}, or choose another output"
                )


def _of_inputs(
    before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]
) -> list[tuple[str, Any, Any]]:
    """The differences between lists of inputs, for messages."""
    names = [[each["file"] for each in files] for files in (before, now)]
    if names[0] != names[1]:
        odd = next((pair for pair in zip(*names, strict=False) if pair[0] != pair[1]), None)
        shown = odd or (counted(len(names[0]), "file"), counted(len(names[1]), "file"))
        return [("the input", *shown)]
    pairs = zip(before, now, strict=True)
    return [(f"bytes of {one['file']}", one["bytes"], two["bytes"]) for one, two in pairs]


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)[:80]


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a folder; OutputError if it is missing or invalid."""
    path = joined(str(folder), MANIFEST)
    try:
        with open_bytes(path) as stream:
            values = parse_json(stream.read().decode("utf-8"))
        if isinstance(values, dict) and values.get("format", FORMAT) != FORMAT:
            raise OutputError(f"{path}: of format {kind_of(values['format'])}; this version reads {FORMAT}")
        return _manifest(values)
    except FileNotFoundError:
        raise OutputError(f"{folder}: holds no run of ilpinfer reprocess, which has {MANIFEST}") from None
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise OutputError(f"{path}: damaged or not of ilpinfer (not UTF-8); choose another output") from None
    except OutputError:
        raise
    except ValueError as error:
        raise OutputError(f"{path}: damaged or not of ilpinfer ({error}); choose another output") from None


def _manifest(values: Any) -> Manifest:
    """The manifest from plain values; ValueError for invalid values."""
    keys = [each.name for each in fields(Manifest)]
    given = table(values, (*keys, "run"), "the manifest")
    shards = [
        record(ShardEntry, each, f"shards[{at}]", derived=("unproved",))
        for at, each in enumerate(items(given["shards"], "shards"))
    ]
    result = record(Manifest, {**given, "shards": []}, "the manifest", derived=("run",))
    for at, each in enumerate(result.inputs):
        text(table(each, ("file", "bytes"), f"inputs[{at}]")["file"], f"inputs[{at}]: file")
    return replace(result, shards=tuple(shards))


def own_versions() -> dict[str, str]:
    """Versions of the programs that write rows."""
    return {"python": python_version(), **{name: version(name) for name in ("ilpinfer", "numpy", "pyarrow")}}
