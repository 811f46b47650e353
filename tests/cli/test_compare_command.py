"""`ilpinfer compare`: decoders of others, predictions, seeds, and tables."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import EntryPoint
from inspect import signature
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN, folder, run
from support.places import ROOT

from ilpinfer import compare
from ilpinfer.cli.comparing import CompareOptions
from ilpinfer.core import registry
from ilpinfer.decoding import outside

__all__ = ["folder"]
BASE = ["compare", "train.tsv", "--model", "hmm.json", "--rules", "rules.toml", "--output", "out"]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "comparison")
    yield
    outside.end_all()


def rows():
    return [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]


def summary():
    return json.loads(Path("out/summary.json").read_text())


def test_decoders_of_other_packages_are_methods(folder, capsys, monkeypatch):
    point = EntryPoint("plain", "outside_decoders:first_label", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    methods = "auto,plain,outside_decoders:plain,outside_decoders:first_label"
    code, out, err = run([*BASE, "--methods", methods, "--time-limit", "20"], capsys)
    assert (code, err) == (0, "")
    assert [line["method"] for line in summary()["methods"]] == methods.split(",")
    assert len({row["score"] for row in rows() if row["sequence"] == 0 and row["method"] != "auto"}) == 1
    assert all(name in out for name in methods.split(","))


def test_one_that_fails_costs_its_own_rows(folder, capsys):
    code, out, err = run([*BASE, "--methods", "auto,outside_decoders:raising"], capsys)
    assert code == 1
    assert (
        err
        == "ilpinfer: 2 sequences could not be decoded: first train.tsv, line 1, method outside_decoders:raising: no luck\n"
    )
    assert [row["status"] for row in rows()] == ["optimal", "unknown"] * 2
    good, bad = summary()["methods"]
    assert (good["solved"], bad["solved"], bad["failed"]) == (1.0, 0.0, 2)
    assert "failed with an error: outside_decoders:raising 2" in out and "failed" in out.splitlines()[1]
    assert (bad["mean_gap"], bad["search_errors"], bad["median_ms"], good["common"]) == (None, None, None, 2)
    assert summary()["matches"][0]["failed"] == 2
    assert "raised an error" in Path("out/report.html").read_text()


def test_one_that_never_ends_is_ended(folder, capsys):
    methods = "auto,outside_decoders:endless:0.1"
    code, _, err = run([*BASE, "--methods", methods], capsys)
    assert (code, err) == (0, "")
    assert rows()[1]["route"] == "outside_decoders:endless: ended at its time limit"
    assert summary()["methods"][1]["solved"] == 0.0


def test_predictions_are_methods(folder, capsys):
    decode = ["decode", "train.tsv", "--model", "hmm.json", "--output", "own.jsonl"]
    assert run(decode, capsys)[0] == 0
    iobes = TRAIN.replace("pages\n1\tI-pages\n.\tI", "pages\n1\tI-pages\n.\tE")
    Path("plain.tsv").write_text(iobes)
    more = ["--methods", "auto", "--predictions", "own=own.jsonl", "--predictions", "gold=train.tsv"]
    assert run([*BASE, *more], capsys)[::2] == (0, "")
    assert [(row["method"], row["seconds"] is None) for row in rows()[:3]] == [
        ("auto", False),
        ("own", True),
        ("gold", True),
    ]
    _, own, gold = summary()["methods"]
    assert (own["kind"], gold["accuracy"], gold["f1"]) == ("predictions", 1.0, 1.0)


def test_predictions_in_another_scheme_are_rewritten(folder, capsys):
    Path("iobes.tsv").write_text("Ada\tB-author\nLovelace\tE-author\n.\tS-title\n")
    Path("short.tsv").write_text("Ada\tB-author\nLovelace\tI-author\n.\tB-title\n")
    arguments = [*BASE, "--methods", "auto", "--predictions", "x=iobes.tsv"]
    arguments[1] = "short.tsv"
    assert run(arguments, capsys)[::2] == (0, "")
    assert rows()[1]["labels"] == ["B-author", "I-author", "B-title"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TRAIN.split("\n\n")[0] + "\n", "x.tsv has 1 sequences, but train.tsv has 2"),
        (TRAIN.replace("Ada", "Eva"), "x.tsv, line 1: token 0 is 'Eva', but 'Ada' in train.tsv, line 1"),
        ("Ada\n\nGrace\n", "x.tsv"),
        (TRAIN.replace("B-date", "date"), "x.tsv"),
    ],
)
def test_predictions_for_other_sequences_are_refused_before_any_work(folder, capsys, content, words):
    Path("x.tsv").write_text(content)
    code, out, err = run([*BASE, "--predictions", "x=x.tsv"], capsys)
    assert (code, out) == (2, "")
    assert words in err.splitlines()[-1]
    assert not Path("out").exists() or not list(Path("out").iterdir())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--predictions", "x"], "--predictions x: expected NAME=FILE"),
        (["--predictions", "x=a", "--predictions", "x=b"], "--predictions x is given twice"),
        (["--predictions", "auto=train.tsv"], "method auto is given twice"),
        (["--predictions", "x=none.tsv"], "none.tsv: cannot be read"),
        (["--methods", "auto,auto"], "method auto is given twice"),
        (["--methods", "nobody:decoder"], 'method "nobody:decoder": nobody:decoder cannot be imported'),
        (["--methods", "beam:wide=3"], "method beam has no option 'wide'"),
        (["--seeds", "1,x"], "--seeds 1,x: expected whole numbers"),
        (["--seeds", "1,1"], "seeds is [1, 1]"),
        (["--seeds", "1", "--repeats", "2"], "--seeds and --repeats: give one of them"),
        (["--cap", "0"], "cap is 0"),
        (["--format", "word"], "format is 'word'; expected one of"),
    ],
)
def test_bad_options_are_named_before_any_work(folder, capsys, more, words):
    code, out, err = run([*BASE, *more], capsys)
    assert (code, out) == (2, "")
    assert words in err.splitlines()[-1] and not Path("out/results.jsonl").exists()


def test_seeds_are_rows_and_a_spread(folder, capsys):
    more = ["--methods", "auto,annealing:time_limit=0.02", "--repeats", "3"]
    code, out, _ = run([*BASE, *more], capsys)
    assert code == 0 and "means over 3 seeds" in out and "spread" in out
    assert [(row["method"], row["seed"]) for row in rows()[:4]] == [
        ("auto", None),
        ("annealing:time_limit=0.02", 0),
        ("annealing:time_limit=0.02", 1),
        ("annealing:time_limit=0.02", 2),
    ]
    assert summary()["limits"]["annealing:time_limit=0.02"]["seeds"] == [0, 1, 2]
    whole = Path("out/results.jsonl").read_text().splitlines(keepends=True)
    Path("out/results.jsonl").unlink()
    Path("out/results.jsonl.part").write_text("".join(whole[:6]))
    assert run([*BASE, *more], capsys)[::2] == (0, "")
    assert Path("out/results.jsonl").read_text().splitlines(keepends=True)[:6] == whole[:6]


def test_tables_for_papers(folder, capsys):
    assert run([*BASE, "--format", "csv", "--methods", "auto,viterbi"], capsys)[0] == 0
    with Path("out/summary.csv").open() as stream:
        lines = list(csv.reader(stream))
    assert len(lines) == 3 and [line[0] for line in lines[1:]] == ["auto", "viterbi"]
    for name, ending in (("markdown", "md"), ("latex", "tex"), ("parquet", "parquet")):
        assert run([*BASE, "--format", name, "--methods", "auto,viterbi"], capsys)[0] == 0
        assert Path(f"out/summary.{ending}").stat().st_size > 50
    assert r"\toprule" in Path("out/summary.tex").read_text()


def test_the_cap_of_the_command_is_that_of_python():
    command = {each.name: each.default for each in fields(CompareOptions)}
    assert command["cap"] == signature(compare).parameters["cap"].default


def test_without_an_exact_method_that_is_said(folder, capsys):
    code, _, err = run([*BASE, "--methods", "viterbi:time_limit=9,outside_decoders:first_label"], capsys)
    assert code == 0
    proved = any(row["status"] == "optimal" for row in rows())
    assert proved or "add auto to --methods" in err


def test_scores_without_tokens_take_predictions_too(folder, capsys):
    bare = {name: value for name, value in SCORES.items() if name != "tokens"}
    Path("bare.jsonl").write_text(json.dumps(bare) + "\n")
    Path("said.jsonl").write_text(json.dumps({"tokens": ["a", "b", "c", "d"], "labels": ["O"] * 4}) + "\n")
    Path("long.jsonl").write_text(json.dumps({"tokens": ["a"] * 5, "labels": ["O"] * 5}) + "\n")
    base = ["compare", "bare.jsonl", "--methods", "auto", "--output", "out", "--predictions"]
    assert run([*base, "x=said.jsonl"], capsys)[::2] == (0, "")
    assert rows()[1]["labels"] == ["O"] * 4
    code, _, err = run([*base, "x=long.jsonl"], capsys)
    assert code == 2 and "x, sequence 0: 5 labels for 4 tokens" in err


def test_an_interrupted_comparison_of_other_predictions_is_another_one(folder, capsys):
    assert run([*BASE, "--methods", "auto", "--predictions", "x=train.tsv"], capsys)[0] == 0
    whole = Path("out/results.jsonl").read_text().splitlines(keepends=True)
    Path("out/results.jsonl").unlink()
    Path("out/results.jsonl.part").write_text("".join(whole[:2]))
    Path("y.tsv").write_text(TRAIN.replace("Notes\tB-title", "Notes\tI-author"))
    code, _, err = run([*BASE, "--methods", "auto", "--predictions", "x=y.tsv"], capsys)
    assert code == 2 and "belongs to another run" in err


def test_an_installed_package_offers_its_decoder(folder):
    site = Path("site")
    (site / "mypackage").mkdir(parents=True)
    (site / "mypackage" / "__init__.py").write_text("from outside_decoders import first_label as decode\n")
    record = site / "mypackage-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[ilpinfer.methods]\ngreedy = mypackage:decode\n")
    environment = {**os.environ, "PYTHONPATH": f"site:{ROOT / 'tests' / 'comparison'}"}
    command = [sys.executable, "-m", "ilpinfer", *BASE, "--methods", "auto,mypackage:greedy,greedy-decoder"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and 'no method "greedy-decoder"' in result.stderr
    listing = [sys.executable, "-m", "ilpinfer", "methods"]
    shown = subprocess.run(listing, env=environment, capture_output=True, text=True, check=True).stdout
    assert "mypackage:greedy" in shown and "mypackage:decode, of another package" in shown
    command[-1] = "auto,mypackage:greedy:5"
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert [line["method"] for line in summary()["methods"]] == ["auto", "mypackage:greedy:5"]
    assert [row["status"] for row in rows() if row["method"] != "auto"] == ["feasible"] * 2
