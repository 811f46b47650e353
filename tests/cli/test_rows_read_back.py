"""Rows of commands: read back, and resumed."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN, rows, rule_text, write_lines

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


DECODE = "decode in.jsonl --rules rules.toml --output x.jsonl"
COMPARE = "compare in.jsonl --rules rules.toml --output out --methods"


def lines_of(output: Path) -> list[bytes]:
    data = output.read_bytes()
    return (gzip.decompress(data) if output.suffix == ".gz" else data).splitlines(keepends=True)


def unfinished(output: Path, number: int, torn: bytes = b"") -> list[bytes]:
    """Leave so many lines of an output in its part; returns those that it had."""
    lines = lines_of(output)
    output.unlink()
    Path(f"{output}.part").write_bytes(b"".join(lines[:number]) + torn)
    return lines


def told(line: bytes) -> list:
    """What a row tells that does not differ from run to run."""
    row = json.loads(line)
    names = ["sequence", "rank", "tokens", "seed", *(["labels"] if row.get("seed") is None else [])]
    return [row.get(name) for name in names]


@pytest.mark.parametrize(
    ("command", "output", "left", "kept"),
    [
        (DECODE, "x.jsonl", 2, 2),
        (f"{DECODE}.gz", "x.jsonl.gz", 2, 2),
        (f"{DECODE} --top 3", "x.jsonl", 5, 3),
        (f"{COMPARE} auto,viterbi", "out/results.jsonl", 3, 3),
        (f"{COMPARE} auto,evolutionary:time_limit=0.02 --repeats 3", "out/results.jsonl", 6, 6),
    ],
)
def test_rows_that_are_there_are_kept_as_they_were(folder, cli, command, output, left, kept):
    write_lines("in.jsonl", *[{**SCORES, "tokens": ["x\u2028y", "\x85", "c", "d"]}] * 3)
    cli.done(command)
    whole = unfinished(Path(output), left, b'{"torn')
    cli.done(command)
    resumed = lines_of(Path(output))
    assert resumed[:kept] == whole[:kept]
    assert list(map(told, resumed)) == list(map(told, whole))
    assert list(Path(output).parent.glob("*.part")) == []


GIVEN = {**SCORES, "given": {"0": "title"}}


@pytest.mark.parametrize(
    ("before", "after", "more"),
    [
        ([SCORES, SCORES], [SCORES, SCORES], "--method viterbi"),
        ([SCORES, SCORES], [{**SCORES, "tokens": ["e", "b", "c", "d"]}, SCORES], ""),
        ([SCORES, SCORES], [SCORES], ""),
        ([{**SCORES, "id": 1}, SCORES], [{**SCORES, "id": 3}, SCORES], ""),
        ([GIVEN, SCORES], [{**SCORES, "given": {"0": "O"}}, SCORES], ""),
    ],
    ids=["method", "tokens", "number", "id", "given"],
)
def test_rows_of_another_run_are_refused(folder, cli, before, after, more):
    write_lines("in.jsonl", *before)
    cli.done(DECODE)
    unfinished(Path("x.jsonl"), len(before))
    write_lines("in.jsonl", *after)
    err = cli.refused(f"{DECODE} {more}")
    assert err.endswith("x.jsonl.part: belongs to another run; delete it, or choose another output\n")
    assert len(rows(Path("x.jsonl.part"))) == len(before)


def test_a_comparison_with_other_predictions_is_another_run(folder, cli):
    command = "compare train.tsv --model hmm.json --output out --methods auto --predictions x="
    cli.done(f"{command}train.tsv")
    unfinished(Path("out/results.jsonl"), 2)
    Path("y.tsv").write_text(TRAIN.replace("Notes\tB-title", "Notes\tI-author"))
    assert "belongs to another run" in cli.refused(f"{command}y.tsv")
