"""A working folder, and a function to run commands, for the tests of the command line."""

import contextlib
import io
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from ilpinfer.cli import main, settings


def columns(*sequences: str | tuple[Sequence[str], Sequence[str]]) -> str:
    """Columns of tokens and labels, each sequence given as these two or as `token/label token/label`."""
    blocks = []
    for each in sequences:
        written = isinstance(each, str)
        rows = (word.split("/") for word in each.split()) if written else zip(*each, strict=True)
        blocks.append("\n".join(map("\t".join, rows)))
    return "\n\n".join(blocks) + "\n"


TRAIN = columns(
    "Ada/B-author Lovelace/I-author ./I-author "
    "Notes/B-title on/I-title engines/I-title ./I-title 1843/B-date ./I-date",
    "Grace/B-author Hopper/I-author ./I-author Compilers/B-title ./I-title "
    "pp/B-pages 1/I-pages ./I-pages 1952/B-date ./I-date",
)
SCORES = {
    "emissions": [[0, -1], [-1, 0], [0, -1], [-3, None]],
    "transitions": [[0, -0.5], [-0.5, 0]],
    "label_names": ["title", "O"],
    "tokens": ["a", "b", "c", "d"],
}


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """The text of a model of the corpus."""
    with contextlib.chdir(tmp_path_factory.mktemp("trained")):
        Path("train.tsv").write_text(TRAIN)
        assert main(["train", "train.tsv", "--output", "hmm.json"]) == 0
        return Path("hmm.json").read_text()


@pytest.fixture
def folder(tmp_path, monkeypatch, trained):
    """A folder with a corpus, a model and scores, as the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text(TRAIN)
    Path("scores.jsonl").write_text(json.dumps(SCORES) + "\n")
    Path("rules.toml").write_text(
        'fields = ["title"]\n[[rule]]\nname = "one title"\ntemplate = "at_most_runs"\nfield = "title"\npenalty = 2.5\n'
    )
    Path("hmm.json").write_text(trained)
    return tmp_path


def run(arguments: list[str], capsys, stdin: str | None = None, monkeypatch=None) -> tuple[int, str, str]:
    capsys.readouterr()
    if stdin is not None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def rows(source: str | Path) -> list[dict]:
    """The JSON lines of a text or of a file; NaN and Infinity are no JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    text = source if isinstance(source, str) else source.read_text()
    return [json.loads(line, parse_constant=refuse) for line in text.split("\n") if line]


def write_lines(path: str, *records: dict) -> None:
    """A file of JSON lines."""
    Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))


def rule_text(template: str, **options: object) -> str:
    """A rule file of one rule; its fields are those that the options name, or `fields`."""
    fields = options.pop("fields", [options[name] for name in ("field", "other") if name in options])
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in options.items())
    return f'fields = {json.dumps(fields)}\n[[rule]]\ntemplate = "{template}"\n{"".join(lines)}'


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


class CommandLine:
    """Runs commands in this process: a line as in a shell, and words that are not split."""

    def __init__(self, capture) -> None:
        self.capture = capture

    def __call__(self, line: str, *words: str) -> Ended:
        """Reports of comparisons have empty pictures, which take no time; tests/comparison has the true ones."""
        drawn = patch("ilpinfer.comparison.report.picture", lambda *_: "data:image/svg+xml;base64,PHN2Zy8+")
        with drawn if line.startswith("compare") else contextlib.nullcontext():
            return Ended(*run([*shlex.split(line), *words], self.capture))

    def done(self, line: str, *words: str) -> Ended:
        """A command that ends with 0."""
        ended = self(line, *words)
        assert ended.code == 0, ended.err
        return ended

    def output(self, line: str, *words: str) -> str:
        """What a command prints that ends with 0 and writes nothing else."""
        code, out, err = self(line, *words)
        assert (code, err) == (0, "")
        return out

    def rows(self, line: str, *words: str) -> list[dict]:
        """The JSON lines that a command prints which ends with 0."""
        return rows(self.done(line, *words).out)

    def failed(self, line: str, *words: str) -> str:
        """The errors of a command that ends with 2; it may have printed something, too."""
        code, _, err = self(line, *words)
        assert code == 2
        return err

    def refused(self, line: str, *words: str) -> str:
        """The one line of message of a command that ends with 2 and prints nothing."""
        code, out, err = self(line, *words)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert err.startswith("ilpinfer: ") and "Traceback" not in err
        return err


@pytest.fixture
def cli(capsys) -> Iterator[CommandLine]:
    yield CommandLine(capsys)
    settings.configure()


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder as the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
