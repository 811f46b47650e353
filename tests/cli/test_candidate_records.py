"""Candidate spans in JSON lines: rows of commands, and what is refused."""

import json
from pathlib import Path

import pytest
from support.command_line import rows

import ilpinfer
from formulations import constraints as C

TEXT = "Ada Byron King met Bob"
SPANS = [
    {"start": 0, "end": 9, "label": "PER", "score": 0.8},
    {"start": 0, "end": 3, "label": "PER", "score": 0.6},
    {"start": 4, "end": 14, "label": "PER", "score": 0.75},
]
RECORDS = [
    {"id": "a", "text": TEXT, "candidates": SPANS},
    {"tokens": ["x", "y"], "candidates": [[0, 2, "PER", 0.9], [1, 2, "ORG", 0.7]], "given": {"0": "O"}},
    {"tokens": ["x"], "candidates": [], "fields": ["PER"]},
]
RULES = 'fields = ["PER", "ORG"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "PER"\nn = 1\n'


@pytest.fixture
def files(here):
    Path("in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    Path("rules.toml").write_text(RULES)


def test_rows_have_the_chosen_spans(files, cli):
    cli.done("decode in.jsonl --rules rules.toml --output out.jsonl")
    first, second, third = rows(Path("out.jsonl"))
    expected = ilpinfer.select_spans(TEXT, SPANS, [C.at_most_runs("PER", 1)])
    assert first["spans"] == [SPANS[0]] and first["score"] == expected.solution.score and first["id"] == "a"
    assert (second["spans"], second["given"]) == (
        [{"start": 1, "end": 2, "label": "ORG", "score": 0.7}],
        {"0": "O"},
    )
    assert (third["spans"], third["labels"]) == ([], ["O"])
    assert ilpinfer.Solution.from_dict(first).labels == first["labels"]


def test_methods_are_compared_on_candidates(files, cli):
    cli.done("compare in.jsonl --methods auto,greedy-spans --output compared")
    lines = {
        line["method"]: line for line in json.loads(Path("compared/summary.json").read_text())["methods"]
    }
    assert lines["greedy-spans"]["mean_gap"] > lines["auto"]["mean_gap"] == 0
    cli.done("reprocess in.jsonl --rules rules.toml --output run --jobs 1")


PYTHON_RULES = (
    "from formulations import constraints as C\nRULES = [C.at_most_runs('PER', 1), C.at_most_runs('{}', 1)]\n"
)


@pytest.mark.parametrize("command", ["decode in.jsonl", "compare in.jsonl --methods viterbi --output out"])
def test_names_of_rules_that_no_text_has_are_one_notice(files, cli, command):
    path = f"rules_of_{command.split()[0]}.py"
    Path(path).write_text(PYTHON_RULES.format("PRE"))
    said = cli.done(f"{command} --rules {path}").err
    assert said.count("notice") == 1
    assert 'no text has a candidate for PRE: counted as absent; did you mean "PER"?' in said


def test_names_that_some_texts_lack_are_no_notice(files, cli):
    Path("rules_some.py").write_text(PYTHON_RULES.format("ORG"))
    assert "notice" not in cli.done("decode in.jsonl --rules rules_some.py").err


NESTED = [
    {
        "text": "Bonn Times of Bonn",
        "candidates": [[0, 10, "ORG", 0.9], [0, 4, "LOC", 0.8], [5, 18, "LOC", 0.55]],
    },
    {"tokens": ["x"], "candidates": []},
]
NESTED_RULES = 'fields = ["LOC", "ORG/LOC"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "{}"\nn = 0\n'


def test_rows_of_nested_spans(here, cli):
    Path("in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in NESTED))
    assert not cli.done("decode in.jsonl --nested --output out.jsonl").err.count("notice")
    first, second = rows(Path("out.jsonl"))
    assert [(span["start"], span["end"], span["label"]) for span in first["spans"]] == [
        (0, 4, "LOC"),
        (0, 10, "ORG"),
    ]
    assert first["labels"] == ["B-ORG/B-LOC", "I-ORG", "O", "O"] and first["status"] == "optimal"
    assert (second["spans"], second["labels"]) == ([], ["O"])
    solution = ilpinfer.Solution.from_dict(first)
    assert (solution.bound, solution.certificate.kind) == (solution.score, "none")
    for name, chosen, notice in (("ORG/LOC", ["ORG"], False), ("PER", ["LOC", "ORG"], True)):
        Path("rules.toml").write_text(NESTED_RULES.format(name).replace('["LOC"', f'["{name[-3:]}"'))
        said = cli.done("decode in.jsonl --nested --depth 2 --rules rules.toml --output again.jsonl").err
        assert [span["label"] for span in rows(Path("again.jsonl"))[0]["spans"]] == chosen
        assert ("no text has a candidate for PER" in said) == notice
