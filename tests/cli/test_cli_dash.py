"""`-` for standard input and standard output."""

import json
from pathlib import Path

import pytest
from support.command_line import TRAIN
from support.processes import python
from test_streams import shell


def piped(command, text=""):
    ended = python("-m", "ilpinfer", *command.split(), input=text)
    return ended.returncode, ended.stdout, ended.stderr


def test_a_model_is_written_to_standard_output_and_its_table_to_standard_error(folder):
    code, out, err = piped("train - --output - --held-out train.tsv", TRAIN)
    assert code == 0
    Path("m.json").write_text(out)
    assert piped("decode - --model m.json --rules rules.toml", TRAIN)[0] == 0
    assert "held out" in err and "held out" not in out


@pytest.mark.parametrize(
    ("arguments", "stdin", "form"),
    [
        ("check rules.toml -", "train", None),
        ("check - train.tsv --write -", "rules", "toml"),
        ("evaluate - train.tsv --output -", "train", "json"),
        ("evaluate train.tsv - --picture -", "train", "svg"),
        ("evaluate train.tsv train.tsv --against - --resamples 9", "train", None),
        ("check -", "rules", None),
        ("mine - --support 1 --folds 0 --gain 0 --output -", "train", "toml"),
        ("learn - --rules rules.toml --kind hmm --update counts --output -", "train", "toml"),
        ("learn train.tsv --rules - --kind hmm --update counts --output -", "rules", "toml"),
        ("codl train.tsv - --cycles 1 --output -", "train", "json"),
        ("codl - train.tsv --cycles 1 --output -", "train", "json"),
        ("decode scores.jsonl --rules -", "rules", "jsonl"),
        ("decode - --rules rules.toml", "scores", "jsonl"),
        ("compare - --rules rules.toml --output out", "scores", None),
        ("export - --output out", "scores", None),
        ("reference make - --rules rules.toml --output -", "scores", "jsonl"),
    ],
)  # fmt: skip
def test_streams_stand_for_single_files(folder, arguments, stdin, form):
    files = {"train": "train.tsv", "rules": "rules.toml", "scores": "scores.jsonl"}
    text = Path(files[stdin]).read_text()
    code, out, err = piped(arguments, text)
    assert code == 0, err
    assert not Path("-").exists() and "Traceback" not in err
    if form == "json":
        assert isinstance(json.loads(out), dict)
    elif form == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in out.splitlines()) and out
    elif form == "toml":
        Path("out.toml").write_text(out)
        assert piped("check out.toml")[0] == 0
    elif form == "svg":
        assert out.startswith("<?xml") and out.rstrip().endswith("</svg>")


def test_references_through_a_pipe(folder):
    _, out, _ = piped("reference make scores.jsonl --output -", "")
    code, verified, _ = piped("reference verify -", out)
    assert (code, verified) == (0, "1 reference verified (depth: meaning)\n")
    code, _, err = piped("reference verify -")
    assert (code, err) == (2, "ilpinfer: -: no reference in the file\n")


def test_an_output_that_is_redirected_is_appended_to_as_the_shell_says(folder):
    Path("all.json").write_text("before\n")
    assert shell("ilpinfer train train.tsv --output - >>all.json").returncode == 0
    before, _, model = Path("all.json").read_text().partition("\n")
    assert before == "before" and json.loads(model)["made"]["kind"] == "hmm"
