"""Several rule sets as one: in Python, and where `--rules` is given several times."""

import json
from pathlib import Path

import pytest
from cli.test_training import PAIRS
from support.command_line import columns, rows

import ilpinfer
from formulations import RuleSet, dump_rules, join_rules, load_rules, parse_rules
from formulations import constraints as C
from ilpinfer.cli.decode_options import DecodeOptions
from ilpinfer.models.training import train

ONE = """
fields = ["title", "date"]
[groups]
body = ["title", "date"]
[[template]]
name = "absent"
parameters = ["X"]
logic = "not exists t: X(t)"
[[rule]]
name = "few"
template = "at_most_runs"
field = "body"
n = 1
penalty = 0.5
[[rule]]
template = "valid_scheme"
"""
OTHER = """
fields = ["author", "title", "date"]
[groups]
body = ["title", "date"]
[[rule]]
name = "few"
template = "at_most_tokens"
field = "author"
n = 1
penalty = 3
[[rule]]
template = "valid_scheme"
[[feature]]
name = "end"
label = "author"
weight = -0.25
"""
HARD = '[[rule]]\ntemplate = "at_most_tokens"\nfield = "author"\nn = 1\n'


def test_rules_fields_groups_and_templates_are_joined():
    one, other = parse_rules(ONE, "one"), parse_rules(OTHER, "other")
    joined = join_rules([one, other])
    assert joined.fields == ("title", "date", "author") and joined.name == "one + other"
    assert [group.name for group in joined.groups] == ["body"]
    assert [pair[0].name for pair in joined.templates] == ["absent"]
    assert [item.name for item in joined] == ["few", "", "few #2", "", "end"]
    assert join_rules([one]) is one and len(join_rules([])) == 0
    again = parse_rules(dump_rules(joined), "joined")
    assert (again.items, again.fields, again.groups) == (joined.items, joined.fields, joined.groups)


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_the_joined_rules_cost_what_all_of_them_cost(kind):
    model = train(kind, PAIRS)
    one, other = parse_rules(ONE, "one"), parse_rules(OTHER, "other")
    joined = join_rules([one, other])
    for tokens, labels in PAIRS:
        trellis = model.trellis(tokens)
        worth = [ilpinfer.evaluate_labelling(trellis, rules, labels) for rules in (one, other, joined)]
        assert worth[2].penalty == worth[0].penalty + worth[1].penalty > 0
        assert worth[2].feature_score == worth[1].feature_score
        few, more = (each.violations["few"] for each in worth[:2])
        schemes = {"valid_scheme()": 0, "valid_scheme() #2": 0}
        assert worth[2].violations == {"few": few, "few #2": more, **schemes}


def test_numbers_are_free_ones():
    a = RuleSet((C.at_most_runs("x", 1, name="r"), C.at_most_runs("x", 2, name="r #2")), name="a")
    b = RuleSet((C.at_most_runs("x", 3, name="r"),), name="b")
    assert [rule.name for rule in join_rules([a, b, b])] == ["r", "r #2", "r #3", "r #4"]


@pytest.fixture
def folder(here, cli):
    Path("train.tsv").write_text(columns(*PAIRS[:4]))
    Path("one.toml").write_text(ONE)
    Path("other.toml").write_text(OTHER)
    cli.done("train train.tsv --output m.json")
    return here


BOTH = "train.tsv --model m.json --rules one.toml --rules other.toml"


def test_every_command_joins_its_rules(folder, cli):
    cli.done(f"decode {BOTH} --output o.jsonl")
    found = rows(Path("o.jsonl"))
    assert all(list(row["violations"])[::2] == ["few", "few #2"] for row in found)
    rules, model = load_rules("one.toml", "other.toml"), train("hmm", PAIRS[:4])
    expected = [ilpinfer.decode(model.trellis(tokens), rules) for tokens, _ in PAIRS[:4]]
    assert [row["score"] for row in found] == [each.score for each in expected]
    cli.done(f"compare {BOTH} --methods auto,viterbi --output c")
    assert json.loads(Path("c/summary.json").read_text())["rules"] == "one.toml + other.toml"
    cli.done(f"export {BOTH} --output p")
    columns = str(json.loads(Path("p/0001.columns.json").read_text())["columns"])
    assert 'sigma["few"]' in columns and 'sigma["few #2"]' in columns
    Path("hard.toml").write_text('fields = ["author"]\n' + HARD)
    one, hard = "--rules one.toml", "--rules hard.toml"
    command = "train train.tsv --output n.json --held-out train.tsv"
    tables = [cli.done(f"{command} {own}").out for own in (f"{one} {hard}", f"{hard} {one}", hard, one)]
    assert tables[0] == tables[1] and len(set(tables)) == 3


def test_an_unfinished_run_begins_anew_when_any_of_its_rules_has_changed(folder, monkeypatch, cli):
    jobs = []

    def job(options, content):
        jobs.append(content)
        return original(options, content)

    original = DecodeOptions.job
    monkeypatch.setattr(DecodeOptions, "job", job)
    command = f"decode {BOTH} --output o.jsonl"
    cli.done(command)
    for name, text in (("one.toml", ONE), ("other.toml", OTHER)):
        Path(name).write_text(text.replace("penalty = ", "penalty = 1"))
        cli.done(command)
        Path(name).write_text(text)
    cli.done(command)
    assert jobs[0] == jobs[3] and len({*jobs[:3]}) == 3
