"""Commands that are refused: a golden file has them, and all that they say. UPDATE_GOLDEN=1 writes it anew."""

from pathlib import Path

import pytest
from support.golden import PROGRESS, check_said, commands_of, put
from support.places import GOLDEN

TEXT = GOLDEN / "refused" / "commands.txt"


def refused():
    for _, files, commands in commands_of(TEXT, r"\n(?=\n)"):
        for command, said in commands:
            yield pytest.param(files, command, said, id=command)


def contents():
    """The files and folders here, but for the byte code of modules with rules."""
    every = (path for path in Path().rglob("*") if "__pycache__" not in path.parts)
    return {path: path.read_bytes() if path.is_file() else b"" for path in every}


@pytest.mark.parametrize(("files", "command", "said"), list(refused()))
@pytest.mark.filterwarnings("default")
def test_a_command_is_refused(folder, cli, files, command, said):
    put(files)
    before = contents()
    code, out, err = cli(command)
    err = PROGRESS.sub("", err)
    assert (code, out) == (2, "")
    assert contents() == before
    check_said(TEXT, f"$ {command}", said, err)


DIGITS = '{{"start": [{}], "edges": []}}'


@pytest.mark.parametrize(
    ("record", "command", "message"),
    [
        (DIGITS.format("9" * 401 + ", 0"), "decode x.jsonl", "start holds a number beyond 2^31 nats"),
        (DIGITS.format("9" * 5001), "decode x.jsonl", "x.jsonl, line 1: a number of more than"),
        (
            "",
            f"decode train.tsv --model hmm.json --option seed={'[' * 100_000}",
            "lists are nested too deeply\n",
        ),
    ],
    ids=["number", "digits", "brackets"],
)
def test_what_is_too_long_is_refused(folder, cli, record, command, message):
    Path("x.jsonl").write_text(record)
    assert message in cli.refused(command)
