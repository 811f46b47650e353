"""`ilpinfer codl`: what it shows and writes, pools of every form, and bad input."""

import json
from pathlib import Path

import pytest
from support.command_line import TRAIN, rule_text

from ilpinfer.learning.expectation import Expectation
from ilpinfer.models.files import load_model

RULES = """
fields = ["author", "title", "date", "pages"]
[[rule]]
name = "years are dates"
template = "tag_at"
field = "date"
pattern = '\\d{4}'
penalty = 3.0
"""
POOL = [
    "Kurt Goedel . On systems . 1931 .",
    "Emmy Noether . Invariants . pp 2 . 1918 .",
    "Ada . Engines . 1844 .",
    "Alan Turing . Machinery . 1950 .",
]

GAMMAS = ["0.6", "0.9", "0.3"]


@pytest.fixture
def folder(here):
    Path("train.tsv").write_text(TRAIN)
    Path("rules.toml").write_text(RULES)
    Path("pool.txt").write_text("\n".join(POOL) + "\n")
    return here


def learn(options: str = "", pool: str = "pool.txt") -> str:
    return f"codl train.tsv {pool} --rules rules.toml --output m.json {options}"


def test_a_model_is_learnt_and_every_cycle_shown(folder, cli):
    _, out, err = cli.done(learn("--held-out train.tsv --cycles 3"))
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["cycle", "changed", "%"]
    assert [line.split()[0] for line in lines[1:]] == ["supervised", "1", "2", "3"]
    assert lines[2].split()[1] == "100.0"
    assert err.splitlines()[-1].startswith("m.json: 8 labels (bio), ")
    assert sorted(path.name for path in folder.iterdir()) == ["m.json", "pool.txt", "rules.toml", "train.tsv"]
    assert load_model("m.json").labels.scheme == "bio"
    made = json.loads(Path("m.json").read_text())["made"]
    assert made["settings"]["cycles"] == 3
    cli.done("decode train.tsv --model m.json --output out.jsonl")


def test_the_default_is_the_best_on_folds_where_there_are_enough(folder, cli):
    err = cli.done(learn()).err
    few = "default: 2 labelled sequences are too few for folds; 10 are needed"
    assert f"settings: gamma 0.6 ({few})" in err
    Path("train.tsv").write_text((TRAIN + "\n") * 6)
    _, out, err = cli.done(learn())
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][:3] == ["on", "held-out", "parts"]
    assert [line[1] for line in lines[1:4]] == GAMMAS
    assert "settings: gamma 0.6 (of 3 on 5 folds of 12 labelled sequences)" in err
    made = json.loads(cli.done(learn("--json")).out)
    assert [each["name"] for each in made["tried"]] == [f"gamma {gamma}" for gamma in GAMMAS]
    assert cli.done(learn("--gamma 0.5")).err.count("settings: gamma 0.5 (given)") == 1


def test_text_columns_and_json_are_the_same_pool(folder, cli):
    models = []
    Path("pool.tsv").write_text("\n\n".join("\n".join(f"{t}\tO" for t in text.split()) for text in POOL))
    Path("pool.jsonl").write_text("".join(json.dumps({"tokens": text.split()}) + "\n" for text in POOL))
    Path("pool").write_text("\n".join(POOL))
    Path("joined.txt").write_text("\n".join(text.replace(" .", ".") for text in POOL))
    options = {"pool": "--text", "joined.txt": "--split punctuation"}
    for pool, more in {"pool.txt": "", "pool.tsv": "", "pool.jsonl": "", **options}.items():
        err = cli.done(learn(more, pool=pool)).err
        assert ("its labels are ignored; the model does not have 1 of them: O" in err) == (pool == "pool.tsv")
        models.append(Path("m.json").read_bytes())
        Path("m.json").unlink()
    assert len(set(models)) == 1


@pytest.mark.parametrize(
    "more",
    [
        "--gamma 0 --cycles 2",
        "--e-step posterior --seed 3 --cycles 2",
        "--kind hmm2 --option alike=true --k 3 --cycles 2",
        "--kind crf --option algorithm=averaged-perceptron --option max_iterations=3 --k 2 --cycles 2",
        "--m-step perceptron --k 2 --cycles 2",
        "--scheme iobes --gamma 0.5 --cycles 1",
        "--scheme plain --cycles 0",
    ],
)
def test_every_option_learns_a_model_that_decodes(folder, cli, more):
    cli.done(learn(more))
    cli.done("decode train.tsv --model m.json --output out.jsonl")


def test_sampled_sequences_are_said_in_a_notice(folder, cli, monkeypatch):
    rule = rule_text("at_most_runs", fields=["author"], field="each field", penalty=1.0)
    Path("rules.toml").write_text(rule)
    many = "the rules need too many joint states for exact probabilities"
    assert many not in cli.done(learn("--e-step posterior --option transitions=additive")).err
    monkeypatch.setattr(Expectation.__init__, "__defaults__", ((0,), 50, 100))
    err = cli.done(learn("--e-step posterior")).err
    assert f"{many}; used instead: sampled for 4 sequences" in err


def test_hard_rules_may_leave_sequences_out(folder, cli):
    Path("rules.toml").write_text(rule_text("at_least_tokens", field="pages", n=8))
    err = cli.done(learn()).err
    assert "2 of 4 sequences have no labelling that satisfies the hard rules, and are left out" in err


def test_empty_sequences_of_the_pool_are_left_out(folder, cli):
    Path("pool.jsonl").write_text('{"tokens": ["Ada", "."]}\n{"tokens": []}\n')
    said = cli.done("codl train.tsv pool.jsonl --rules rules.toml --output m.json --cycles 0").err
    assert "pool.jsonl: left out, as they have no token: 1 sequence" in said
