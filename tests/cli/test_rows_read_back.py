"""Rows of `ilpinfer decode` are solutions again, and verify."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import folder, run  # noqa: F401

import ilpinfer
from formulations import Trellis, load_rules
from ilpinfer.core.solution_fields import ROW_KEYS

INFEASIBLE = '[[rule]]\nname = "none"\ntemplate = "at_most_tokens"\nfield = "title"\ncount = 0\n'


def rows_of(options, capsys):
    code, _, err = run(
        ["decode", "scores.jsonl", "--rules", "rules.toml", "--output", "o.jsonl", *options], capsys
    )
    assert code == 0, err
    return [json.loads(line) for line in Path("o.jsonl").read_text().splitlines()]


@pytest.fixture
def trellis(folder):  # noqa: F811
    values = json.loads(Path("scores.jsonl").read_text())
    return Trellis.from_dict({**values, "scheme": "plain"})


@pytest.mark.parametrize("options", [[], ["--explain", "--trace"], ["--top", "3"], ["--method", "cbc"]])
def test_rows_verify(options, trellis, capsys):
    rows, rules = rows_of(options, capsys), load_rules("rules.toml")
    solutions = [ilpinfer.Solution.from_dict(row) for row in rows]
    verdict = ilpinfer.verify(trellis, rules, solutions if len(rows) > 1 else solutions[0])
    assert verdict.ok and verdict.proved == ("cbc" not in options)
    again = ilpinfer.decode(trellis, rules)
    assert (solutions[0].labels, solutions[0].score) == (again.labels, again.score)
    assert not ilpinfer.verify(trellis, rules, replace(solutions[0], score=again.score + 1)).ok


def test_rows_of_two_phases_verify(trellis, capsys):
    (row,) = rows_of(["--tau", "0.9"], capsys)
    solution = ilpinfer.TwoPhaseSolution.from_dict(row)
    assert ilpinfer.verify(trellis, load_rules("rules.toml"), solution).proved


def test_the_tokens_left_out_have_no_ids():
    solution = ilpinfer.decode(Trellis([0.0, 1.0], [[[0, 1], [2, 3]]], labels=["a", "b"]))
    row = {
        **solution.to_dict(),
        "sequence": 0,
        "tokens": ["x", "-", "y"],
        "positions": [0, 2],
        "labels": ["b", "a", "b"],
    }
    assert ilpinfer.Solution.from_dict(row) == solution
    with pytest.raises(ValueError, match=r"positions\[1\] is 3; expected a whole number from 0 to 2"):
        ilpinfer.Solution.from_dict({**row, "positions": [0, 3]})
    assert set(ROW_KEYS) >= {"sequence", "tokens", "positions"}
