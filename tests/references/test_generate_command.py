"""`ilpinfer reference generate` and `ilpinfer reference programs`."""

from pathlib import Path

import pytest

from ilpinfer.references.files import read
from ilpinfer.references.generator import KINDS
from ilpinfer.references.shipped import FOLDER

SMALL = "--count 3 --tokens 6 --labels 4 --seed 7"


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("kind", KINDS)
def test_references_are_made_and_hold(kind, cli):
    cli.done(f"reference generate {kind} {SMALL} --output a.jsonl")
    cli.done(f"reference generate {kind} {SMALL} --output b.jsonl")
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert [reference.name for reference in read("a.jsonl")] == [f"{kind}-7-{n}" for n in range(3)]
    assert cli.done("reference verify a.jsonl").out == "3 references hold (meaning)\n"


def test_programs_are_written(cli):
    cli(f"reference generate plain {SMALL} --output a.jsonl")
    err = cli.done("reference programs a.jsonl a.jsonl --output out").err
    assert err == "ilpinfer: notice: out: 6 programs, as .lp and .mps\n"
    names = [f"plain-7-{n}{again}.{end}" for n in range(3) for again in ("", "-2") for end in ("lp", "mps")]
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(names)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_files_are_what_the_command_writes(kind, cli):
    name = f"{kind}.jsonl.gz"
    cli.done(f"reference generate {kind} --output {name}")
    made, shipped = (
        [{**each.to_dict(), "made": None} for each in read(path)] for path in (name, FOLDER / name)
    )
    assert made == shipped
