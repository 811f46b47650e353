"""`ilpinfer convert`, and every command that reads sequences on documents of annotation tools."""

import json
from pathlib import Path

import pytest
from support.command_line import TRAIN, rows

from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.writing import WriteOptions, write

FORMATS = {
    "columns": "corpus.tsv",
    "json": "corpus.jsonl",
    "parquet": "corpus.parquet",
    "conllu": "corpus.conllu",
    "brat": "corpus",
    "spacy": "corpus.spacy",
    "prodigy": "corpus-prodigy.jsonl",
    "label-studio": "corpus.json",
}
RULES = "rules.toml"


@pytest.fixture(params=list(FORMATS))
def corpus(folder, request, cli):
    """The training sequences in a format."""
    if request.param == "spacy":
        pytest.importorskip("spacy")
    path, way = FORMATS[request.param], ["--to", request.param]
    code, out, err = cli(f"convert train.tsv {path}", *way)
    assert (code, out) == (0, "")
    place = "corpus: 2 files" if request.param == "brat" else path
    assert err == f"ilpinfer: notice: {place}: 2 sequences as {request.param}\n"
    return path


def pairs(path):
    return [(each.tokens, each.labels) for each in read(path, notify=lambda _: None)]


def fields(labels):
    """Labels without prefixes; a span that a model begins with I is read again with B."""
    return [label.removeprefix("B-").removeprefix("I-") for label in labels]


def test_every_format_holds_the_same_sequences(corpus, cli):
    assert pairs(corpus) == pairs("train.tsv")
    code, out, _ = cli(f"convert {corpus} - --to columns")
    assert (code, out) == (0, TRAIN)


def test_every_command_reads_every_format(corpus, cli):
    cli.done(f"train {corpus} --output other.json")
    assert Path("other.json").read_text() == Path("hmm.json").read_text()
    cli.done(f"decode {corpus} --model hmm.json --rules {RULES} --output out.jsonl")
    found = rows(Path("out.jsonl"))
    assert [row["status"] for row in found] == ["optimal"] * 2
    assert "author" in cli.done(f"evaluate out.jsonl {corpus}").out
    assert "one title" in cli.done(f"check {RULES} {corpus}").out
    code, _, err = cli(f"mine {corpus} --output mined.toml --support 2 --folds 0")
    assert code == 1 and "confidence" in err  # two sequences show no rule
    cli.done(f"export {corpus} --model hmm.json --rules {RULES} --output lp")
    assert (Path("lp") / "0002.lp").exists()


def test_every_format_is_reprocessed(corpus, cli):
    options = f"--model hmm.json --rules {RULES} --output shards"
    cli.done(f"reprocess {corpus} {options}")
    assert [tokens for tokens, _ in pairs("shards/part-00000.parquet")] == [t for t, _ in pairs("train.tsv")]


def test_shards_leave_texts_behind(corpus):
    from ilpinfer.reprocessing.shards import shards

    (shard,) = shards(read(corpus, notify=lambda _: None), 10, print)
    assert [(each.tokens, each.labels) for each in shard.examples] == pairs("train.tsv")
    assert all(each.passage is None for each in shard.examples)


def test_predicted_labels_go_into_the_documents(folder, cli):
    Path("notes").mkdir()
    text = "Ada Lovelace. Notes on engines.\nGrace Hopper: Compilers.\n"
    Path("notes/a.txt").write_text(text)
    Path("notes/a.ann").write_text("T1\tauthor 0 3\tAda\n")
    cli.done(f"decode notes --model hmm.json --rules {RULES} --output out.jsonl")
    found = rows(Path("out.jsonl"))
    for to, output in (("brat", "labelled"), ("label-studio", "tasks.json"), ("prodigy", "tasks.jsonl")):
        cli.done(f"convert notes {output} --labels out.jsonl --to {to}")
    assert Path("labelled/a.txt").read_text() == text
    assert [fields(labels) for _, labels in pairs("labelled")] == [fields(row["labels"]) for row in found]
    assert Path("labelled/a.ann").read_text() != Path("notes/a.ann").read_text()
    tasks = json.loads(Path("tasks.json").read_text())
    assert [task["predictions"][0]["model_version"] for task in tasks] == ["ilpinfer"] * 2
    assert [fields(labels) for _, labels in pairs("tasks.jsonl")] == [fields(row["labels"]) for row in found]


