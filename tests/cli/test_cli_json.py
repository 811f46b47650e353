"""Results as JSON: one value on standard output, and no table."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from support.command_line import rows

from formulations.plain_values import plain
from ilpinfer.cli.screen import print_json


@pytest.fixture
def result(folder, cli):
    """The JSON of a command that ends with a code."""

    def call(command, code=0):
        ended = cli(f"{command} --json")
        assert ended.code == code, ended.err
        (value,) = rows(ended.out.replace("\n", " "))
        return value

    return call


def read(path):
    return json.loads(Path(path).read_text())


def test_training(result):
    made = result("train train.tsv --output m.json")
    assert (made["output"], made["kind"], made["scheme"]) == ("m.json", "hmm", "bio")
    assert (made["sequences"], made["tokens"]) == (2, 19)
    assert made["labels"][0] == "B-author" and made["held_out"] is made["cross_validation"] is None
    made = result("train train.tsv --output m.json --held-out train.tsv --cross-validate 2")
    assert made["held_out"]["sequences"] == 2 and 0 <= made["held_out"]["accuracy"] <= 1
    assert [fold["sequences"] for fold in made["cross_validation"]] == [1, 1]


def test_the_value_is_that_of_the_file(result):
    summary = result("compare scores.jsonl --rules rules.toml --output out")
    assert summary == read("out/summary.json")
    assert [line["method"] for line in summary["methods"]] == [
        *("auto", "viterbi", "beam", "bare Viterbi pass")
    ]
    measures = result("evaluate train.tsv train.tsv --against train.tsv --resamples 9 --output e.json")
    assert measures == read("e.json")
    assert measures["accuracy"] == 1.0 and measures["against"]["differences"][0]["gain"] == 0


def test_rules(result):
    assert result("check rules.toml")[0]["rule"] == "one title"
    assert result("check rules.toml train.tsv --write new.toml")[0]["rule"] == "one title"
    assert Path("new.toml").exists()
    mined = result("mine train.tsv --support 1 --folds 0 --gain 0 --output mined.toml")
    assert mined["sequences"] == 2 and mined["rules"]
    learnt = result("learn train.tsv --rules rules.toml --kind hmm --update counts --output learnt.toml")
    assert learnt["chosen"] == "given: counts"


def test_references(result):
    made = result("reference make scores.jsonl --rules rules.toml --output r.jsonl")
    assert made == {"output": "r.jsonl", "references": 1, "failures": []}
    (finding,) = result("reference verify r.jsonl")["references"]
    assert (finding["file"], finding["reference"]) == ("r.jsonl", 1)
    assert finding["holds"] is True and finding["reasons"] == []
    (shown,) = result("reference verify r.jsonl --verbose")["references"]
    assert shown["status"] == "optimal" and len(shown["optima"][0]) == 4
    record = read("r.jsonl")
    record["levels"][0]["score"] += 1
    Path("wrong.jsonl").write_text(json.dumps(record) + "\n")
    (finding,) = result("reference verify wrong.jsonl", code=1)["references"]
    assert not finding["holds"] and finding["reasons"]


def test_the_option_before_the_command(folder, cli):
    assert json.loads(cli.done("--json methods").out)[0]["name"] == "auto"
    assert cli.done("--json methods --no-json").out.startswith("method")


def test_every_command_that_prints_a_table_has_the_option():
    from ilpinfer.cli.app import group

    without = {
        name
        for name, command in group().commands.items()
        if not hasattr(command, "commands")
        and "--json" not in {o for each in command.params for o in each.opts}
    }
    assert without == {"convert", "decode", "serve"}, "these write JSON anyhow, or nothing"


def test_numbers_without_a_name_in_json_are_null(capsys):
    print_json({"a": math.inf, "b": [np.float64(1.5), np.int64(2), float("nan")], 3: ("x", None, True)})
    (value,) = rows(capsys.readouterr().out.replace("\n", " "))
    assert value == {"a": None, "b": [1.5, 2, None], "3": ["x", None, True]}
    assert plain({"a": -math.inf}) == {"a": None}
