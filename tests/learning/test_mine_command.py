"""`ilpinfer mine`: what it writes and shows, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.golden import check_said
from support.places import GOLDEN
from support.processes import python

from formulations import load_rules

AUTHOR = "Ada\tB-author\nLovelace\tI-author\n,\tO\nNotes\tB-title\n1843\tB-date\n"
EDITOR = "Ed\tB-editor\nWard\tI-editor\n,\tO\nNotes\tB-title\n1990\tB-date\n"
TRAIN = "\n".join([AUTHOR, EDITOR] * 10)
FEW = "--families never-together,first-field,last-field --support 5"
BOTH, ONE, OTHER, NONE = "x\ta\ny\tb\n", "x\ta\nx\ta\n", "y\tb\ny\tb\n", "z\tc\nz\tc\n"
ODD = "\n".join([BOTH] * 30 + [ONE] * 40 + [OTHER] * 20 + [NONE] * 60)
"""Two fields that often do, and often do not, occur together."""


@pytest.fixture
def train(here):
    Path("train.tsv").write_text(TRAIN)


def rows(out):
    return [line.split() for line in out.splitlines()]


def test_a_rule_file_with_reasons_and_a_table(train, cli):
    _, out, err = cli.done(f"mine train.tsv --output rules.toml {FEW}")
    path = GOLDEN / "mined.toml"
    remark, _, said = path.read_text("utf-8").partition("\n")
    check_said(path, remark, said, Path("rules.toml").read_text())
    table = rows(out)
    assert table[0] == ["applies", "holds", "penalty"]
    assert table[1] == ["rule", "family", "times", "%", "lift", "nats", "folds", "power"]
    assert table[2][:5] == ["starts_with(author", "or", "editor)", "first-field", "20"]
    assert "families: first-field 1, last-field 1, never-together 1" in out
    said, hint = err.splitlines()
    assert said == "rules.toml: 3 rules from 20 sequences of 100 tokens, confidence 0.95"
    assert "`ilpinfer learn` fits them to a model" in hint
    assert load_rules("rules.toml").rules[0].statement.field == ("author", "editor")
    cli.done("check rules.toml train.tsv")


def test_the_file_does_not_depend_on_the_run(train):
    """Nor on how the process hashes texts."""
    Path("train.tsv").write_text(ODD)
    options = "--confidence 0.3 --gain 0 --folds 3"
    shown = set()
    for number in "123":
        command = f"-m ilpinfer mine train.tsv --output {number}.toml {options}"
        finished = python(*command.split(), variables={"PYTHONHASHSEED": number}, check=True)
        shown.add((finished.stdout, finished.stderr.replace(f"{number}.toml", "")))
    assert len(shown) == 1
    assert len({Path(f"{number}.toml").read_bytes() for number in "123"}) == 1


def test_the_counts_as_json(train, cli):
    code, out, _ = cli(f"mine train.tsv --output rules.toml --json {FEW}")
    record = json.loads(out)
    assert (code, record["sequences"], record["proved"]) == (0, 20, True)
    assert record["rules"][0]["rule"] == "starts_with(author or editor)"
    assert record["rules"][0]["folds_held"] == 5
    assert all(set(dropped) == {"reason", "number"} for dropped in record["dropped"])


def test_options_reach_the_miner(train, cli):
    options = "--pruning none --most 4 --folds 0 --gain 0 --confidence 0.8"
    options += " --word-support 3 --smoothing 0.5 --power 2 --seed 7"
    cli.done(f"mine train.tsv --output rules.toml {options}")
    source = load_rules("rules.toml").source
    assert "3 of a word; confidence 0.8; gain 0 nats; smoothing 0.5; 0 folds; pruning none; seed 7" in source
    assert len(load_rules("rules.toml")) == 4
    chosen = "--confidence cross-validated --support 5"
    cli.done(f"mine train.tsv --output rules.toml {chosen}")
    assert "(cross-validated)" in load_rules("rules.toml").source


def test_labels_without_prefixes(train, cli):
    cli.done(f"mine train.tsv --output x.toml --scheme plain {FEW}")
    assert load_rules("x.toml").fields == ("author", "date", "editor", "title")


def test_where_a_model_is_wrong(train, cli):
    Path("found.tsv").write_text(TRAIN.replace("B-date", "O"))
    arguments = "mine train.tsv --output rules.toml --predictions found.tsv --support 5"
    cli.done(arguments)
    rules = load_rules("rules.toml").rules
    assert len(rules) == 1 and "date" in rules[0].title
    Path("found.tsv").write_text(AUTHOR)
    assert cli.refused(arguments) == "ilpinfer: found.tsv has 1 sequence, but train.tsv has 20\n"
    Path("found.tsv").write_text(TRAIN)
    err = cli.refused(arguments)
    assert err.startswith("ilpinfer: found.tsv: predictions contain no error")


def test_no_rule_survives(train, cli):
    code, out, err = cli("mine train.tsv --output rules.toml --support 900")
    assert (code, out) == (1, "")
    assert err.startswith("ilpinfer: train.tsv: no rule found in 20 sequences (")
    assert err.endswith("; lower the support\n") and err.count("\n") == 1
    assert not list(Path().glob("rules.toml*"))


def test_rules_that_contradict_each_other_are_told(train, cli):
    Path("odd.tsv").write_text(ODD)
    options = "--families requires-present,never-together --confidence 0.3 --gain 0 --folds 0 --pruning none"
    err = cli.done(f"mine odd.tsv --output x.toml {options}").err
    notice = "ilpinfer: notice: never_together(a, b) is left out: contradicts requires_present(a, b)"
    assert err.splitlines()[0] == notice
    titles = [rule.title for rule in load_rules("x.toml").rules]
    assert "requires_present(a, b)" in titles and "never_together(a, b)" not in titles


def test_an_output_is_needed(train, cli):
    assert cli("mine train.tsv")[0] == 2
