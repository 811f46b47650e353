"""`ilpinfer compare`: decoders of others, predictions, seeds, and tables."""

import json
from dataclasses import fields
from importlib.metadata import EntryPoint
from inspect import signature
from pathlib import Path

import pytest
from support.command_line import SCORES, rows
from support.places import ROOT
from support.processes import python

from formulations import entry_points
from ilpinfer import Comparison
from ilpinfer.cli.compare_options import CompareOptions
from ilpinfer.core import registry
from ilpinfer.decoding import outside

BASE = "compare train.tsv --model hmm.json --rules rules.toml --output out"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests" / "comparison")
    yield
    outside.end_all()


def results():
    return rows(Path("out/results.jsonl"))


def summary():
    return json.loads(Path("out/summary.json").read_text())


def test_decoders_of_other_packages_are_methods(folder, cli, monkeypatch):
    point = EntryPoint("plain", "outside_decoders:first_label", registry.DECODERS)
    monkeypatch.setattr(entry_points, "offered", lambda group: [point] if group == registry.DECODERS else [])
    methods = "auto,plain,outside_decoders:plain,outside_decoders:first_label"
    out = cli.output(f"{BASE} --methods {methods} --time-limit 20")
    assert [line["method"] for line in summary()["methods"]] == [*methods.split(","), "bare Viterbi pass"]
    others = [row for row in results() if row["sequence"] == 0 and row["method"] != "auto"]
    assert len({row["score"] for row in others}) == 1
    assert all(name in out for name in methods.split(","))


def test_where_all_sequences_are_infeasible_no_optimum_is_missed(here, cli):
    never = {"label_names": ["B-a", "O"], "emissions": [[None, None]], "transitions": [[0, 0], [0, 0]]}
    Path("in.jsonl").write_text(json.dumps(never) + "\n")
    code, out, err = cli("compare in.jsonl --rules bio --methods auto --output out")
    assert code == 2 and "left out: 1 sequence proved infeasible" in out
    assert err.startswith("ilpinfer: in.jsonl, line 1: infeasible: ") and err.count("\n") == 1


def test_one_that_fails_costs_its_own_rows(folder, cli):
    code, out, err = cli(f"{BASE} --methods auto,outside_decoders:raising")
    assert code == 1
    place = "first train.tsv, line 1, method outside_decoders:raising"
    assert err == f"ilpinfer: 2 sequences could not be decoded: {place}: no luck\n"
    assert [row["status"] for row in results()] == ["optimal", "unknown"] * 2
    good, bad, _ = summary()["methods"]
    assert (good["solved"], bad["solved"], bad["failed"]) == (1.0, 0.0, 2)
    assert "failed with an error: outside_decoders:raising 2" in out and "failed" in out.splitlines()[1]
    assert (bad["mean_gap"], bad["search_errors"], bad["median_ms"], good["common"]) == (None, None, None, 2)
    assert summary()["matches"][0]["failed"] == 2
    assert "raised an error" in Path("out/report.html").read_text()


def test_one_that_never_ends_is_ended(folder, cli):
    methods = "auto,outside_decoders:endless:time_limit=0.1"
    cli.output(f"{BASE} --methods {methods}")
    assert results()[1]["route"] == "outside_decoders:endless: ended at its time limit"
    assert summary()["methods"][1]["solved"] == 0.0


def test_predictions_are_methods(folder, cli):
    cli.done("decode train.tsv --model hmm.json --output own.jsonl")
    more = "--methods auto --predictions own=own.jsonl --predictions gold=train.tsv"
    cli.output(f"{BASE} {more}")
    kinds = [(row["method"], row["seconds"] is None) for row in results()[:3]]
    assert kinds == [("auto", False), ("own", True), ("gold", True)]
    _, own, gold, _ = summary()["methods"]
    assert (own["kind"], gold["accuracy"], gold["f1"]) == ("predictions", 1.0, 1.0)


