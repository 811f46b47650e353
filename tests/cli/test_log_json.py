"""`--log-json`: every line on standard error is an event in JSON, the last one the summary."""

import json
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.command_line import SCORES, CommandLine, rows
from support.family import wait_until
from support.processes import python
from test_interrupts import AT_IMPORT

from ilpinfer.cli import progress as cli_progress
from ilpinfer.cli import settings, signals
from ilpinfer.cli.progress import progress, rate_progress

TIMES = "%Y-%m-%dT%H:%M:%SZ"


def events(err: str) -> list[dict]:
    """The events of a run; each has a time."""
    found = rows(err)
    for each in found:
        assert datetime.strptime(each.pop("time"), TIMES).replace(tzinfo=UTC) <= datetime.now(UTC)
    return found


@pytest.fixture
def log(monkeypatch, capsys):
    """All events so far of a run with JSON lines, which has one every 20th of a second."""
    so_far = []

    def read():
        so_far.extend(events(capsys.readouterr().err))
        return so_far

    monkeypatch.setattr(cli_progress, "LOG_SECONDS", 0.05)
    settings.configure(json_lines=True)
    yield read
    settings.configure()


def test_progress_over_bytes(log, monkeypatch):
    times = iter([0.0, 9.0, 10.0, 12.0])
    monkeypatch.setattr(cli_progress, "clock", lambda: next(times))
    with rate_progress("reprocessing", 100) as show:
        show(5, 4, 3)
        wait_until(lambda: any(each["done"] for each in log()))
        show(25, 20, 15)
        wait_until(lambda: any(each["done"] == 20 for each in log()))
        show(100, 60, 45)
    first, busy = (next(each for each in log() if each["done"] == done) for done in (4, 20))
    assert (first["rate"], first["remaining"]) == (None, None), "one step has no rate"
    assert busy == {
        "event": "progress",
        "task": "reprocessing",
        "done": 20,
        "total": None,
        "share": 0.25,
        "rate": 16.0,
        "proved": 0.75,
        "remaining": 3.8,
    }
    last = [log()[-1][key] for key in ("done", "share", "rate", "proved", "remaining")]
    assert last == [60, 1.0, 18.667, 0.75, 0.0]


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize(("total", "share"), [(8, 0.75), (None, None)])
def test_progress_of_steps(log, quiet, total, share):
    settings.configure(quiet_run=quiet, json_lines=True)
    with progress("folds", total, 4) as advance:
        advance()
        advance()
    last = [] if quiet else [log()[-1]]
    assert [(each["task"], each["done"], each["total"], each["share"]) for each in last] == [
        ("folds", 6, total, share)
    ] * (not quiet)
    assert all(each["rate"] > 0 and each["proved"] is None for each in last)


def test_a_run_over_a_corpus(folder, cli):
    pytest.importorskip("pyarrow")
    Path("many.jsonl").write_text((json.dumps(SCORES) + "\n") * 30)
    code, out, err = cli(
        "reprocess many.jsonl --rules rules.toml --output out --jobs 1 --log-json --shard-size 9"
    )
    *_, told, last = events(err)
    assert (code, out.splitlines()[0][:4]) == (0, "out:")
    assert (told["event"], told["done"], told["share"], told["proved"]) == ("progress", 30, 1.0, 1.0)
    counts = {
        "found": 0,
        "checked": 0,
        "decoded": 4,
        "files": 4,
        "sequences": 30,
        "proved": 30,
        "unproved": 0,
        "failed": 0,
        "rejected": 0,
    }
    assert last == {"event": "summary", "code": 0, "output": "out", "finished": True, **counts}
    code, _, err = cli("reprocess many.jsonl --rules rules.toml --output out --log-json")
    assert (code, [each["event"] for each in events(err)]) == (2, ["error", "summary"])


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("decode nowhere.jsonl", 2, "nowhere.jsonl: cannot be read: No such file or directory"),
        ("decode scores.jsonl --nope", 2, "No such option: --nope"),
        ("nope", 2, "No such command"),
        ("decode scores.jsonl --rules bad.toml", 2, 'no field "titel"'),
    ],
)
@pytest.mark.parametrize("place", ["before", "after"])
def test_errors(folder, cli, command, code, message, place):
    text = 'fields = ["title"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "titel"\n'
    Path("bad.toml").write_text(text)
    found = cli(f"--log-json {command}" if place == "before" else f"{command} --log-json")
    *_, error, last = events(found[2])
    assert (found[0], last) == (code, {"event": "summary", "code": code})
    assert error["event"] == "error" and message in error["message"]


def test_tables_for_people_do_not_come_between(folder, capfd):
    """With an output that is -, they are on standard error."""
    code, out, err = CommandLine(capfd)("train train.tsv --output - --cross-validate 2 --log-json")
    settings.configure()
    assert (code, json.loads(out)["format"]) == (0, "ilpinfer-hmm")
    told = [each["event"] for each in events(err)]
    assert (told[0], told[-1]) == ("progress", "summary") and "error" not in told


@pytest.mark.parametrize("word", ['a "b" \\ c', "tab\tline\n", "naïve – 標題"])
def test_the_line_of_an_interrupt_is_json_whatever_the_command_has(word, monkeypatch):
    monkeypatch.setattr(signals, "arguments", ("decode", word))
    monkeypatch.setattr(signals, "_continuation", signals.ContinuedBy())
    message = f"interrupted; {signals._continuation.way}"
    (event,) = events(signals._event(130, message))
    expected = {"event": "interrupted", "code": 130, "message": message}
    assert event == {**expected, "continue": signals._continuation.command}


def test_an_interrupt_before_options_are_read():
    ended = python("-c", AT_IMPORT, "numpy", int(signal.SIGINT), "decode", "x", "--log-json")
    event = {"event": "interrupted", "code": 130, "message": "interrupted", "continue": None}
    assert (ended.returncode, events(ended.stderr)) == (130, [event])
