"""`ilpinfer evaluate`: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import pytest

GOLD = "Ada\tB-author\nLovelace\tI-author\nNotes\tB-title\n\nHopper\tB-author\n1952\tB-date\n"
FOUND = GOLD.replace("Notes\tB-title", "Notes\tI-author").replace("B-date", "O")


@pytest.fixture
def files(here):
    Path("gold.tsv").write_text(GOLD)
    Path("found.tsv").write_text(FOUND)


def test_everything_as_json_and_a_picture(files, cli):
    cli.done("evaluate found.tsv gold.tsv --output x/all.json --picture confusion.svg")
    record = json.loads(Path("x/all.json").read_text())
    assert (record["sequences"], record["accuracy"], record["scheme"]) == (2, 0.6, "bio")
    assert record["fields"]["author"]["spans"]["f1"] == 0.5
    assert record["all"]["tokens"]["by_sequence"]["sequences"] == 2
    assert record["confusion"]["labels"] == ["B-author", "B-date", "B-title", "I-author", "O"]
    assert record["report"]["micro avg"]["support"] == 4
    assert record["matches"]["fields"]["author"]["type"]["correct"] == 2
    assert "</svg>" in Path("confusion.svg").read_text()


def test_accuracy_is_of_fields_and_labels_with_prefixes_stand_beside_it(files, cli):
    Path("found.tsv").write_text(GOLD.replace("Lovelace\tI-author", "Lovelace\tB-author"))
    cli.done("evaluate found.tsv gold.tsv --output all.json")
    record = json.loads(Path("all.json").read_text())
    assert (record["accuracy"], record["label_accuracy"], record["whole_sequences"]) == (1.0, 0.8, 0.5)


@pytest.mark.parametrize("command", ["train", "compare"])
def test_models_of_any_scheme_have_comparable_accuracies(command, files, cli):
    """The same model of labels that name each field once has the same figures in every scheme."""
    Path("single.tsv").write_text("a\tB-x\nb\tB-y\n\nb\tB-y\na\tB-x\n\nc\tB-x\nd\tB-y\n")
    figures = set()
    for scheme in ("plain", "bio", "iobes"):
        out = cli.done(f"train single.tsv --scheme {scheme} --output m.json --held-out single.tsv").out
        if command == "compare":
            cli.done("compare single.tsv --model m.json --output c --methods auto")
            line = json.loads(Path("c/summary.json").read_text())["methods"][0]
            out = (line["accuracy"], line["f1"])
            assert line["label_accuracy"] is not None
        figures.add(out)
    assert len(figures) == 1


NAMED = "TOKEN\tNE\tMISC\nAda\tB-pers\t_\nslept\tO\t_\n\nGrace\tB-pers\t_\nwrote\tO\t_\n"


def test_one_column_for_both_sides(here, cli):
    Path("gold.tsv").write_text(NAMED)
    cli.done("train gold.tsv --column NE --kind hmm --output hmm.json")
    cli.done("decode gold.tsv --column NE --model hmm.json --output out.jsonl")
    for name in ("two.tsv", "out.conllu", "out.parquet"):
        cli.done(f"convert out.jsonl {name}")
    for predicted in ("out.jsonl", "two.tsv", "out.conllu", "out.parquet", "gold.tsv"):
        assert "100.00" in cli.done(f"evaluate {predicted} gold.tsv --column NE").out
        assert "100.00" in cli.done(f"evaluate {predicted} gold.tsv --column TOKEN,NE").out
    assert "100.00" in cli.done("train gold.tsv --column NE --held-out out.jsonl --output m.json").out
    _, _, said = cli("mine gold.tsv --column NE --predictions out.jsonl --folds 0 --output mined.toml")
    assert "no key" not in said and "no column" not in said


ORDER = "expected the same sequences in both files, first PREDICTED, then GOLD\n"


def test_files_that_are_swapped_or_differ_are_named_with_their_order(files, cli):
    Path("tokens.tsv").write_text("Ada\nLovelace\nNotes\n\nHopper\n1952\n")
    said = cli.refused("evaluate found.tsv tokens.tsv")
    assert said == f"ilpinfer: tokens.tsv, line 1: no labels in the gold file; {ORDER}"
    Path("other.tsv").write_text(GOLD.replace("1952", "1953"))
    said = cli.refused("evaluate other.tsv gold.tsv")
    assert said == f"ilpinfer: other.tsv, line 5: token 1 is '1953', but '1952' in gold.tsv, line 5; {ORDER}"


def test_output_of_decode_as_gold_is_noticed(files, cli):
    cli.done("train gold.tsv --output hmm.json")
    cli.done("decode gold.tsv --model hmm.json --output out.jsonl")
    swapped = (
        "out.jsonl, given as gold, is output of `ilpinfer decode`, and gold.tsv is not; are they swapped?"
    )
    assert cli.done("evaluate gold.tsv out.jsonl").err == f"ilpinfer: notice: {swapped}\n"
    for fine in ("evaluate out.jsonl gold.tsv", "evaluate out.jsonl out.jsonl", "evaluate gold.tsv gold.tsv"):
        assert cli.done(fine).err == ""
