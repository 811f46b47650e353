"""`ilpinfer reference generate` and `ilpinfer reference programs`."""

from pathlib import Path

import pytest
from support.command_line import run

from ilpinfer.references.files import read
from ilpinfer.references.generator import KINDS
from ilpinfer.references.shipped import FOLDER

SMALL = ["--count", "3", "--tokens", "6", "--labels", "4", "--seed", "7"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_references_are_made_and_hold(kind, capsys):
    assert run(["reference", "generate", kind, *SMALL, "--output", "a.jsonl"], capsys)[0] == 0
    assert run(["reference", "generate", kind, *SMALL, "--output", "b.jsonl"], capsys)[0] == 0
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert [reference.name for reference in read("a.jsonl")] == [f"{kind}-7-{n}" for n in range(3)]
    code, out, _ = run(["reference", "verify", "a.jsonl"], capsys)
    assert (code, out) == (0, "3 references hold (meaning)\n")


def test_programs_are_written(capsys):
    run(["reference", "generate", "plain", *SMALL, "--output", "a.jsonl"], capsys)
    code, _, err = run(["reference", "programs", "a.jsonl", "a.jsonl", "--output", "out"], capsys)
    assert code == 0 and err == "ilpinfer: notice: out: 6 programs, as .lp and .mps\n"
    names = [f"plain-7-{n}{again}.{end}" for n in range(3) for again in ("", "-2") for end in ("lp", "mps")]
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(names)


BAD = [
    (["generate", "easy", "--output", "a.jsonl"], "no kind 'easy'; there are"),
    (["generate", "easy", "--count", "1", "--output", "a.jsonl"], "no kind 'easy'; there are"),
    (
        ["generate", "plain", *SMALL, "--labels", "2", "--output", "a.jsonl"],
        "K is 2; expected a whole number from 3",
    ),
    (
        ["generate", "plain", *SMALL, "--hardness", "2", "--output", "a.jsonl"],
        "hardness is 2.0; expected a number",
    ),
    (
        ["generate", "plain", *SMALL, "--output", "a.json"],
        "--output a.json: a JSON file holds one reference; use .jsonl",
    ),
    (["programs", "none.jsonl", "--output", "out"], "none.jsonl: cannot be read"),
    (["programs", "bad.jsonl", "--output", "out"], "bad.jsonl, reference 1"),
    (["programs", "bad.jsonl", "--output", ""], "--output is empty; name a folder"),
    (["programs", "bad.jsonl", "--output", "out", "--units", "bits"], 'no units "bits"'),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_one_line(arguments, message, capsys):
    Path("bad.jsonl").write_text("{}\n")
    code, out, err = run(["reference", *arguments], capsys)
    assert code == 2 and not out and message in err and "Traceback" not in err
    assert sorted(path.name for path in Path().iterdir()) == ["bad.jsonl"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_files_are_what_the_command_writes(kind, capsys):
    name = f"{kind}.jsonl.gz"
    assert run(["reference", "generate", kind, "--output", name], capsys)[0] == 0
    made, shipped = (
        [{**each.to_dict(), "made": None} for each in read(path)] for path in (name, FOLDER / name)
    )
    assert made == shipped
