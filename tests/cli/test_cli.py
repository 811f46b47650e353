"""The command line: golden output, exit codes, files that appear whole."""

import json
import math
import os
import re
from pathlib import Path

import pytest
from support.command_line import SCORES, run
from support.places import GOLDEN

from ilpinfer.cli import main


def strict(text: str) -> list[dict]:
    def refuse(constant: str):
        raise AssertionError(f"{constant} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def masked(text: str) -> str:
    """Output without what differs from run to run."""
    text = re.sub(r'("(?:warm_up_)?seconds": )[-+.e\d]+', r"\1…", text)
    text = re.sub(r'("job": ")[0-9a-f]+', r"\1…", text)
    text = re.sub(r'("source": ")(HiGHS|CBC|SCIP|CP-SAT)[^"]*', r"\1\2 …", text)
    return re.sub(r" +\d+(\.\d\d)? +\d+(\.\d\d)? *\n", "  … …\n", text)


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(masked(text))
    assert masked(text) == path.read_text()


def test_decode_prints_one_object_a_sequence(folder, capsys):
    code, out, err = run(["decode", "scores.jsonl", "--rules", "rules.toml"], capsys)
    assert (code, err) == (0, "")
    golden("decode.jsonl", out)


@pytest.mark.parametrize(
    "method", ["highs", "cbc", "scip", "cp-sat", "viterbi", "beam", "lds", "evolutionary"]
)
def test_standard_output_is_strict_json_for_every_method(folder, capfd, monkeypatch, method):
    impossible = {**SCORES, "emissions": [[0, 0]] * 4, "transitions": [[None, None], [None, None]]}
    text = json.dumps(SCORES) + "\n" + json.dumps(impossible) + "\n"
    arguments = ["decode", "-", "--method", method, "--rules", "rules.toml"]
    code, out, err = run(arguments, capfd, text, monkeypatch)
    rows = strict(out)
    assert [row["status"] for row in rows][1] == "infeasible"
    said = [line for line in err.splitlines() if "compiling kernels" not in line]
    assert (code, len(said)) == (2, 1)
    assert "standard input, line 2: infeasible: the scores themselves forbid every labelling" in err
    assert rows[1]["score"] is rows[1]["labels"] is None


def test_decode_writes_a_file_whole_and_resumes(folder, capsys):
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    arguments = ["decode", "in.jsonl", "--rules", "rules.toml", "--output", "out/x.jsonl"]
    assert run(arguments, capsys)[0] == 0
    whole = Path("out/x.jsonl").read_text()
    assert not Path("out/x.jsonl.part").exists()
    first, second, _ = whole.splitlines(keepends=True)
    Path("out/x.jsonl").unlink()
    Path("out/x.jsonl.part").write_text(first + second.replace('"penalty": 0.0', '"penalty": 7.0') + '{"torn')
    assert run(arguments, capsys)[0] == 0
    resumed = Path("out/x.jsonl").read_text().splitlines()
    assert len(resumed) == 3 and '"penalty": 7.0' in resumed[1], "rows that were there are kept as they were"
    Path("out/x.jsonl.part").write_text(first)
    code, _, err = run([*arguments, "--method", "viterbi"], capsys)
    assert code == 2 and "belongs to another run; delete it, or choose another output" in err


def test_train_and_decode_columns_with_the_catalogue(folder, capsys):
    code, out, err = run(["decode", "train.tsv", "--model", "hmm.json", "--rules", "citations"], capsys)
    assert code == 0
    assert err.startswith("ilpinfer: notice: no label for booktitle, editor, institution")
    assert err.count("\n") == 1
    rows = strict(out)
    assert [row["sequence"] for row in rows] == [0, 1]
    assert all(row["status"] == "optimal" for row in rows)
    assert rows[0]["labels"][0] == "B-author"


def test_top_and_two_phase(folder, capsys):
    code, out, _ = run(["decode", "scores.jsonl", "--rules", "rules.toml", "--top", "3"], capsys)
    assert code == 0
    assert [row["rank"] for row in strict(out)] == [1, 2, 3]
    code, out, _ = run(["decode", "scores.jsonl", "--rules", "rules.toml", "--tau", "0.5"], capsys)
    assert code == 0
    row = strict(out)[0]
    assert row["penalty"] == 0.0 and row["floor"] <= row["model_score"] <= row["best_score"]


def test_trace_ties_and_jobs(folder, capsys):
    code, out, _ = run(["decode", "scores.jsonl", "--rules", "rules.toml", "--trace"], capsys)
    (row,) = strict(out)
    assert code == 0
    assert row["trace"][-1][1:] == [row["score"], row["bound"]]
    last = row["incumbents"][-1]
    assert (last["score"], last["violations"]) == (row["score"], row["violations"])
    arguments = ["decode", "scores.jsonl", "--rules", "rules.toml", "--top", "9", "--within", "0"]
    code, out, _ = run(arguments, capsys)
    assert code == 0
    assert {each["score"] for each in strict(out)} == {row["score"]}
    code, _, err = run(["decode", "scores.jsonl", "--trace", "--jobs", "2"], capsys)
    assert code == 2 and "--trace and --jobs: give one of them" in err
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    code, out, _ = run(["decode", "in.jsonl", "--rules", "rules.toml", "--jobs", "2"], capsys)
    assert code == 0
    assert [(each["sequence"], each["labels"]) for each in strict(out)] == [
        (n, row["labels"]) for n in range(3)
    ]


def test_warm_up_says_where_kernels_are_kept(folder, capsys):
    code, out, _ = run(["warm-up"], capsys)
    assert code == 0
    assert "engine: multipliers and label setting" in out
    assert "stored in" in out.replace("\n", " ") or "NUMBA_CACHE_DIR" in out


def test_scheme_plain_strips_prefixes(folder, capsys):
    assert main(["train", "train.tsv", "--output", "plain.json", "--scheme", "plain"]) == 0
    code, out, _ = run(["decode", "train.tsv", "--model", "plain.json"], capsys)
    assert code == 0
    assert strict(out)[0]["labels"][:2] == ["author", "author"]
    code, _, err = run(["decode", "train.tsv", "--model", "hmm.json", "--scheme", "plain"], capsys)
    assert code == 2 and "the model's labels are bio; train it with --scheme plain" in err
    code, _, _ = run(
        ["compare", "train.tsv", "--model", "plain.json", "--methods", "viterbi", "--output", "d"], capsys
    )
    assert code == 0
    assert json.loads(Path("d/summary.json").read_text())["methods"][0]["accuracy"] > 0.8


def test_compare_shows_and_writes_the_comparison(folder, capsys):
    arguments = ["compare", "train.tsv", "--model", "hmm.json", "--rules", "citations", "--output", "out"]
    code, out, _ = run([*arguments, "--methods", "auto,cbc:30,highs,viterbi,beam"], capsys)
    assert code == 0
    golden("compare.txt", out)
    rows = strict(Path("out/results.jsonl").read_text())
    assert [(row["sequence"], row["method"]) for row in rows[:3]] == [
        (0, "auto"),
        (0, "cbc:30"),
        (0, "highs"),
    ]
    summary = json.loads(Path("out/summary.json").read_text())
    assert [line["method"] for line in summary["methods"]] == ["auto", "cbc:30", "highs", "viterbi", "beam"]
    assert summary["limits"]["cbc:30"]["time_limit"] == 30.0
    page = Path("out/report.html").read_text()
    assert '<img src="data:image/' in page and "http-equiv" not in page
    assert page.count("src=") == page.count('src="data:')
    assert sorted(os.listdir("out")) == ["report.html", "results.jsonl", "summary.json"]


def test_methods_that_disagree_are_an_error_that_names_the_sequence(folder, capsys, monkeypatch):
    from ilpinfer.comparison import running

    honest = running.row_of

    def lying(sequence, entry, *more):
        row = honest(sequence, entry, *more)
        return {**row, "bound": row["bound"] - 2.0**-20} if (sequence, entry.name) == (1, "highs") else row

    monkeypatch.setattr(running, "row_of", lying)
    arguments = ["compare", "train.tsv", "--model", "hmm.json", "--methods", "auto,highs", "--output", "out"]
    code, _, err = run(arguments, capsys)
    assert code == 1
    assert err.startswith("ilpinfer: sequence 1 (train.tsv, line 11): ")
    assert "but highs claims that none is above" in err
    assert not Path("out/results.jsonl").exists()
    assert run(arguments, capsys)[0] == 1, "rows that were there already are checked again"


def test_check_counts_breaches_in_gold(folder, capsys):
    code, out, err = run(["check", "citations", "train.tsv"], capsys)
    assert code == 0 and "counted as absent" in err
    golden("check.txt", out)
    code, out, _ = run(["check", "citations", "train.tsv", "--json"], capsys)
    assert [row["violations"] for row in json.loads(out)] == [0] * 11


def test_methods_are_listed(folder, capsys):
    golden("methods.txt", run(["methods"], capsys)[1])
    names = [m["name"] for m in json.loads(run(["methods", "--json"], capsys)[1])]
    assert names[:6] == ["auto", "cbc", "cp-sat", "highs", "scip", "viterbi"]
    assert {"lds", "evolutionary", "hybrid", "constrained-viterbi", "post-correction", "beam"} < set(names)


@pytest.mark.parametrize("command", ["demo", "train", "decode", "compare", "check", "methods", None])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_everywhere(capsys, command, flag):
    code, out, err = run([command, flag] if command else [flag], capsys)
    assert (code, err) == (0, "")
    assert out.startswith("Usage: ilpinfer")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_demo_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(["demo"], capsys)
    assert (code, err) == (0, "")
    assert out.count("proved optimum") >= 3 and "sequences with a labelling that breaks a rule: auto" in out
    assert os.listdir() == []


def test_an_infeasible_sequence_is_named_with_its_rule_and_written(folder, capsys):
    Path("rules.toml").write_text(
        'fields = ["title"]\n[[rule]]\nname = "nine"\ntemplate = "at_least_tokens"\nfield = "title"\nn = 9\n'
    )
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 2)
    code, _, err = run(["decode", "in.jsonl", "--rules", "rules.toml", "--output", "x.jsonl"], capsys)
    assert code == 2
    assert err == (
        'ilpinfer: in.jsonl, line 1: infeasible: rule "nine" alone leaves no labelling; make it soft, or allow what '
        'it asks for; cheapest relaxation: allow 5 violations of "nine" at tokens 0 (a), 1 (b), 2 (c) and 1 more (and 1 more)\n'
    )
    assert [row["status"] for row in strict(Path("x.jsonl").read_text())] == ["infeasible"] * 2