def test_the_best_of_several_labellings_is_written(folder, cli):
    decode = f"decode train.tsv --model hmm.json --rules {RULES} --output out.jsonl"
    cli.done(f"{decode} --top 2")
    cli.done("convert train.tsv new.tsv --labels out.jsonl")
    found = rows(Path("out.jsonl"))
    best = [row["labels"] for row in found if row.get("rank", 1) == 1]
    assert [list(labels) for _, labels in pairs("new.tsv")] == best


def test_sequences_without_a_labelling_are_told(folder, cli):
    first, second = Path("train.tsv").read_text().split("\n\n")
    rows = [{"tokens": [line.split("\t")[0] for line in part.splitlines()]} for part in (first, second)]
    rows[0]["labels"] = ["O"] * len(rows[0]["tokens"])
    Path("some.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = cli("convert train.tsv out.jsonl --labels some.jsonl")
    notice = "ilpinfer: notice: some.jsonl: 1 sequence has no labelling, and no labels in the output"
    assert code == 0 and err.splitlines()[0] == notice
    assert [labels is None for _, labels in pairs("out.jsonl")] == [False, True]


def test_labels_are_rewritten_to_a_scheme(folder, cli):
    cli.done("convert train.tsv out.tsv --scheme bilou")
    assert pairs("out.tsv")[0][1][:4] == ("B-author", "I-author", "L-author", "B-title")


def test_documents_or_lines(folder, cli):
    Path("a.txt").write_text("Ada slept.\nYes.\n")
    Path("a.ann").write_text("")
    for unit, count in (("line", 2), ("document", 1)):
        cli.done(f"convert a.ann out.jsonl --unit {unit}")
        assert len(pairs("out.jsonl")) == count


def test_columns_of_conllu_are_named(folder, cli):
    Path("x.conllu").write_text("1\tAda\t_\tPROPN\tNNP\t_\t_\t_\t_\t_\n\n")
    cli.done("convert x.conllu y.conllu --column xpos --into upos")
    assert Path("y.conllu").read_text() == "1\tAda\t_\tNNP\tNNP\t_\t_\t_\t_\t_\n\n"
    assert cli("convert x.conllu - --column xpos --to columns")[1] == "Ada\tNNP\n"


def test_further_columns_stay_in_json_lines(folder):
    Path("x.csv").write_text("token,pos,label\nAda,NNP,B-a\n")
    write(read("x.csv", notify=print), "x.jsonl")
    record = {"tokens": ["Ada"], "labels": ["B-a"], "columns": {"pos": ["NNP"]}}
    assert json.loads(Path("x.jsonl").read_text()) == record
    assert pairs("x.jsonl") == [(("Ada",), ("B-a",))]


def test_documents_are_not_written_in_the_place_of_others(folder, cli):
    Path("notes").mkdir()
    Path("notes/a.txt").write_text("Ada\n")
    Path("notes/a.ann").write_text("T1\tx 0 3\tAda\n")
    assert "notes/a.txt: is an input of this command (notes/a.txt)" in cli.refused("convert notes notes")
    assert Path("notes/a.ann").read_text() == "T1\tx 0 3\tAda\n"


def test_sequences_without_labels_are_columns_of_tokens(folder):
    one, two = read("train.tsv")
    write([one.with_labels(None), two.with_labels(None)], "x.tsv")
    assert pairs("x.tsv")[0] == (one.tokens, None)


def test_a_format_may_be_told_by_options(folder):
    assert WriteOptions().format_of("x.bio") == "columns"
    assert WriteOptions("prodigy").format_of("x.jsonl") == "prodigy"
    assert WriteOptions().format_of("folder") == "brat"
