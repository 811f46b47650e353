"""`ilpinfer pareto`: what it writes and prints, how it goes on, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.command_line import folder, run  # noqa: F401

from ilpinfer.decoding.frontier import Frontier

COMMAND = ["pareto", "train.tsv", "--model", "hmm.json", "--rules", "rules.toml", "--output", "out.jsonl"]
RULES = """fields = ["title", "date"]
[[rule]]
template = "at_most_tokens"
field = "title"
n = 1
penalty = 2.5
[[rule]]
template = "at_least_tokens"
field = "date"
n = 3
penalty = 1.0
"""


@pytest.fixture(autouse=True)
def rules(folder):  # noqa: F811
    Path("rules.toml").write_text(RULES)


def rows(path="out.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_frontiers_the_trade_off_and_a_picture(capsys):
    code, out, err = run([*COMMAND, "--picture", "p.svg", "--summary", "s.json"], capsys)
    assert (code, err) == (0, "")
    assert "right tokens" in out and "most right tokens: 100.00% with weights from 0 to" in out
    result = rows()
    assert [row["sequence"] for row in result] == [0, 1]
    assert {row["status"] for row in result} == {"complete"}
    frontiers = [Frontier.from_dict(row) for row in result]
    assert all(len(frontier.points) > 2 for frontier in frontiers)
    assert all(frontier.points[0].weights[1] == float("inf") for frontier in frontiers)
    summary = json.loads(Path("s.json").read_text())
    first, last = summary["curve"][0], summary["curve"][-1]
    assert first["accuracy"] == 1.0 and first["low"] == 0 and last["high"] is None
    assert first["score"] == pytest.approx(sum(f.points[-1].score for f in frontiers))
    assert last["cost"] == pytest.approx(sum(f.points[0].cost for f in frontiers))
    assert summary["points"] == sum(len(f.points) for f in frontiers)
    assert "2 sequences" in Path("p.svg").read_text()


def test_one_sequence_has_a_picture_of_its_points(capsys):
    assert run([*COMMAND, "--first", "1", "--picture", "p.svg"], capsys)[0] == 0
    text = Path("p.svg").read_text()
    assert "violation cost, nats" in text and "gold" in text and len(rows()) == 1


def test_tau_is_chosen(capsys):
    code, out, _ = run([*COMMAND, "--choose-tau", "--bound", "odds", "--summary", "s.json"], capsys)
    assert code == 0 and "tau 1 (odds); chosen on other parts: 100.00% right tokens" in out
    tau = json.loads(Path("s.json").read_text())["tau"]
    assert (tau["tau"], tau["bound"], tau["table"][0]["proved"]) == (1.0, "odds", 2)


def test_the_same_bytes_but_for_the_seconds(capsys):
    run([*COMMAND, "--picture", "p.svg", "--summary", "s.json"], capsys)
    before = (
        [{**row, "seconds": 0} for row in rows()],
        Path("s.json").read_bytes(),
        Path("p.svg").read_bytes(),
    )
    run([*COMMAND, "--picture", "p.svg", "--summary", "s.json"], capsys)
    after = [{**row, "seconds": 0} for row in rows()], Path("s.json").read_bytes(), Path("p.svg").read_bytes()
    assert before == after


def test_an_interrupted_run_goes_on(capsys):
    assert run(COMMAND, capsys)[0] == 0
    whole = Path("out.jsonl").read_text()
    Path("out.jsonl").unlink()
    Path("out.jsonl.part").write_text(whole.splitlines(keepends=True)[0])
    assert run(COMMAND, capsys)[0] == 0
    assert Path("out.jsonl").read_text().splitlines()[0] == whole.splitlines()[0]
    assert len(rows()) == 2


def test_a_sequence_without_a_labelling_is_a_row(capsys):
    Path("rules.toml").write_text(
        RULES + '[[rule]]\ntemplate = "at_least_tokens"\nfield = "date"\nn = 50\n', "utf-8"
    )
    code, _, err = run([*COMMAND, "--picture", "p.svg"], capsys)
    assert code == 2 and "infeasible: no labelling keeps the hard rules (and 1 more)" in err
    assert [row["status"] for row in rows()] == ["infeasible", "infeasible"]
    assert "p.svg: not written" in err and not Path("p.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--picture", "train.tsv"], "train.tsv: is an input of this command"),
        (["--picture", "x", "--summary", "x"], "x: is given for --picture and for --summary"),
        (["--summary", "out.jsonl"], "out.jsonl: is an input of this command"),
        (["--heaviest", "-1"], "heaviest is -1.0; expected a number above 0"),
        (["--bound", "half"], "bound is 'half'; expected one of relative, odds"),
        (["--measure", "recall"], "measure is 'recall'; expected one of accuracy, f1, whole"),
        (["--time-limit", "0"], "time_limit is 0.0; expected seconds above 0"),
        (["--choose-tau", "--folds", "3"], "--folds 3: there are 2 sequences"),
    ],
)
def test_what_makes_no_sense(arguments, message, capsys):
    Path("out.jsonl").write_text("")
    code, out, err = run([*COMMAND, *arguments], capsys)
    assert (code, out) == (2, "") and message in err and err.count("\n") == 1


def test_tau_needs_gold_labels(capsys):
    Path("bare.txt").write_text("Ada\nNotes\n\nGrace\n1952\n")
    command = [*COMMAND, "--choose-tau"]
    command[1] = "bare.txt"
    code, _, err = run(command, capsys)
    assert code == 2 and "--choose-tau needs gold labels for every sequence" in err


def test_minimum_risk_on_the_command_line(capsys):
    command = ["decode", "train.tsv", "--model", "hmm.json", "--rules", "rules.toml", "--output", "d.jsonl"]
    assert run([*command, "--method", "posterior", "--risk", "spans"], capsys)[0] == 0
    assert all("F1 of spans expected to be" in row["method"] for row in rows("d.jsonl"))
    code, _, err = run([*command, "--risk", "spans"], capsys)
    assert code == 2 and "method auto has no option 'risk'" in err
    code, _, err = run([*command, "--tau", "0.9", "--risk", "spans"], capsys)
    assert code == 2 and "--risk spans: has no effect with --tau" in err
