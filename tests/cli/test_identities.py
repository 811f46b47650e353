"""Notes about a sequence, and stored trellises, go through commands."""

import datetime
import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import rows, write_lines

import ilpinfer
from formulations import LabelSet, Trellis
from ilpinfer.core.solution_fields import OWN

ABOUT = {
    "id": "r7",
    "name": "a name",
    "comment": "seen",
    "metadata": {"page": 3, "by": ["A", "B"]},
    "doc_id": 5,
    "source": {"url": "a"},
}
SCORES = {
    "tokens": ["a", "b"],
    "label_names": ["O", "B-a", "I-a"],
    "emissions": [[0, 1, 0], [0, 0, 1]],
    "transitions": [[0, 0, 0]] * 3,
}
CONLLU = """# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
# newdoc id = d-1
# newpar
# sent_id = s-1
#text=Ada  slept = or not
# text = another text
# checked by hand
1	Ada	_	PROPN	_	_	0	root	_	_
2	slept	_	VERB	_	_	1	dep	_	_

1	Yes	_	INTJ	_	_	0	root	_	_

"""

pytestmark = pytest.mark.usefixtures("here")


def test_rows_repeat_what_the_input_says_about_a_sequence(cli):
    write_lines("in.jsonl", {**ABOUT, **SCORES}, {"id": 8, **SCORES}, SCORES)
    found = cli.rows("decode in.jsonl --top 2")
    for row in found[:2]:
        assert {key: row[key] for key in ABOUT} == ABOUT
        assert ilpinfer.Solution.from_dict(row).labels == row["labels"]
    assert found[2]["id"] == 8 and not ABOUT.keys() & found[4].keys()
    cli.done("decode in.jsonl --output out.jsonl")
    assert rows(Path("out.jsonl"))[0]["metadata"] == ABOUT["metadata"]


def test_records_of_candidates_have_notes_too(cli):
    write_lines("in.jsonl", {**ABOUT, "tokens": ["a"], "candidates": [[0, 1, "x", 0.9]]})
    (row,) = cli.rows("decode in.jsonl")
    assert {key: row[key] for key in ABOUT} == ABOUT and len(row["spans"]) == 1


def test_all_fields_of_rows_are_taken_names():
    assert set(ilpinfer.TwoPhaseSolution.FURTHER) <= OWN
    assert set(ilpinfer.decode(Trellis([0.0], [])).to_dict(incumbents=True)) <= OWN


def test_shards_have_columns_of_notes(cli):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_lines("in.jsonl", {**ABOUT, **SCORES}, {"id": 8, **SCORES}, SCORES)
    cli.done("reprocess in.jsonl --output out --jobs 1")
    table = parquet.read_table("out/part-00000.parquet").to_pydict()
    assert table["id"] == ["r7", "8", None]
    further = {"doc_id": 5, "source": {"url": "a"}}
    for name, value in (("metadata", ABOUT["metadata"]), ("further", further)):
        assert [each and json.loads(each) for each in table[name]] == [value, None, None]
    cli.done("train out/part-00000.parquet --kind hmm --output hmm.json")
    found = cli.rows("decode out/part-00000.parquet --model hmm.json")
    assert [row.get("id") for row in found] == ["r7", "8", None]


def test_further_columns_of_a_table_are_notes(cli):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"tokens": [["a"], ["b"]], "labels": [["O"], ["O"]], "day": [datetime.date(2020, 1, 2), None]}
    parquet.write_table(pa.table(columns), "in.parquet")
    cli.done("train in.parquet --kind hmm --output hmm.json")
    cli.done("reprocess in.parquet --model hmm.json --output out --jobs 1")
    for name in ("in.parquet", "out/part-00000.parquet"):
        assert [row.get("day") for row in cli.rows(f"decode {name} --model hmm.json")] == ["2020-01-02", None]


def test_the_folder_of_a_run_is_read_as_its_shards(cli):
    pytest.importorskip("pyarrow")
    write_lines("in.jsonl", {**ABOUT, **SCORES}, SCORES)
    cli.done("reprocess in.jsonl --output out --jobs 1")
    cli.done("convert out again.jsonl")
    assert [row["labels"] for row in rows(Path("again.jsonl"))] == [["B-a", "I-a"]] * 2


