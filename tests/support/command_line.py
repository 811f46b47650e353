"""A working folder, and a function to run commands, for the tests of the command line."""

import io
import json
import sys
from pathlib import Path

import pytest

from ilpinfer.cli import main

TRAIN = """\
Ada\tB-author
Lovelace\tI-author
.\tI-author
Notes\tB-title
on\tI-title
engines\tI-title
.\tI-title
1843\tB-date
.\tI-date

Grace\tB-author
Hopper\tI-author
.\tI-author
Compilers\tB-title
.\tI-title
pp\tB-pages
1\tI-pages
.\tI-pages
1952\tB-date
.\tI-date
"""
SCORES = {
    "emissions": [[0, -1], [-1, 0], [0, -1], [-3, None]],
    "transitions": [[0, -0.5], [-0.5, 0]],
    "label_names": ["title", "O"],
    "tokens": ["a", "b", "c", "d"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a corpus, a model and scores, as the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text(TRAIN)
    Path("scores.jsonl").write_text(json.dumps(SCORES) + "\n")
    Path("rules.toml").write_text(
        'fields = ["title"]\n[[rule]]\nname = "one title"\ntemplate = "at_most_runs"\nfield = "title"\npenalty = 2.5\n'
    )
    assert main(["train", "train.tsv", "--output", "hmm.json"]) == 0
    return tmp_path


def run(arguments: list[str], capsys, stdin: str | None = None, monkeypatch=None) -> tuple[int, str, str]:
    capsys.readouterr()
    if stdin is not None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err
