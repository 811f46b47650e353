"""`ilpinfer pareto`: what it writes and prints, how it goes on, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.command_line import rows

from ilpinfer.decoding.frontier import Frontier

COMMAND = "pareto train.tsv --model hmm.json --rules rules.toml --output out.jsonl"
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
def rules(folder):
    Path("rules.toml").write_text(RULES)


def test_frontiers_the_trade_off_and_a_picture(cli):
    out = cli.output(f"{COMMAND} --picture p.svg --summary s.json")
    assert "right tokens" in out and "most right tokens: 100.00% with weights from 0 to" in out
    result = rows(Path("out.jsonl"))
    assert [row["sequence"] for row in result] == [0, 1]
    assert {row["status"] for row in result} == {"complete"}
    frontiers = [Frontier.from_dict(row) for row in result]
    assert all(len(frontier.points) > 2 for frontier in frontiers)
    summary = json.loads(Path("s.json").read_text())
    first, last = summary["curve"][0], summary["curve"][-1]
    assert first["accuracy"] == 1.0 and first["low"] == 0 and last["high"] is None
    assert first["score"] == pytest.approx(sum(f.points[-1].score for f in frontiers))
    assert last["cost"] == pytest.approx(sum(f.points[0].cost for f in frontiers))
    assert summary["points"] == sum(len(f.points) for f in frontiers)
    assert "2 sequences" in Path("p.svg").read_text()


def test_one_sequence_has_a_picture_of_its_points(cli):
    cli.done(f"{COMMAND} --first 1 --picture p.svg")
    text = Path("p.svg").read_text()
    assert "violation cost, nats" in text and "gold" in text and len(rows(Path("out.jsonl"))) == 1


def test_tau_is_chosen(cli):
    out = cli.done(f"{COMMAND} --choose-tau --bound odds --summary s.json").out
    assert "tau 1 (odds); chosen on other parts: 100.00% right tokens" in out
    tau = json.loads(Path("s.json").read_text())["tau"]
    assert (tau["tau"], tau["bound"], tau["table"][0]["proved"]) == (1.0, "odds", 2)


def test_the_same_bytes_but_for_the_seconds(cli):
    made = []
    for _ in range(2):
        cli(f"{COMMAND} --picture p.svg --summary s.json")
        timeless = [{**row, "seconds": 0} for row in rows(Path("out.jsonl"))]
        made.append((timeless, Path("s.json").read_bytes(), Path("p.svg").read_bytes()))
    assert made[0] == made[1]


def test_a_sequence_without_a_labelling_is_a_row(cli):
    more = '[[rule]]\ntemplate = "at_least_tokens"\nfield = "date"\nn = 50\n'
    Path("rules.toml").write_text(RULES + more)
    err = cli.failed(f"{COMMAND} --picture p.svg")
    assert "infeasible: no labelling keeps the hard rules (and 1 more)" in err
    assert [row["status"] for row in rows(Path("out.jsonl"))] == ["infeasible", "infeasible"]
    assert "p.svg: not written" in err and not Path("p.svg").exists()


def test_tau_needs_gold_labels(cli):
    Path("bare.txt").write_text("Ada\nNotes\n\nGrace\n1952\n")
    command = f"{COMMAND} --choose-tau".replace("train.tsv", "bare.txt")
    assert "--choose-tau needs gold labels for every sequence" in cli.failed(command)


def test_minimum_risk_on_the_command_line(cli):
    command = "decode train.tsv --model hmm.json --rules rules.toml --output d.jsonl"
    cli.done(f"{command} --method posterior --risk spans")
    assert all("F1 of spans expected to be" in row["method"] for row in rows(Path("d.jsonl")))
