"""What the command line sets of models: rewards, rules that come first, line breaks."""

import json
from pathlib import Path

import pytest
from support.command_line import run

import ilpinfer
from formulations import RuleSet, load_rules
from formulations import constraints as C
from ilpinfer.models.files import load_model
from ilpinfer.pipelines.rules_first import rules_first

NAMES = """\
the O
mayor O
Ada B-per
Lovelace I-per
of O
Steel B-org
Inc I-org
spoke O
. O

Steel B-org
Works I-org
Inc I-org
hired O
Grace B-per
Hopper I-per
. O

on O
Monday O
Ada B-per
left O
Inc B-org
. O
"""
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
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text(NAMES.replace(" ", "\t"))
    Path("new.txt").write_text(NEW)
    Path("rules.toml").write_text(RULES)
    assert run(["train", "train.tsv", "--kind", "crf", "--output", "crf.json"], capsys)[0] == 0
    assert run(["train", "train.tsv", "--output", "hmm.json"], capsys)[0] == 0
    return tmp_path


def rows(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.mark.parametrize("model", ["crf.json", "hmm.json"])
def test_a_reward_is_a_feature_of_each_token(model, folder, capsys):
    command = ["decode", "new.txt", "--model", model, "--rules", "bio"]
    given = ["--reward", "per=2.5", "--reward", "B-org=-1"]
    assert run([*command, *given, "--output", "o.jsonl"], capsys)[0] == 0
    rules = [*load_rules("bio"), C.feature(label="per", weight=2.5), C.feature(label="B-org", weight=-1)]
    known, texts = load_model(model), [block.split() for block in NEW.split("\n\n")]
    for row, tokens in zip(rows("o.jsonl"), texts, strict=True):
        solution = ilpinfer.decode(known.trellis(tuple(tokens)), rules)
        assert (row["labels"], row["score"]) == (solution.labels, solution.score)
        persons = sum(label.endswith("per") for label in row["labels"])
        assert row["feature_score"] == 2.5 * persons - row["labels"].count("B-org")


def test_a_reward_needs_no_rules_and_begins_an_unfinished_run_anew(folder, capsys):
    command = ["decode", "new.txt", "--model", "hmm.json", "--output", "o.jsonl"]
    assert run([*command, "--reward", "org=50"], capsys)[0] == 0
    assert all(label.endswith("org") for row in rows("o.jsonl") for label in row["labels"])
    compare = ["compare", "train.tsv", "--model", "hmm.json", "--reward", "org=50", "--output", "c"]
    assert run(compare, capsys)[0] == 0
    assert json.loads(Path("c/summary.json").read_text())["methods"][0]["accuracy"] == pytest.approx(6 / 22)


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        ("per", "--reward per: expected FIELD=NATS"),
        ("=1", "--reward =1: expected FIELD=NATS"),
        ("per=much", "--reward per=much: could not convert"),
        ("per=nan", "--reward per=nan: feature per: weight"),
        ("pers=1", 'no field "pers"'),
    ],
)
def test_rewards_that_cannot_be_used(reward, message, folder, capsys):
    command = ["decode", "new.txt", "--model", "hmm.json", "--reward", reward, "--output", "o.jsonl"]
    code, _, err = run(command, capsys)
    assert code == 2 and message.replace('"', "'") in err.replace('"', "'") and len(err.splitlines()) == 1
    assert not Path("o.jsonl").exists()


@pytest.mark.parametrize("scheme_rule", [True, False])
def test_rules_that_come_first_change_no_labelling(scheme_rule, folder, capsys):
    if not scheme_rule:
        Path("rules.toml").write_text(RULES.replace('[[rule]]\ntemplate = "valid_scheme"\n', ""))
    command = ["decode", "new.txt", "--model", "crf.json", "--rules", "rules.toml"]
    assert run([*command, "--output", "all.jsonl"], capsys)[0] == 0
    assert run([*command, "--rules-first", "--output", "first.jsonl"], capsys)[0] == 0
    every, first = rows("all.jsonl"), rows("first.jsonl")
    for name in ("status", "labels", "penalty", "violations"):
        assert [row[name] for row in every] == [row[name] for row in first]
    assert every[1]["labels"] == ["O"] * 3 and first[1]["model_score"] != every[1]["model_score"]
    crf, rules = load_model("crf.json"), load_rules("rules.toml")
    trellis = rules_first(crf, rules).trellis(("Ada", "Inc", "left"))
    assert [row[:].max() for row in trellis.lattice.node[2:]] == [0]
    compare = [
        "compare",
        "new.txt",
        "--model",
        "crf.json",
        "--rules",
        "rules.toml",
        "--rules-first",
        "--output",
        "c",
    ]
    assert run(compare, capsys)[0] == 0


def test_only_open_tokens_get_features(folder, monkeypatch):
    crf, rules = load_model("crf.json"), load_rules("rules.toml")
    asked = []
    features = type(crf.template).features

    def watched(template, tokens, at=None):
        asked.append(list(at))
        return features(template, tokens, at)

    monkeypatch.setattr(type(crf.template), "features", watched)
    rules_first(crf, rules).trellis(("Ada", "Inc", "left", "Steel", "."))
    assert asked == [[0, 1, 3]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--model", "hmm.json", "--rules", "rules.toml"],
            "--rules-first: rules first need a conditional random field",
        ),
        (
            ["--model", "crf.json", "--rules", "bio"],
            "--rules-first: rules first need a hard rule on single tokens",
        ),
        (["--model", "crf.json"], "--rules-first: rules first need a hard rule on single tokens"),
    ],
)
def test_what_cannot_come_first(options, message, folder, capsys):
    code, _, err = run(["decode", "new.txt", *options, "--rules-first", "--output", "o.jsonl"], capsys)
    assert code == 2 and message in err and len(err.splitlines()) == 1


def test_features_without_rules_keep_the_name_of_the_rule_set():
    from ilpinfer.cli.inputs import rewarded

    rules = rewarded(RuleSet((), name="own"), ["a=b=1.5"])
    assert rules.name == "own" and [(f.label, f.weight) for f in rules.items] == [("a=b", 1.5)]
