"""`ilpinfer evaluate`: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import pytest
from support.command_line import rows

GOLD = "Ada\tB-author\nLovelace\tI-author\nNotes\tB-title\n\nHopper\tB-author\n1952\tB-date\n"
FOUND = GOLD.replace("Notes\tB-title", "Notes\tI-author").replace("B-date", "O")


@pytest.fixture
def files(here):
    Path("gold.tsv").write_text(GOLD)
    Path("found.tsv").write_text(FOUND)


def columns(out: str, name: str) -> list[str]:
    return next(line.split()[1:] for line in out.splitlines() if line.split()[:1] == [name])


def test_a_table_of_fields_and_what_is_mistaken(files, cli):
    out = cli.output("evaluate found.tsv gold.tsv")
    assert columns(out, "author") == ["2", "2", "1", "50.00", "50.00", "50.00", "33.33"]
    assert columns(out, "all") == ["4", "2", "1", "50.00", "25.00", "33.33", "20.00"]
    assert "token accuracy 60.00 % (3 of 5), whole sequences 0.00 % (0 of 2)" in out
    assert "most often mistaken: B-date as O 1, B-title as I-author 1" in out
    out = cli.done("evaluate found.tsv gold.tsv --by characters --beta 0.5").out
    assert columns(out, "author") == ["17", "22", "17", "77.27", "100.00", "87.18", "80.95", "77.27"]


def test_a_report_and_matches(files, cli):
    report = cli.output("evaluate found.tsv gold.tsv --view report")
    assert report.splitlines()[0].split() == ["precision", "recall", "f1-score", "support"]
    assert columns(report, "author") == ["0.5000", "0.5000", "0.5000", "2"]
    assert report.rstrip().endswith("weighted avg     0.2500    0.2500    0.2500         4")
    matches = cli.output("evaluate found.tsv gold.tsv --view matches")
    assert (
        "all     strict         1          1        0       2         0      50.00   25.00   33.33" in matches
    )
    record = json.loads(cli.output("evaluate found.tsv gold.tsv --json"))
    assert record["report"]["micro avg"]["support"] == 4
    assert record["matches"]["fields"]["author"]["type"]["correct"] == 2


def test_everything_as_json_and_a_picture(files, cli):
    cli.done("evaluate found.tsv gold.tsv --output x/all.json --picture confusion.svg")
    record = json.loads(Path("x/all.json").read_text())
    assert (record["sequences"], record["accuracy"], record["scheme"]) == (2, 0.6, "bio")
    assert record["fields"]["author"]["spans"]["f1"] == 0.5
    assert record["all"]["tokens"]["by_sequence"]["sequences"] == 2
    assert record["confusion"]["labels"] == ["B-author", "B-date", "B-title", "I-author", "O"]
    assert "</svg>" in Path("confusion.svg").read_text()


def test_two_systems(files, cli):
    out = cli.done("evaluate gold.tsv gold.tsv --against found.tsv --output all.json").out
    assert "gold.tsv against found.tsv" in out
    assert columns(out, "accuracy")[:3] == ["100.00", "60.00", "+40.00"]
    first = json.loads(Path("all.json").read_text())["against"]["differences"][0]
    assert (first["measure"], first["p"], first["gain"]) == ("accuracy", 0.5, 0.4)


def test_output_of_decode_is_read_and_the_best_of_several_counts(files, cli):
    cli.done("train gold.tsv --output hmm.json")
    cli.done("decode gold.tsv --model hmm.json --output out.jsonl --method viterbi")
    found = rows(Path("out.jsonl"))
    ranked = [{**row, "rank": rank} for row in found for rank in (1, 2)]
    Path("out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ranked))
    assert "(2 of 2)" in cli.done("evaluate out.jsonl gold.tsv").out


def test_sequences_without_a_labelling_count_as_wrong(files, cli):
    rows = [{"tokens": ["Ada", "Lovelace", "Notes"], "labels": None}, {"tokens": ["Hopper", "1952"]}]
    rows[1]["labels"] = ["B-author", "B-date"]
    Path("out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out, err = cli.done("evaluate out.jsonl gold.tsv")
    assert "token accuracy 40.00 %" in out
    said = "1 sequence without a labelling: their tokens count as wrong"
    assert err == f"ilpinfer: notice: out.jsonl: {said}\n"


def test_prefixes_on_one_side_only_do_not_count(files, cli):
    Path("plain.tsv").write_text(FOUND.replace("B-", "").replace("I-", ""))
    _, out, err = cli.done("evaluate plain.tsv gold.tsv")
    assert "token accuracy 60.00 %" in out
    assert "some labels have prefixes and others have none: compared without" in err
    out = cli.output("evaluate found.tsv gold.tsv --scheme plain")
    assert "author as" not in out and "title as author 1" in out


def test_bio_beside_iobes_is_read_as_iobes(files, cli):
    iobes = GOLD.replace("Lovelace\tI", "Lovelace\tE")
    for name in ("title", "date"):
        iobes = iobes.replace(f"B-{name}", f"S-{name}")
    Path("iobes.tsv").write_text(iobes.replace("Hopper\tB", "Hopper\tS"))
    for files in ("iobes.tsv gold.tsv", "gold.tsv iobes.tsv", "gold.tsv gold.tsv --scheme iobes"):
        out = cli.output(f"evaluate {files}")
        assert "token accuracy 100.00 % (5 of 5), whole sequences 100.00 % (2 of 2)" in out
        assert columns(out, "author")[:3] == ["2", "2", "2"]


def test_the_file_whose_labels_do_not_fit_is_named(files, cli):
    Path("iobes.tsv").write_text(GOLD.replace("B-date", "S-date"))
    for arguments in ("iobes.tsv gold.tsv", "gold.tsv gold.tsv --against iobes.tsv"):
        err = cli.refused(f"evaluate {arguments} --scheme bio")
        assert err.startswith("ilpinfer: iobes.tsv: label 'S-date' does not fit scheme bio")


def test_accuracy_is_of_fields_and_labels_with_prefixes_stand_beside_it(files, cli):
    Path("found.tsv").write_text(GOLD.replace("Lovelace\tI-author", "Lovelace\tB-author"))
    out = cli.done("evaluate found.tsv gold.tsv --output all.json").out
    said = "token accuracy 100.00 % (5 of 5), with prefixes 80.00 % (4), whole sequences 50.00 % (1 of 2)"
    assert said in out
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