def test_unlabelled_columns_and_byte_order_marks(folder, capsys):
    Path("x.tsv").write_bytes(b"\xef\xbb\xbfAda\r\n.\r\n\r\n{\r\n")
    code, out, _ = run(["decode", "x.tsv", "--model", "hmm.json"], capsys)
    assert code == 0
    assert [row["tokens"] for row in strict(out)] == [["Ada", "."], ["{"]]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_may_not_be_written(folder, capsys):
    Path("locked").mkdir(mode=0o500)
    code, _, err = run(["train", "train.tsv", "--output", "locked/hmm.json"], capsys)
    assert code == 2 and "cannot be written: Permission denied" in err


def test_a_rule_file_may_name_groups_and_complements(folder, capsys):
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
    code, out, _ = run(["decode", "train.tsv", "--model", "hmm.json", "--rules", "rules.toml"], capsys)
    assert code == 0
    row = strict(out)[0]
    assert row["violations"] == {
        "at_most_runs(names, 0)": 1,
        "forbidden_transition(other than names, author or date)": 1,
    }
    assert (row["penalty"], row["feature_score"]) == (0.75, 6 * 0.125)


def test_compare_names_what_is_infeasible(folder, capsys):
    Path("rules.toml").write_text(
        'fields = ["title"]\n[[rule]]\nname = "nine"\ntemplate = "at_least_tokens"\nfield = "title"\nn = 9\n'
    )
    arguments = [
        "compare",
        "scores.jsonl",
        "--rules",
        "rules.toml",
        "--methods",
        "auto,viterbi",
        "--output",
        "out",
    ]
    code, _, err = run(arguments, capsys)
    assert code == 2 and 'scores.jsonl, line 1: infeasible: rule "nine" alone leaves no labelling' in err
    assert json.loads(Path("out/summary.json").read_text())["methods"][0]["proved"] == 1.0


