"""Rules from Python on the command line."""

import json
from pathlib import Path

import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C

CODE = """from formulations import constraints as C

def repeats(labels, tokens):
    return sum(a == b for a, b in zip(labels, labels[1:]))

RULES = [C.predicate(repeats, penalty=0.5, prefix=repeats), C.starts_with("a", penalty=0.25)]
HARD = (C.predicate(repeats),)
"""
SCORES = {"emissions": [[1, 0], [2, 0], [1, 0]], "transitions": [[0, 0], [0, 0]]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    name = f"rules_of_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(CODE)
    (tmp_path / "in.jsonl").write_text(
        json.dumps(
            {"tokens": ["x", "y", "z"], "labels": ["a", "b", "a"], "label_names": ["a", "b"], **SCORES}
        )
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_method_that_takes_no_functions_is_refused_before_anything_is_decoded(cli, files):
    result = cli("decode", "in.jsonl", "--rules", f"{files}.py", "--method", "highs", "--output", "out.jsonl")
    assert result.code == 2 and not Path("out.jsonl").exists()
    assert (
        "method highs takes no rule that is a Python function, such as 'repeats': choose auto" in result.err
    )


@pytest.mark.parametrize(
    ("form", "more"),
    [
        *((form, "") for form in ("{}.py", "{}.py:RULES", "{}:RULES", "{}:HARD")),
        ("{}.py", "--method lds --time-limit 5"),
        ("{}:HARD", "--jobs 2"),
    ],
)
def test_decode(cli, files, form, more):
    result = cli(f"decode in.jsonl --rules {form.format(files)} {more} --output out.jsonl")
    assert result.code == 0, result.err
    with open("out.jsonl") as lines:
        solution = ilpinfer.Solution.from_dict(
            {k: v for k, v in json.loads(lines.readline()).items() if k not in ("sequence", "tokens")}
        )
    hard = form.endswith("HARD")
    assert solution.labels == (["a", "b", "a"] if hard else ["a", "a", "a"])
    assert solution.score == (2.0 if hard else 3.0) and solution.status == "optimal"
    trellis = Trellis.from_emissions(**SCORES, labels=["a", "b"], tokens=["x", "y", "z"])
    scope: dict = {}
    exec(CODE, scope)
    assert ilpinfer.verify(trellis, scope["HARD" if hard else "RULES"], solution).ok


def test_compare(cli, files):
    methods = "auto,beam,lds,viterbi"
    result = cli("compare", "in.jsonl", "--rules", f"{files}.py", "--methods", methods, "--output", "out")
    assert result.code == 0, result.err
    with open("out/results.jsonl") as lines:
        rows = [json.loads(line) for line in lines]
    assert [row["score"] for row in rows] == [3.0, 3.0, 3.0, 3.0]


def test_an_edited_file_is_another_job(files):
    from ilpinfer.cli.python_rules import code_of

    assert code_of([f"{files}.py", "citations"]) == CODE == code_of([f"{files}:RULES"])
    assert isinstance(C.predicate(len), C.Rule)


@pytest.mark.parametrize("more", ["", "--weights all --output-model m.json"])
def test_learning_refuses_functions_before_it_trains(cli, files, more, tmp_path):
    labelled = "".join(f"w{n}\ta\nv\tb\n\n" for n in range(12))
    (tmp_path / "train.tsv").write_text(labelled)
    before = {path for path in tmp_path.iterdir() if path.is_file()}
    result = cli(f"learn train.tsv --rules {files}.py --kind hmm --output l.toml {more}")
    assert result.code == 2 and result.err.count("\n") == 1
    assert f"ilpinfer: {files}.py: " in result.err and "no rule that is a Python function" in result.err
    assert {path for path in tmp_path.iterdir() if path.is_file()} == before
