"""The command line: golden output, exit codes, files that appear whole."""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from support.command_line import SCORES, CommandLine, rows, rule_text
from support.places import GOLDEN

NINE = rule_text("at_least_tokens", field="title", n=9, name="nine")


def masked(text: str) -> str:
    """Output without what differs from run to run."""
    text = re.sub(r'("seconds": )[-+.e\d]+', r"\1…", text)
    text = re.sub(r'("job": ")[0-9a-f]+', r"\1…", text)
    text = re.sub(r'("source": ")(HiGHS|CBC|SCIP|CP-SAT)[^"]*', r"\1\2 …", text)
    return re.sub(r" +\d+(\.\d+)? +\d+(\.\d+)? *\n", "  … …\n", text)


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(masked(text))
    assert masked(text) == path.read_text()


def test_decode_prints_one_object_a_sequence(folder, cli):
    out = cli.output("decode scores.jsonl --rules rules.toml")
    golden("decode.jsonl", out)


@pytest.mark.parametrize("method", ["highs", "cbc", "scip", "cp-sat", "viterbi"])
def test_standard_output_is_strict_json_for_every_method(folder, capfd, monkeypatch, method):
    impossible = {**SCORES, "emissions": [[0, 0]] * 4, "transitions": [[None, None], [None, None]]}
    text = json.dumps(SCORES) + "\n" + json.dumps(impossible) + "\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, err = CommandLine(capfd)(f"decode - --method {method} --rules rules.toml")
    impossible = rows(out)[1]
    assert impossible["status"] == "infeasible" and impossible["score"] is impossible["labels"] is None
    assert (code, len(err.splitlines())) == (2, 1)
    assert "standard input, line 2: infeasible: the scores themselves forbid every labelling" in err


def test_trace_ties_and_jobs(folder, cli):
    (row,) = cli.rows("decode scores.jsonl --rules rules.toml --trace")
    assert row["trace"][-1][1:] == [row["score"], row["bound"]]
    last = row["incumbents"][-1]
    assert (last["score"], last["violations"]) == (row["score"], row["violations"])
    ties = cli.rows("decode scores.jsonl --rules rules.toml --top 9 --within 0")
    assert {each["score"] for each in ties} == {row["score"]}
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    made = cli.rows("decode in.jsonl --rules rules.toml --jobs 2")
    assert [(each["sequence"], each["labels"]) for each in made] == [(n, row["labels"]) for n in range(3)]


def test_compare_shows_and_writes_the_comparison(folder, cli):
    arguments = "compare train.tsv --model hmm.json --rules citations --output out"
    out = cli.done(f"{arguments} --methods auto,cbc:time_limit=30,highs,viterbi,beam").out
    golden("compare.txt", out)
    first = [(row["sequence"], row["method"]) for row in rows(Path("out/results.jsonl"))[:3]]
    assert first == [(0, "auto"), (0, "cbc:time_limit=30"), (0, "highs")]
    summary = json.loads(Path("out/summary.json").read_text())
    assert [line["method"] for line in summary["methods"]] == [
        "auto",
        "cbc:time_limit=30",
        "highs",
        "viterbi",
        "beam",
        "bare Viterbi pass",
    ]
    assert summary["limits"]["cbc:time_limit=30"]["time_limit"] == 30.0
    page = Path("out/report.html").read_text()
    assert '<img src="data:image/' in page and "http-equiv" not in page
    assert page.count("src=") == page.count('src="data:')
    assert sorted(os.listdir("out")) == ["report.html", "results.jsonl", "summary.json"]


def test_methods_that_disagree_are_an_error_that_names_the_sequence(folder, cli, monkeypatch):
    from ilpinfer.comparison import running

    honest = running.row_of

    def lying(sequence, entry, *more):
        row = honest(sequence, entry, *more)
        return {**row, "bound": row["bound"] - 2.0**-20} if (sequence, entry.name) == (1, "highs") else row

    monkeypatch.setattr(running, "row_of", lying)
    arguments = "compare train.tsv --model hmm.json --methods auto,highs --output out"
    code, _, err = cli(arguments)
    assert code == 1
    assert err.startswith("ilpinfer: sequence 1 (train.tsv, line 11): ")
    assert "but highs claims that none is above" in err
    assert not Path("out/results.jsonl").exists()
    assert cli(arguments)[0] == 1, "rows that were there already are checked again"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_demo_runs(cli, here):
    out = cli.output("demo")
    assert out.count("proved optimum") == 2 and len(out.splitlines()) <= 50
    assert "at most one description: 1.3 nats less for each further run" in out
    right = re.findall(r"→ (\d+) of (\d+) tokens right$", out, re.M)
    assert len(right) == 2 and all(some == all_ for some, all_ in right)
    assert re.search(r"^auto +100% +0\.000", out, re.M) and "Next: ilpinfer train" in out
    assert cli.output("demo --seed 6 --items 12").count("tokens right: the optimum is not right") == 2
    assert os.listdir() == []