def test_the_comparison_fits_eighty_columns(folder, capsys, monkeypatch):
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    arguments = ["compare", "train.tsv", "--model", "hmm.json", "--rules", "citations", "--output", "out"]
    out = re.sub(r"\x1b\[\d*m", "", run([*arguments, "--methods", "auto,viterbi"], capsys)[1])
    assert "…" not in out and "100.00" in out
    assert max(map(len, out.splitlines())) <= 80


def test_labels_that_only_look_like_a_scheme_are_left_alone(folder, capsys):
    Path("mail.tsv").write_text("a@b\tE-mail\n\nAda\tname\na@c\tE-mail\n\nGrace\tname\n")
    assert main(["train", "mail.tsv", "--output", "mail.json"]) == 0
    code, _, _ = run(
        ["compare", "mail.tsv", "--model", "mail.json", "--methods", "auto", "--output", "d"], capsys
    )
    assert code == 0
    assert json.loads(Path("d/summary.json").read_text())["methods"][0]["accuracy"] == 1.0


def test_a_resumed_run_keeps_odd_tokens_and_drops_incomplete_ranks(folder, capsys):
    odd = {**SCORES, "tokens": ["x\u2028y", "\x85", "c", "d"]}
    Path("in.jsonl").write_text((json.dumps(odd) + "\n") * 2)
    arguments = ["decode", "in.jsonl", "--top", "3", "--output", "x.jsonl"]
    assert run(arguments, capsys)[0] == 0
    whole = Path("x.jsonl").read_text()
    lines = whole.split("\n")
    Path("x.jsonl").unlink()
    Path("x.jsonl.part").write_text("\n".join(lines[:5]) + "\n")
    assert run(arguments, capsys)[0] == 0
    assert masked(Path("x.jsonl").read_text()) == masked(whole)


