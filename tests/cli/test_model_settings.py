"""What the command line sets of models: rewards, rules that come first, line breaks."""

import json
from pathlib import Path

import pytest
from support.command_line import columns, rows

from formulations import load_rules
from ilpinfer.models.files import load_model
from ilpinfer.pipelines.rules_first import rules_first

NAMES = [
    "the/O mayor/O Ada/B-per Lovelace/I-per of/O Steel/B-org Inc/I-org spoke/O ./O",
    "Steel/B-org Works/I-org Inc/I-org hired/O Grace/B-per Hopper/I-per ./O",
    "on/O Monday/O Ada/B-per left/O Inc/B-org ./O",
]
NEW = "Ada\nInc\nleft\nof\nWorks\n.\n\nthe\nof\n.\n\nGrace\nSteel\nspoke\nof\nMonday\n.\n"
RULES = """
fields = ["per", "org"]
[[rule]]
name = "companies"
template = "tag_at"
field = "org"
words = ["Inc", "Works"]
[[rule]]
name = "small words"
template = "tag_at"
field = "O"
pattern = "[^A-Z]+"
ignore_case = false
[[rule]]
template = "valid_scheme"
[[rule]]
name = "a person"
template = "at_least_runs"
field = "per"
n = 1
penalty = 0.4
"""


@pytest.fixture
def folder(here, cli):
    Path("train.tsv").write_text(columns(*NAMES))
    Path("new.txt").write_text(NEW)
    Path("rules.toml").write_text(RULES)
    cli.done("train train.tsv --kind crf --output crf.json")
    cli.done("train train.tsv --output hmm.json")
    return here


@pytest.mark.parametrize("scheme_rule", [True, False])
def test_rules_that_come_first_change_no_labelling(scheme_rule, folder, cli):
    if not scheme_rule:
        Path("rules.toml").write_text(RULES.replace('[[rule]]\ntemplate = "valid_scheme"\n', ""))
    command = "decode new.txt --model crf.json --rules rules.toml"
    cli.done(f"{command} --output all.jsonl")
    cli.done(f"{command} --rules-first --output first.jsonl")
    every, first = rows(Path("all.jsonl")), rows(Path("first.jsonl"))
    for name in ("status", "labels", "penalty", "violations"):
        assert [row[name] for row in every] == [row[name] for row in first]
    assert every[1]["labels"] == ["O"] * 3 and first[1]["model_score"] != every[1]["model_score"]
    crf, rules = load_model("crf.json"), load_rules("rules.toml")
    trellis = rules_first(crf, rules).trellis(("Ada", "Inc", "left"))
    assert [row[:].max() for row in trellis.lattice.node[2:]] == [0]
    cli.done("compare new.txt --model crf.json --rules rules.toml --rules-first --output c")


@pytest.mark.parametrize("rules", ["--rules bio", ""])
def test_what_cannot_come_first(rules, folder, cli):
    err = cli.refused(f"decode new.txt --model crf.json {rules} --rules-first --output o.jsonl")
    assert "--rules-first: rules first need a hard rule on single tokens" in err


LINES = [
    ("1. @newline@ Facts @newline@ It rained .", "nr break title break text text text"),
    ("It rained @newline@ 2. @newline@ Law", "text text break nr break title"),
    ("3. @newline@ Law @newline@ @newline@ It rained", "nr break title break break text text"),
]


@pytest.fixture
def decisions(here):
    Path("all.tsv").write_text(columns(*((tokens.split(), labels.split()) for tokens, labels in LINES)))
    return "train all.tsv --kind crf --output m.json --option c2=0.01"


def test_line_breaks_are_left_out_and_get_their_label_back(decisions, cli):
    _, out, err = cli.done(f"{decisions} --line-breaks out --held-out all.tsv")
    assert "3 labels (plain)" in err
    assert out.splitlines()[1].split()[2] == "100.00"
    model = load_model("m.json")
    assert model.without_line_breaks and model.line_break_label == "break"
    cli.done("decode all.tsv --model m.json --output o.jsonl")
    for row, (tokens, labels) in zip(rows(Path("o.jsonl")), LINES, strict=True):
        assert (row["tokens"], row["labels"]) == (tokens.split(), labels.split())
        assert row["positions"] == [t for t, token in enumerate(row["tokens"]) if token != "@newline@"]
        assert len(row["ids"]) == len(row["positions"])
    assert cli("evaluate o.jsonl all.tsv")[1].count("token accuracy 100.00 % (20 of 20)") == 1
    compare = "compare all.tsv --model m.json --methods auto --predictions own=o.jsonl"
    cli.done(f"{compare} --output c")
    methods = json.loads(Path("c/summary.json").read_text())["methods"]
    assert [(line["accuracy"], line["f1"], line["mean_gap"]) for line in methods] == [(1.0, 1.0, 0.0)] * 2
    cli.done(f"{decisions} --line-breaks out --cross-validate 3")


def test_line_breaks_stay_unless_told_otherwise(decisions, cli):
    cli.done(decisions)
    assert "line_break_label" not in Path("m.json").read_text()
    assert load_model("m.json").labels.names == ("break", "nr", "text", "title")
    cli.done("decode all.tsv --model m.json --output o.jsonl")
    assert "positions" not in rows(Path("o.jsonl"))[0]


def test_line_breaks_inside_a_field_get_its_inner_label(here, cli):
    text = "at/O Steel/B-org @newline@/I-org Inc/I-org @newline@/O Ada/B-per"
    Path("a.tsv").write_text(columns(*[text] * 4))
    train = "train a.tsv --kind crf --line-breaks out --output m.json --scheme"
    for scheme, inner in (("bio", "I-org"), ("iobes", "I-org")):
        cli.done(f"{train} {scheme}")
        assert load_model("m.json").line_break_label == "O"
        cli.done("decode a.tsv --model m.json --output o.jsonl")
        labels = rows(Path("o.jsonl"))[0]["labels"]
        assert labels[2] == inner and labels[4] == "O"


def test_a_sequence_of_line_breaks_alone_has_their_label(decisions, cli):
    cli.done(f"{decisions} --line-breaks out")
    Path("n.txt").write_text("@newline@\n@newline@\n\n1.\n@newline@\n")
    cli.done("decode n.txt --model m.json --output o.jsonl")
    first, second = rows(Path("o.jsonl"))
    assert (first["status"], first["labels"]) == ("optimal", ["break", "break"])
    assert second["labels"][1] == "break"