def test_an_infeasible_sequence_is_named_with_its_rule_and_written(folder, cli):
    Path("rules.toml").write_text(NINE)
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 2)
    err = cli.refused("decode in.jsonl --rules rules.toml --output x.jsonl")
    assert err == (
        'ilpinfer: in.jsonl, line 1: infeasible: no labelling keeps rule "nine"; make it soft, or allow the labels '
        'that it needs; cheapest relaxation: allow 5 violations of "nine" at tokens 0 (a), 1 (b), 2 (c) and 1 more (and 1 more)\n'
    )
    assert [row["status"] for row in rows(Path("x.jsonl"))] == ["infeasible"] * 2


def test_unlabelled_columns_and_byte_order_marks(folder, cli):
    Path("x.tsv").write_bytes(b"\xef\xbb\xbfAda\r\n.\r\n\r\n{\r\n")
    assert [row["tokens"] for row in cli.rows("decode x.tsv --model hmm.json")] == [["Ada", "."], ["{"]]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_may_not_be_written(folder, cli):
    Path("locked").mkdir(mode=0o500)
    assert "cannot be written: Permission denied" in cli.refused("train train.tsv --output locked/hmm.json")


def test_a_rule_file_may_name_groups_and_complements(folder, cli):
    Path("rules.toml").write_text(
        """
fields = ["author", "title", "date"]
[groups]
names = ["author", "title"]
[[rule]]
template = "at_most_runs"
field = "names"
n = 0
penalty = 0.5
[[rule]]
template = "forbidden_transition"
from = { not = ["names"] }
to = ["author", "date"]
penalty = 0.25
distance = "binary"
[[feature]]
from = "names"
to = "names"
weight = 0.125
reason = "names go on"
"""
    )
    row = cli.rows("decode train.tsv --model hmm.json --rules rules.toml")[0]
    names = "at_most_runs(names, 0)", "forbidden_transition(other than names, author or date)"
    assert row["violations"] == dict.fromkeys(names, 1)
    assert (row["penalty"], row["feature_score"]) == (0.75, 6 * 0.125)


def test_compare_names_what_is_infeasible(folder, cli):
    Path("rules.toml").write_text(NINE)
    arguments = "compare scores.jsonl --rules rules.toml --methods auto,viterbi --output out"
    assert 'scores.jsonl, line 1: infeasible: no labelling keeps rule "nine"' in cli.failed(arguments)
    assert json.loads(Path("out/summary.json").read_text())["methods"][0]["proved"] == 1.0


def test_the_comparison_fits_eighty_columns(folder, cli, monkeypatch):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    arguments = "compare train.tsv --model hmm.json --rules citations --output out"
    out = re.sub(r"\x1b\[\d*m", "", cli(f"{arguments} --methods auto,viterbi")[1])
    assert "…" not in out and "100.00" in out
    assert max(map(len, out.splitlines())) <= 80


def test_labels_that_only_look_like_a_scheme_are_left_alone(folder, cli):
    Path("mail.tsv").write_text("a@b\tE-mail\n\nAda\tname\na@c\tE-mail\n\nGrace\tname\n")
    cli.done("train mail.tsv --output mail.json")
    cli.done("compare mail.tsv --model mail.json --methods auto --output d")
    assert json.loads(Path("d/summary.json").read_text())["methods"][0]["accuracy"] == 1.0


def test_parameters_of_searches_are_given_by_name(folder, cli):
    decode = "decode train.tsv --model hmm.json --rules citations"
    found = cli.rows(f"{decode} --method lds --option variant=admissible")
    assert all("lds: admissible" in row["method"] for row in found)
    compare = "compare train.tsv --model hmm.json --rules citations --output both --methods auto,evolutionary"
    cli.done(f"{compare} --option evolutionary.iterations=2")


def test_a_model_beside_scores_is_said_not_to_be_used(folder, cli):
    err = cli.done("decode scores.jsonl --model hmm.json").err
    assert err == "ilpinfer: notice: scores.jsonl contains scores, so hmm.json is not used\n"