def test_predictions_in_another_scheme_are_rewritten(folder, cli):
    Path("iobes.tsv").write_text("Ada\tB-author\nLovelace\tE-author\n.\tS-title\n")
    Path("short.tsv").write_text("Ada\tB-author\nLovelace\tI-author\n.\tB-title\n")
    base = BASE.replace("train.tsv", "short.tsv")
    cli.output(f"{base} --methods auto --predictions x=iobes.tsv")
    assert results()[1]["labels"] == ["B-author", "I-author", "B-title"]


def test_seeds_are_rows_and_a_spread(folder, cli):
    more = "--methods auto,evolutionary:time_limit=0.02 --repeats 3"
    out = cli.done(f"{BASE} {more}").out
    assert "means over 3 seeds" in out and "spread" in out
    seeds = [(row["method"], row["seed"]) for row in results()[:4]]
    assert seeds == [("auto", None), *(("evolutionary:time_limit=0.02", seed) for seed in range(3))]
    assert summary()["limits"]["evolutionary:time_limit=0.02"]["seeds"] == [0, 1, 2]


def test_tables_and_plots_of_a_paper_under_names(folder, cli):
    more = "--name Beam=beam:width=2 --format latex --preset gaps --plots pdf --only gaps --plot-width 3.3 --support 1"
    out = cli.done(f"{BASE} --methods auto,beam:width=2 {more}").out
    assert "Beam" in out and "beam:width=2" not in out
    assert {row["method"] for row in results()} == {"auto", "Beam"}
    assert summary()["limits"]["Beam"]["method"] == "beam:width=2"
    assert r"\caption{Mean gap" in Path("out/gaps.tex").read_text()
    assert Path("out/gaps.pdf").read_bytes().startswith(b"%PDF") and not Path("out/lengths.pdf").exists()
    assert "in gold at least 1 times" in Path("out/report.html").read_text()
    cli.done(f"{BASE} --methods auto,viterbi --format csv --columns method,f1 --digits 0 ")
    assert (
        Path("out/summary.csv").read_text()
        == "method,F1 (%)\nauto,100.0\nviterbi,100.0\nbare Viterbi pass,100.0\n"
    )


def test_tables_and_plots_have_several_formats(folder, cli):
    formats = "--format csv --format latex --caption Gaps --plots pdf --plots svg --only gaps"
    cli.done(f"{BASE} --methods auto,viterbi {formats}")
    assert Path("out/summary.csv").is_file() and r"\caption{Gaps" in Path("out/summary.tex").read_text()
    assert Path("out/gaps.pdf").is_file() and Path("out/gaps.svg").is_file()
    said = cli.refused(f"{BASE} --format csv --format parquet --caption Gaps")
    assert said == "ilpinfer: format csv has no caption; choose latex or markdown\n"


def test_tables_and_plots_of_an_earlier_run_are_removed(folder, cli):
    own = {"results.jsonl", "summary.json", "report.html"}
    cli.done(f"{BASE} --methods auto,viterbi --format latex --preset gaps --plots pdf --only gaps")
    Path("out/mine.tex").write_text("mine")
    cli.done(f"{BASE} --methods auto --format csv --columns method")
    assert {path.name for path in Path("out").iterdir()} == own | {"mine.tex", "summary.csv"}
    for listed in ('{"files": ["mine.tex", "../hmm.json", 3]}', '{"files": 3}', "[]", "no JSON"):
        Path("out/summary.json").write_text(listed)
        cli.done(f"{BASE} --methods auto")
        assert Path("out/mine.tex").is_file() and Path("hmm.json").is_file()


