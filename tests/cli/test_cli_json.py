"""Results as JSON: one value on standard output, and no table."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from support.command_line import run

from ilpinfer.cli.screen import plain, print_json


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def result(folder, capsys):
    """Runs a command, and returns its exit code and its JSON."""

    def call(*arguments):
        code, out, _ = run([*arguments, "--json"], capsys)
        return code, strict(out)

    return call


def test_training(result):
    code, made = result("train", "train.tsv", "--output", "m.json")
    assert code == 0
    assert (made["output"], made["kind"], made["scheme"], made["sequences"], made["tokens"]) == (
        "m.json",
        "hmm",
        "bio",
        2,
        19,
    )
    assert made["labels"][0] == "B-author" and made["held_out"] is made["cross_validation"] is None
    code, made = result(
        "train", "train.tsv", "--output", "m.json", "--held-out", "train.tsv", "--cross-validate", "2"
    )
    assert made["held_out"]["sequences"] == 2 and 0 <= made["held_out"]["accuracy"] <= 1
    assert [fold["sequences"] for fold in made["cross_validation"]] == [1, 1]


def test_comparing_is_the_summary_file(result):
    code, summary = result("compare", "scores.jsonl", "--rules", "rules.toml", "--output", "out")
    assert code == 0
    assert summary == json.loads(Path("out/summary.json").read_text())
    assert [line["method"] for line in summary["methods"]] == ["auto", "viterbi", "beam"]


def test_evaluating_is_the_file_of_measures(result):
    code, measures = result(
        "evaluate",
        "train.tsv",
        "train.tsv",
        "--against",
        "train.tsv",
        "--resamples",
        "9",
        "--output",
        "e.json",
    )
    assert code == 0
    assert measures == json.loads(Path("e.json").read_text())
    assert measures["accuracy"] == 1.0 and measures["against"]["differences"][0]["gain"] == 0


def test_pareto_is_the_summary_file(result):
    code, summary = result(
        "pareto", "scores.jsonl", "--rules", "rules.toml", "--output", "p.jsonl", "--summary", "s.json"
    )
    assert code == 0
    assert summary == json.loads(Path("s.json").read_text())
    assert summary["sequences"] == 1 and summary["points"] >= 1


def test_rules(result):
    code, rules = result("explain", "rules.toml")
    assert code == 0 and rules[0]["rule"] == "one title"
    code, checked = result("check", "rules.toml", "train.tsv", "--write", "new.toml")
    assert code == 0 and checked[0]["rule"] == "one title" and Path("new.toml").exists()
    code, mined = result(
        "mine", "train.tsv", "--support", "1", "--folds", "0", "--gain", "0", "--output", "mined.toml"
    )
    assert code == 0 and mined["sequences"] == 2 and mined["rules"]
    code, learnt = result(
        "learn", "rules.toml", "train.tsv", "--kind", "hmm", "--algorithm", "given", "--output", "learnt.toml"
    )
    assert code == 0 and learnt["algorithm"] == "given"


def test_learning_from_few_labels(result):
    Path("pool.txt").write_text(
        "Ada Lovelace . Notes on engines . 1843 .\nGrace Hopper . Compilers . 1952 .\n"
    )
    code, made = result(
        "codl", "train.tsv", "pool.txt", "--cycles", "2", "--held-out", "train.tsv", "--output", "c.json"
    )
    assert code == 0
    assert [cycle["number"] for cycle in made["cycles"]] == [1, 2]
    assert made["output"] == "c.json" and made["made"]["by"] == "CODL"
    assert 0 <= made["supervised"]["without rules"]["accuracy"] <= 1


def test_programs_and_solutions(result):
    code, made = result("export", "scores.jsonl", "--rules", "rules.toml", "--output", "lp")
    assert code == 0
    assert made == {"output": "lp", "programs": ["lp/0001.lp"], "failures": []}
    columns = json.loads(Path("lp/0001.columns.json").read_text())["columns"]
    path = ["START", "title", "O", "title", "title", "END"]
    taken = {f"x[{t},{path[t]},{path[t + 1]}]" for t in range(5)} | {'sigma["one title"]'}
    values = "".join(f"{column['file']} {int(column['name'] in taken)}\n" for column in columns)
    Path("lp/0001.sol").write_text(f"# Solution file\n{values}")
    code, (row,) = result("import-solution", "scores.jsonl", "lp", "--rules", "rules.toml")
    assert (code, row["solver"], row["labels"]) == (0, "Gurobi", path[1:-1])
    assert row["penalty"] == 2.5 and row["claimed_objective"] is None


def test_references(result):
    code, made = result("reference", "make", "scores.jsonl", "--rules", "rules.toml", "--output", "r.jsonl")
    assert (code, made) == (0, {"output": "r.jsonl", "references": 1, "failures": []})
    code, verified = result("reference", "verify", "r.jsonl")
    assert code == 0
    (finding,) = verified["references"]
    assert (finding["file"], finding["reference"], finding["holds"], finding["reasons"]) == (
        "r.jsonl",
        1,
        True,
        [],
    )
    code, shown = result("reference", "show", "r.jsonl")
    assert code == 0
    assert (
        shown[0]["status"] == "optimal"
        and len(shown[0]["optima"][0]) == 4
        and shown[0]["rules"] == ["one title"]
    )
    record = json.loads(Path("r.jsonl").read_text())
    record["levels"][0]["score"] += 1
    Path("wrong.jsonl").write_text(json.dumps(record) + "\n")
    code, verified = result("reference", "verify", "wrong.jsonl")
    assert code == 1 and not verified["references"][0]["holds"] and verified["references"][0]["reasons"]
    code, made = result(
        "reference", "generate", "plain", "--count", "2", "--tokens", "4", "--output", "g.jsonl"
    )
    assert (code, made) == (0, {"output": "g.jsonl", "references": 2, "kind": "plain"})
    code, made = result("reference", "programs", "g.jsonl", "--output", "programs")
    assert (code, made["references"], made["programs"]) == (0, 2, 2)


def test_corpora(result):
    pytest.importorskip("pyarrow")
    code, tried = result("reprocess", "scores.jsonl", "--output", "out", "--dry-run", "--jobs", "1")
    assert code == 0 and tried["sequences"] == 1 and tried["processes"] == 1 and not Path("out").exists()
    code, made = result("reprocess", "scores.jsonl", "--output", "out", "--jobs", "1")
    assert code == 0
    assert made == {
        "output": "out",
        "finished": True,
        "files": 1,
        "sequences": 1,
        "proved": 1,
        "unproved": 0,
        "failed": 0,
        "rejected": 0,
    }


def test_the_demonstration_and_the_kernels(result):
    code, shown = result("demo", "--items", "3")
    assert code == 0 and shown["items"] == 3
    assert [line["method"] for line in shown["methods"]] == ["auto", "highs", "beam", "viterbi"]
    code, warmed = result("warm-up")
    assert code == 0 and {"name", "purpose", "seconds"} == set(warmed["stages"][0])


def test_the_option_before_the_command(folder, capsys):
    code, out, _ = run(["--json", "methods"], capsys)
    assert code == 0 and strict(out)[0]["name"] == "auto"
    code, out, _ = run(["--json", "methods", "--no-json"], capsys)
    assert code == 0 and out.startswith("method")


def test_every_command_that_prints_a_table_has_the_option():
    from ilpinfer.cli.app import group

    without = {
        name
        for name, command in group().commands.items()
        if not hasattr(command, "commands")
        and "--json" not in {o for each in command.params for o in each.opts}
    }
    assert without == {"convert", "decode", "schema", "serve"}, "these write JSON anyhow, or nothing"


def test_numbers_without_a_name_in_json_are_null(capsys):
    print_json({"a": math.inf, "b": [np.float64(1.5), np.int64(2), float("nan")], 3: ("x", None, True)})
    assert strict(capsys.readouterr().out) == {"a": None, "b": [1.5, 2, None], "3": ["x", None, True]}
    assert plain({"a": -math.inf}) == {"a": None}