def test_the_id_of_a_sentence_of_universal_dependencies(cli):
    Path("in.conllu").write_text(CONLLU)
    cli.done("train in.conllu --kind hmm --output hmm.json")
    notes = {"newdoc id": "d-1", "newpar": "", "text": "Ada  slept = or not"}
    first, second = cli.rows("decode in.conllu --model hmm.json")
    assert (first["id"], first["metadata"]) == ("s-1", notes) and not {"id", "metadata"} & second.keys()
    cli.done("reprocess in.conllu --model hmm.json --output out --jobs 1")
    table = pytest.importorskip("pyarrow.parquet").read_table("out/part-00000.parquet").to_pydict()
    assert (table["id"], json.loads(table["metadata"][0])) == (["s-1", None], notes)
    cli.done("convert in.conllu same.conllu")
    assert Path("same.conllu").read_text() == CONLLU
    cli.done("convert in.conllu out.jsonl")
    record = rows(Path("out.jsonl"))[0]
    assert (record["id"], record["metadata"], record["columns"]["head"]) == ("s-1", notes, ["0", "1"])
    cli.done("convert out.jsonl again.conllu")
    cli.done("convert again.conllu again.jsonl")
    assert [row.get("metadata", {}).get("newpar") for row in rows(Path("again.jsonl"))] == ["", None]
    assert {**rows(Path("again.jsonl"))[0], "columns": record["columns"]} == record


def _trellises():
    rng = np.random.default_rng(0)
    labels = LabelSet(("O", "B-a", "I-a"), "bio", frozenset({"b"}))
    draw = lambda *shape: rng.integers(-8, 8, shape) / 4  # noqa: E731
    dense = Trellis(draw(3), draw(3, 3, 3), labels, tokens=list("abcd"))
    factored = Trellis.from_emissions(draw(4, 3), draw(3, 3), labels=labels, tokens=list("abcd"))
    second = Trellis.second_order(draw(3), draw(3, 3), draw(2, 3, 3, 3), labels, tokens=list("abcd"))
    joined = Trellis.joined([dense, factored])
    return {"dense": dense, "factored": factored, "second": second, "joined": joined}


@pytest.mark.parametrize("kind", _trellises())
def test_a_stored_trellis_is_decoded_as_it_is(kind, cli):
    trellis = _trellises()[kind]
    write_lines("in.jsonl", trellis.to_dict())
    (row,) = cli.rows("decode in.jsonl --rules bio")
    expected = ilpinfer.decode(trellis, "bio")
    assert (row["labels"], row["score"]) == (expected.labels, expected.score)


def test_rows_repeat_the_columns_of_universal_dependencies(cli):
    text = (
        "1\tAda\tada\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tNER=B-name|SpaceAfter=No\n"
        "2\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t_\tGloss=x\n"
    )
    Path("in.conllu").write_text(f"# sent_id = s-1\n{text}\n")
    cli.done("train in.conllu --kind hmm --output hmm.json")
    (row,) = cli.rows("decode in.conllu --model hmm.json")
    names = ("id", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
    cells = [line.replace("NER=B-name|", "").split("\t") for line in text.splitlines()]
    expected = dict(zip(names, ([a, b] for n, (a, b) in enumerate(zip(*cells)) if n != 1)))
    assert row["columns"] == expected and row["labels"] == ["B-name", "O"]
    write_lines("out.jsonl", row)
    assert cli.rows("decode out.jsonl --model hmm.json")[0]["columns"] == expected
    cli.done("convert out.jsonl out.conllu")
    written = text.replace("NER=B-name|SpaceAfter=No", "SpaceAfter=No|NER=B-name")
    assert Path("out.conllu").read_text().endswith(f"{written}\n")


def test_a_row_without_named_columns_has_none(cli):
    Path("in.tsv").write_text("Ada\tx\tB-name\nslept\ty\tO\n")
    cli.done("train in.tsv --column 3 --kind hmm --output hmm.json")
    assert "columns" not in cli.rows("decode in.tsv --column 3 --model hmm.json")[0]


def test_parquet_keeps_notes_known_labels_and_columns(cli):
    pytest.importorskip("pyarrow")
    records = [
        {**ABOUT, "big": 2**70, "tokens": ["a", "b"], "labels": ["O", "O"], "given": {"1": "O"}},
        {"id": "r8", "doc_id": 6, "tokens": ["c"], "labels": ["O"], "columns": {"pos": ["X"]}, "empty": None},
        {"tokens": ["d"], "source": "b", "share": 0.5, "seen": True},
    ]
    write_lines("in.jsonl", *records)
    cli.done("convert in.jsonl in.parquet")
    cli.done("convert in.parquet again.jsonl")
    assert rows(Path("again.jsonl")) == records
    schema = pytest.importorskip("pyarrow.parquet").read_schema("in.parquet")
    types = {"id": "string", "doc_id": "int64", "share": "double", "seen": "bool", "further": "string"}
    assert {name: str(schema.field(name).type) for name in types} == types
    write_lines("plain.jsonl", {"tokens": ["a"]})
    cli.done("convert plain.jsonl plain.parquet")
    assert pytest.importorskip("pyarrow.parquet").read_schema("plain.parquet").names == ["tokens", "labels"]


def test_a_column_of_further_notes_is_json(cli):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"tokens": [["a"]], "labels": [["O"]], "further": ["a text"]})
    pytest.importorskip("pyarrow.parquet").write_table(table, "in.parquet")
    err = cli.refused("convert in.parquet x.tsv")
    assert "in.parquet: column 'further' has 'a text'; expected a JSON object" in err