def test_runs_are_joined_and_written_again_without_decoding(folder, cli, monkeypatch):
    cli.done(f"{BASE} --methods auto,viterbi")
    cli.done(f"{BASE.removesuffix('out')}other --methods auto,beam,lds")
    monkeypatch.setattr("ilpinfer.decoding.runner.Runner.one", None)
    out = cli.done("compare out --join other --output both --name Greedy=beam --format csv").out
    assert all(name in out for name in ("auto", "viterbi", "Greedy", "lds"))
    both = json.loads(Path("both/summary.json").read_text())
    assert [line["method"] for line in both["methods"]][:-1] == ["auto", "viterbi", "Greedy", "lds"]
    found = rows(Path("both/results.jsonl"))[:4]
    assert [row["method"] for row in found] == ["auto", "viterbi", "Greedy", "lds"]
    assert "This comparison was read from its rows" in Path("both/report.html").read_text()
    cli.done("compare both --output again")
    again = json.loads(Path("again/summary.json").read_text())
    assert again.pop("files") == ["report.html"] and "summary.csv" in both.pop("files")
    assert again == both
    assert Path("again/results.jsonl").read_text() == Path("both/results.jsonl").read_text()


def test_what_cannot_be_joined_is_named(folder, cli):
    cli.done(f"{BASE} --methods auto,viterbi")
    cli.done(f"{BASE.removesuffix('out')}other --methods auto,viterbi --first 1")
    for command, words in (
        ("compare out --join other --output x", "two comparisons with different numbers of sequences"),
        (
            "compare out --join out --output x",
            "viterbi: in both comparisons; give other names in one of them",
        ),
        ("compare out --join train.tsv --output x", "train.tsv/summary.json: cannot be read"),
        ("compare out --output out", "out/results.jsonl: is also an input of this command"),
        ("compare out --join other --output other", "other/results.jsonl: is also an input of this command"),
        (
            "compare out --output x --methods lds",
            "--methods: an option for sequences, and out is a folder of results",
        ),
        ("compare out --output x --model hmm.json", "--model: an option for sequences"),
        ("compare out --output x --rules-first", "--rules-first: an option for sequences"),
    ):
        assert words in cli.refused(command).splitlines()[-1], command
        assert not Path("x").exists()


def test_the_support_of_the_command_is_that_of_python():
    command = {each.name: each.default for each in fields(CompareOptions)}
    assert command["support"] == signature(Comparison.report).parameters["support"].default


def test_without_an_exact_method_that_is_said(folder, cli):
    err = cli.done(f"{BASE} --methods viterbi:time_limit=9,outside_decoders:first_label").err
    proved = any(row["status"] == "optimal" for row in results())
    assert proved or "add auto to --methods" in err


def test_scores_without_tokens_take_predictions_too(folder, cli):
    bare = {name: value for name, value in SCORES.items() if name != "tokens"}
    Path("bare.jsonl").write_text(json.dumps(bare) + "\n")
    Path("said.jsonl").write_text(json.dumps({"tokens": ["a", "b", "c", "d"], "labels": ["O"] * 4}) + "\n")
    cli.output("compare bare.jsonl --methods auto --output out --predictions x=said.jsonl")
    assert results()[1]["labels"] == ["O"] * 4


def test_an_installed_package_offers_its_decoder(folder):
    site = Path("site")
    (site / "mypackage").mkdir(parents=True)
    (site / "mypackage" / "__init__.py").write_text("from outside_decoders import first_label as decode\n")
    record = site / "mypackage-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text("[ilpinfer.methods]\ngreedy = mypackage:decode\n")

    def run(command):
        variables = {"PYTHONPATH": f"site:{ROOT / 'tests' / 'comparison'}"}
        return python("-m", "ilpinfer", *command.split(), variables=variables)

    result = run(f"{BASE} --methods auto,mypackage:greedy,greedy-decoder")
    assert result.returncode == 2 and 'no method "greedy-decoder"' in result.stderr
    shown = run("methods").stdout
    assert "mypackage:greedy" in shown and "mypackage:decode, of another package" in shown
    result = run(f"{BASE} --methods auto,mypackage:greedy:time_limit=5")
    assert (result.returncode, result.stderr) == (0, "")
    assert [line["method"] for line in summary()["methods"]][:2] == ["auto", "mypackage:greedy:time_limit=5"]
    assert [row["status"] for row in results() if row["method"] != "auto"] == ["feasible"] * 2
