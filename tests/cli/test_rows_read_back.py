"""Rows of `ilpinfer decode` are solutions again, and verify."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import rows, rule_text

import ilpinfer.exact.marginals
from formulations import Trellis, load_rules
from formulations.automata.machine import TooManyStates


def rows_of(options, cli):
    cli.done("decode scores.jsonl --rules rules.toml --output o.jsonl " + options)
    return rows(Path("o.jsonl"))


@pytest.fixture
def trellis(folder):
    values = json.loads(Path("scores.jsonl").read_text())
    return Trellis.from_dict({**values, "scheme": "plain"})


@pytest.mark.parametrize("options", ["", "--explain --trace --probabilities", "--top 3", "--method cbc"])
def test_rows_verify(options, trellis, cli):
    rows, rules = rows_of(options, cli), load_rules("rules.toml")
    solutions = [ilpinfer.Solution.from_dict(row) for row in rows]
    verdict = ilpinfer.verify(trellis, rules, solutions if len(rows) > 1 else solutions[0])
    assert verdict.ok and verdict.proved == ("cbc" not in options)
    again = ilpinfer.decode(trellis, rules)
    assert (solutions[0].labels, solutions[0].score) == (again.labels, again.score)
    assert not ilpinfer.verify(trellis, rules, replace(solutions[0], score=again.score + 1)).ok


def test_rows_say_what_changed_and_how_probable_it_is(trellis, cli):
    plain = ilpinfer.decode(trellis, method="viterbi").labels
    Path("rules.toml").write_text(rule_text("at_most_tokens", field=plain[0], n=0, penalty=50.0))
    (row,) = rows_of("--explain --probabilities", cli)
    rules = load_rules("rules.toml")
    chances, solution = ilpinfer.marginals(trellis, rules), ilpinfer.Solution.from_dict(row)
    assert row["probabilities"]["labelling"] == chances.probability(solution.ids)
    entities = [
        {"field": name, "tokens": [*range(begin, end)], "probability": chance}
        for name, begin, end, chance in chances.entities(solution.labels)
    ]
    assert row["probabilities"]["entities"] == entities and entities
    changed = {
        t: pair for each in row["changed"] for t, *pair in zip(each["tokens"], each["from"], each["to"])
    }
    differs = {t: [a, b] for t, (a, b) in enumerate(zip(plain, solution.labels, strict=True)) if a != b}
    assert 0 in differs and changed == differs and all(each["rules"] for each in row["changed"])


def test_probabilities_beyond_the_budget_say_why(trellis, cli, monkeypatch):
    def too_many(*_):
        raise TooManyStates("too many joint states", ())

    monkeypatch.setattr(ilpinfer.exact.marginals, "product_of", too_many)
    (row,) = rows_of("--probabilities", cli)
    reason = "not exact: too many joint states"
    assert row["probabilities"] == {"labelling": None, "entities": [], "reason": reason}


def test_rows_of_two_phases_verify(trellis, cli):
    (row,) = rows_of("--tau 0.9", cli)
    solution = ilpinfer.TwoPhaseSolution.from_dict(row)
    assert ilpinfer.verify(trellis, load_rules("rules.toml"), solution).proved


def test_rows_of_minimum_risk_say_what_is_expected(folder, cli):
    cli.done(
        "decode train.tsv --model hmm.json --rules rules.toml --method posterior:risk=spans --output o.jsonl"
    )
    assert all("F1 of spans expected to be" in row["method"] for row in rows(Path("o.jsonl")))