def test_the_catalogue_holds_what_its_sources_say(folder, capsys):
    from formulations import Feature, catalogue, load_rules

    assert {"citations", "resume"} <= set(catalogue())
    citations, resume = load_rules("citations"), load_rules("resume")
    assert len(citations) == 11 and {rule.penalty for rule in citations} == {-math.log(1e-4)}
    assert [item.penalty for item in resume if not isinstance(item, Feature)] == [1.3]
    assert [item.weight for item in resume if isinstance(item, Feature)] == [-0.9, 0.01, 0.05]


def test_parameters_of_searches_are_given_by_name(folder, capsys):
    decode = ["decode", "train.tsv", "--model", "hmm.json", "--rules", "citations"]
    code, out, _ = run([*decode, "--method", "lds", "--option", "variant=admissible"], capsys)
    assert code == 0
    assert all("lds: admissible" in json.loads(line)["method"] for line in out.splitlines())
    compare = ["compare", "train.tsv", "--model", "hmm.json", "--rules", "citations", "--output", "both"]
    compare += ["--methods", "auto,evolutionary"]
    assert run([*compare, "--option", "evolutionary.iterations=2"], capsys)[0] == 0
    for option, words in (("lds.seed=1", "none of the methods"), ("evolutionary.zero=1", "no option 'zero'")):
        code, _, err = run([*compare, "--option", option], capsys)
        assert code == 2
        assert words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "lds", "--option", "variant"], "--option variant: expected NAME=VALUE"),
        (["--method", "lds", "--option", "zero=best", "--option", "zero=score"], "zero is given twice"),
        (["--method", "lds", "--option", "branching=0"], "branching is 0"),
        (["--method", "viterbi", "--option", "seed=1"], "no option 'seed'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_before_any_work(folder, capsys, arguments, words):
    code, out, err = run(["decode", "train.tsv", "--model", "hmm.json", *arguments], capsys)
    assert (code, out) == (2, "")
    assert words in err


def test_a_model_beside_scores_is_said_not_to_be_used(folder, capsys):
    Path("scores.jsonl").write_text(json.dumps(SCORES) + "\n")
    code, _, err = run(["decode", "scores.jsonl", "--model", "hmm.json"], capsys)
    assert (code, err) == (0, "ilpinfer: notice: scores.jsonl has scores of its own: hmm.json is not used\n")


def test_compare_names_the_form_of_its_options(folder, capsys):
    code, _, err = run(
        ["compare", "train.tsv", "--model", "hmm.json", "--output", "x", "--option", "tenure=4"], capsys
    )
    assert (code, err) == (2, "ilpinfer: --option tenure: expected METHOD.NAME=VALUE\n")
