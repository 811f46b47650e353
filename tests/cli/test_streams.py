"""Standard streams that are closed, full or read by nobody; messages and warnings as single lines."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.command_line import SCORES, TRAIN, rule_text
from support.processes import environment

from ilpinfer.cli import streams
from ilpinfer.errors import describe
from ilpinfer.evaluation import pictures
from ilpinfer.solvers import SolverError


def shell(text):
    """A command line through a shell, with `ilpinfer` for the program."""
    text = text.replace("ilpinfer", f"{sys.executable} -m ilpinfer")
    own = environment(PYTHONUNBUFFERED="")
    return subprocess.run(
        ["bash", "-c", text], env=own, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("command", "code", "err"),
    [
        ("ilpinfer methods >&-", 2, "ilpinfer: standard output: cannot be written: Bad file descriptor\n"),
        (
            "ilpinfer methods >/dev/full",
            2,
            "ilpinfer: standard output: cannot be written: No space left on device\n",
        ),
        (
            "PYTHONUNBUFFERED=1 ilpinfer methods >/dev/full",
            2,
            "ilpinfer: standard output: cannot be written: No space left on device\n",
        ),
        ("ilpinfer decode - <&-", 2, "ilpinfer: standard input: cannot be read: Bad file descriptor\n"),
        ("ilpinfer decode nowhere.tsv 2>&-", 2, ""),
        ("ilpinfer decode scores.jsonl --method viterbi --output x.jsonl <&- >&- 2>&-", 0, ""),
        ("ilpinfer decode nowhere.tsv 2>/dev/full", 2, ""),
        ("(ilpinfer decode many.jsonl --method viterbi; echo $? >&2) | head -n 1 >first", 0, "141\n"),
        ("(ilpinfer methods; echo $? >&2) | sleep 0", 0, "141\n"),
        (
            "mkfifo pipe; head -c 10 pipe >/dev/null & ilpinfer decode many.jsonl --method viterbi --output pipe",
            141,
            "",
        ),
        ("exec 3>&2; (ilpinfer decode nowhere.tsv 2>&1; echo $? >&3) | sleep 0", 0, "2\n"),
    ],
)
def test_streams_that_are_closed_full_or_unread(folder, command, code, err):
    Path("many.jsonl").write_text((json.dumps(SCORES) + "\n") * 400)
    result = shell(command)
    assert result.stderr == err
    assert result.returncode == code
    if "x.jsonl" in command:
        assert json.loads(Path("x.jsonl").read_text())["sequence"] == 0
    if "first" in command:
        assert json.loads(Path("first").read_text())["sequence"] == 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no\nsuch  thing"), "no such thing"),
        (ValueError(), "ValueError"),
        (MemoryError(), "out of memory"),
        (MemoryError("Unable to allocate 8.00 EiB"), "out of memory (Unable to allocate 8.00 EiB)"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(2, "No such file or directory", "a\nb"), "a b: No such file or directory"),
        (OSError("odd"), "odd"),
        (KeyError("labels"), "KeyError: 'labels'"),
        (RecursionError("deep"), "nested too deeply (deep)"),
    ],
)
def test_errors_are_one_line_and_never_empty(error, words):
    assert describe(error) == words


@pytest.mark.parametrize("error", [ValueError("v"), MemoryError(), SolverError("s")])
@pytest.mark.parametrize("wanted", [False, True])
def test_a_traceback_of_every_error_where_it_is_asked_for(folder, cli, monkeypatch, error, wanted):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("ilpinfer.core.registry.methods", broken)
    if wanted:
        monkeypatch.setenv("ILPINFER_TRACEBACK", "1")
    code, out, err = cli("methods")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"ilpinfer: {describe(error)}")
    assert ("Traceback" in err, "in broken" in err) == (wanted, wanted)
    assert wanted or err.count("\n") == 1


PLACES = {
    "ilpinfer.cli.inputs.read": ("compare", "scores.jsonl"),
    "ilpinfer.cli.inputs.score": ("compare", "scores.jsonl"),
    "ilpinfer.pipelines.scored_stream.check_rules": ("compare", "rules.toml"),
    "ilpinfer.cli.rule_files.load_rules": ("compare decode", "rules.toml"),
    "ilpinfer.cli.inputs.load_model": ("compare decode", "hmm.json"),
    "ilpinfer.corpus.streams.ExampleStream._file": ("decode", "scores.jsonl"),
    "ilpinfer.pipelines.scored_stream.score_example": ("decode", "scores.jsonl, line 1"),
}


@pytest.mark.parametrize(("place", "commands", "name"), [(place, *each) for place, each in PLACES.items()])
def test_errors_without_a_place_get_one(folder, cli, monkeypatch, place, commands, name):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(place, broken)
    for error in (MemoryError(), RecursionError("deep"), OSError(5, "Input/output error")):
        for command in commands.split():
            err = cli.failed(f"{command} scores.jsonl --rules rules.toml --model hmm.json --output {command}")
            assert err.splitlines()[-1] == f"ilpinfer: {name}: {describe(error)}"
    assert not list(Path().glob("decode*"))


def test_notices_of_processes_are_said_once(folder, cli):
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    rule = rule_text("at_most_runs", fields=["title", "editor"], field="editor")
    Path("absent.toml").write_text(rule)
    with warnings.catch_warnings(action="default"):
        code, _, err = cli("decode in.jsonl --rules absent.toml --jobs 2")
    assert (code, err) == (0, "ilpinfer: notice: no label for editor: counted as absent\n")


BYTES = os.fsdecode(b"f\xff")


@pytest.fixture
def odd(folder):
    """Files whose names are not UTF-8."""
    Path(f"{BYTES}.jsonl").write_text(json.dumps(SCORES) + "\n")
    Path(f"{BYTES}.tsv").write_text(TRAIN)
    Path(f"{BYTES}.toml").write_text(Path("rules.toml").read_text())
    return folder


def test_a_comparison_of_a_file_whose_name_is_not_utf8(odd, cli):
    arguments = f"compare {BYTES}.jsonl --rules {BYTES}.toml --methods viterbi"
    cli.output(f"{arguments} --output {BYTES}")
    page = Path(BYTES, "report.html").read_bytes().decode()
    assert "<bdi>f\\udcff.jsonl</bdi>" in page and "<bdi>f\\udcff.toml</bdi>" in page
    assert json.loads(Path(BYTES, "summary.json").read_text())["source"] == f"{BYTES}.jsonl"


def test_other_commands_with_such_names(odd, cli):
    impossible = {**SCORES, "transitions": [[None, None], [None, None]]}
    with Path(f"{BYTES}.jsonl").open("a") as lines:
        lines.write(json.dumps(impossible) + "\n")
    decode = f"decode {BYTES}.jsonl --rules {BYTES}.toml"
    for output in ("-", f"{BYTES}.out"):
        assert "line 2: infeasible" in cli.failed(f"{decode} --output {output}")
    evaluate = f"evaluate {BYTES}.tsv {BYTES}.tsv"
    cli.output(f"{evaluate} --output {BYTES}.json --picture {BYTES}.svg")
    assert json.loads(Path(f"{BYTES}.json").read_bytes())["predicted"] == f"{BYTES}.tsv"
    cli.done(f"train {BYTES}.tsv --output {BYTES}.model")


def test_a_failing_sequence_of_such_a_file(odd, cli, monkeypatch):
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    monkeypatch.setattr("ilpinfer.decoding.runner.run_method", lambda *_, **__: 1 / 0)
    for output in ("-", "x.jsonl", "/dev/stdout"):
        code, _, _ = cli(f"decode {BYTES}.jsonl --output {output}")
        assert code == 1
    assert json.loads(Path("x.jsonl").read_bytes())["reason"].startswith(f"{BYTES}.jsonl, line 1: ")


def test_warnings_are_single_lines(folder, cli, monkeypatch):
    def warned(*_, **__):
        with np.errstate(all="warn"):
            np.float64(1e308) * np.float64(10)
        warnings.warn("of a\nlibrary", UserWarning, stacklevel=2)
        return ()

    monkeypatch.setattr("ilpinfer.core.registry.methods", warned)
    with warnings.catch_warnings(action="default"):
        code, _, err = cli("methods")
    assert code == 0
    assert err.splitlines()[-1] == "ilpinfer: notice: of a library"
    assert "test_streams" not in err


ODD_NAMES = ["$x_", "題目", "a" * 400, "x$\\frac$", "__", "\u202e"]


def test_pictures_of_odd_names_warn_of_nothing(folder, cli, caplog):
    confused = np.eye(len(ODD_NAMES), dtype=np.int64)
    assert "<svg" in pictures.confusion_picture(ODD_NAMES, confused)
    Path("odd.tsv").write_text("\n".join(f"w\t{name}" for name in ODD_NAMES) + "\n")
    cli.output("evaluate odd.tsv odd.tsv --picture x.svg")
    assert not caplog.records


def test_standard_streams_that_are_missing_are_made(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    streams.prepare()
    assert sys.stdin is not None
