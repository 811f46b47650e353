"""Known labels of some tokens, in files of every kind and in what commands make of them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.command_line import rows, write_lines

import ilpinfer
from ilpinfer.corpus.sequences import read

SCORES = {
    "tokens": ["Ada", "slept", "."],
    "label_names": ["a", "b", "O"],
    "emissions": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "transitions": [[0, 0, 0]] * 3,
}


def test_a_row_has_them_and_is_read_back(folder, cli):
    write_lines("in.jsonl", {**SCORES, "given": {"0": "b"}}, SCORES)
    Path("rules.toml").write_text(
        'fields = ["b"]\n[[rule]]\ntemplate = "at_most_tokens"\nfield = "b"\nn = 1\n'
    )
    cli.done("decode in.jsonl --rules rules.toml --output out.jsonl")
    first, second = rows(Path("out.jsonl"))
    assert (first["given"], first["labels"]) == ({"0": "b"}, ["b", "a", "O"])
    assert "given" not in second and second["labels"] == ["a", "b", "O"]
    trellis = read("in.jsonl")[0].trellis()
    solution = ilpinfer.Solution.from_dict(first)
    assert solution.given == {0: "b"}
    assert ilpinfer.verify(trellis, "rules.toml", solution).proved
    changed = {**first, "given": {"0": "b", "2": "O"}}
    assert not ilpinfer.verify(trellis, "rules.toml", ilpinfer.Solution.from_dict(changed)).ok
    best = cli.rows("decode in.jsonl --rules rules.toml --top 2 --method beam")
    assert [row["labels"][0] for row in best[:2]] == ["b", "b"]
    two = cli.rows("decode in.jsonl --rules rules.toml --tau 0.5")
    assert ilpinfer.TwoPhaseSolution.from_dict(two[0]).given == {0: "b"}


def test_sets_in_every_kind_of_file(folder, cli):
    """JSON lines, Parquet that is written from them, and rows; scores have no place in Parquet."""
    given = {"0": ["O", "b"], "1": ["a"], "2": "b"}
    write_lines("in.jsonl", {**SCORES, "given": given}, SCORES)
    [row, _] = cli.rows("decode in.jsonl")
    assert row["given"] == {"0": ["b", "O"], "1": "a", "2": "b"} and row["labels"] == ["b", "a", "b"]
    [row] = cli.rows("decode in.jsonl --tau 0.5")[:1]
    solution = ilpinfer.TwoPhaseSolution.from_dict(row)
    trellis = read("in.jsonl")[0].trellis()
    assert solution.given == {0: ("b", "O"), 1: "a", 2: "b"}
    assert ilpinfer.verify(trellis, [], solution).proved
    row["given"]["0"] = ["a", "b", "O"]
    assert not ilpinfer.verify(trellis, [], ilpinfer.TwoPhaseSolution.from_dict(row)).ok
    cli.done("reprocess in.jsonl --output shards --jobs 1")
    table = pq.read_table("shards/part-00000.parquet").to_pylist()
    assert table[0]["given"] == '{"0": ["b", "O"], "1": "a", "2": "b"}'
    cli.done("compare in.jsonl --methods auto,beam --output compared")
    assert [row["score"] for row in rows(Path("compared/results.jsonl"))] == [0, 0, 3, 3]
    tokens = [{"tokens": SCORES["tokens"], "given": given}, {"tokens": ["."], "given": {"0": "O"}}]
    write_lines("tokens.jsonl", *tokens)
    cli.done("convert tokens.jsonl tokens.parquet")
    cli.done("convert tokens.parquet again.jsonl")
    assert rows(Path("again.jsonl")) == [{**tokens[0], "given": {**given, "1": "a"}}, tokens[1]]


def test_labels_that_leave_nothing_are_a_row(folder, cli):
    write_lines("in.jsonl", {**SCORES, "given": {"0": "b"}})
    Path("rules.toml").write_text('fields = ["a"]\n[[rule]]\ntemplate = "starts_with"\nfield = "a"\n')
    ended = cli("decode in.jsonl --rules rules.toml --output out.jsonl")
    [row] = rows(Path("out.jsonl"))
    assert (row["status"], row["given"]) == ("infeasible", {"0": "b"})
    assert "labels are known at token 0 (Ada)" in row["reason"] and ended.code == 2


@pytest.mark.parametrize("key", [pa.int64(), pa.string()])
def test_a_column_of_a_table(folder, cli, key):
    """A map, or a struct with a field for each position."""
    model = "--model hmm.json"
    Path("train.tsv").write_text("Ada\ta\nslept\tb\n\nAda\tb\nslept\ta\n")
    cli.done("train train.tsv --output hmm.json")
    made = int if key == pa.int64() else str
    columns = {
        "tokens": pa.array([["Ada", "slept"]] * 3),
        "given": pa.array(
            [[(made(0), "a")], None, [(made(1), "a"), (made(0), None)]], pa.map_(key, pa.string())
        ),
    }
    pq.write_table(pa.table(columns), "map.parquet")
    struct = [{"0": "a", "1": None}, None, {"0": None, "1": "a"}]
    pq.write_table(pa.table({**columns, "given": pa.array(struct)}), "struct.parquet")
    for name in ("map", "struct"):
        cli.done(f"reprocess {name}.parquet {model} --output {name} --jobs 1")
        table = pq.read_table(f"{name}/part-00000.parquet").to_pydict()
        assert table["given"] == ['{"0": "a"}', None, '{"1": "a"}']
        assert (table["labels"][0][0], table["labels"][2][1]) == ("a", "a")
        decoded = cli.rows(f"decode {name}.parquet {model}")
        assert [row.get("given") for row in decoded] == [{"0": "a"}, None, {"1": "a"}]
    pq.write_table(pa.table({**columns, "given": pa.array([{"7": "a"}, None, None])}), "bad.parquet")
    assert "bad.parquet, row 1: given: a position is 7" in cli.refused(f"decode bad.parquet {model}")
    ended = cli(f"reprocess bad.parquet {model} --output bad --jobs 1")
    assert ended.code == 1 and "bad.parquet, row 1: given: a position is 7" in ended.err


def test_prefixes_are_stripped_from_them_too(folder, cli):
    record = {**SCORES, "label_names": ["B-x", "B-y", "O"], "given": {"0": "B-y", "1": ["O", "B-x"]}}
    write_lines("in.jsonl", record)
    [row] = cli.rows("decode in.jsonl --scheme plain")
    assert (row["given"], row["labels"]) == ({"0": "y", "1": ["x", "O"]}, ["y", "x", "O"])


def test_questions_of_a_row(folder, cli):
    write_lines(
        "in.jsonl", {**SCORES, "given": {"0": "b"}}, {**SCORES, "given": {"0": "a", "1": "b", "2": "O"}}
    )
    first, second = cli.rows("decode in.jsonl --questions 1")
    [question] = first["questions"]
    assert {question["token"], question["label"]} <= {1, 2, "a", "b", "O"} and question["changes"] > 0
    assert list(question["chances"]) == ["b", "a", "O"] if question["token"] == 1 else ["O", "a", "b"]
    assert second["questions"] == []
    assert ilpinfer.Solution.from_dict(first).labels == first["labels"]
    few = cli.rows("decode in.jsonl --questions 3 --top 2")
    assert [len(row.get("questions", "none")) for row in few[:2]] == [2, 4]
