"""Runs that go on where they were interrupted: whole rows are kept as they are, and rows of another run are refused."""

import gzip
import json
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN, rows, write_lines

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
