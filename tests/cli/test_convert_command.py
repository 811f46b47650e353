"""`ilpinfer convert`, and every command that reads sequences on documents of annotation tools."""

from pathlib import Path

import pytest
from support.command_line import TRAIN, rows

from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.streams import open_stream
from ilpinfer.corpus.text_formats import CorpusForm
from ilpinfer.corpus.writing import WriteOptions

FORMATS = {
    "columns": "corpus.tsv",
    "json": "corpus.jsonl",
    "parquet": "corpus.parquet",
    "conllu": "corpus.conllu",
    "spans": "corpus-spans.jsonl",
}
RULES = "rules.toml"


@pytest.fixture(params=list(FORMATS))
def corpus(folder, request, cli):
    """The training sequences in a format."""
    path, way = FORMATS[request.param], ["--to", request.param]
    code, out, err = cli(f"convert train.tsv {path}", *way)
    assert (code, out) == (0, "")
    assert err == f"ilpinfer: notice: {path}: 2 sequences as {request.param}\n"
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
    from ilpinfer.reprocessing.shards import ShardReader

    with open_stream(corpus, CorpusForm(slices=True), lambda _: None) as stream:
        shard, _ = ShardReader(stream, 10, print).read()
    assert [(each.tokens, each.labels) for each in shard.examples] == pairs("train.tsv")
    assert all(each.passage is None for each in shard.examples)


def test_predicted_labels_go_into_the_documents(folder, cli):
    Path("notes").mkdir()
    text = "Ada Lovelace. Notes on engines.\nGrace Hopper: Compilers.\n"
    Path("notes/a.txt").write_text(text)
    Path("notes/a.ann").write_text("T1\tauthor 0 3\tAda\n")
    cli.done(f"decode notes --model hmm.json --rules {RULES} --output out.jsonl")
    found = rows(Path("out.jsonl"))
    cli.done("convert notes labelled.jsonl --labels out.jsonl --to spans")
    assert [row["text"] for row in rows(Path("labelled.jsonl"))] == text.splitlines()
    assert [fields(labels) for _, labels in pairs("labelled.jsonl")] == [
        fields(row["labels"]) for row in found
    ]


def test_a_format_may_be_told_by_options(folder):
    assert WriteOptions().format_of("x.bio") == "columns"
    assert WriteOptions("spans").format_of("x.jsonl") == "spans"


@pytest.mark.parametrize(
    ("lines", "how", "message"),
    [
        ("Ada\tB-P\nB\tI-P\nx\t[PAD]\n", "--to json --scheme iobes", "in.tsv: '[PAD]' among bio labels"),
        ("Ada\tB-P\nB\tI-P\nx\t[PAD]\n", "--to spans", "in.tsv: '[PAD]' among bio labels"),
        (
            "Ada\tname\n1815\tyear\n",
            "--to json --scheme iobes",
            "'name' are plain, which cannot be written as iobes",
        ),
        (
            "Ada\tB\nB\tI\nx\tO\n",
            "--to json --scheme iobes",
            "'B' are plain, which cannot be written as iobes",
        ),
    ],
)
def test_labels_without_the_scheme_are_refused(folder, cli, lines, how, message):
    Path("in.tsv").write_text(lines)
    code, out, err = cli(f"convert in.tsv - {how}")
    assert (code, out) == (2, "") and message in err


def test_an_empty_sequence_goes_where_it_has_a_place(folder, cli):
    text = '{"tokens": ["a"], "labels": ["O"]}\n{"tokens": [], "labels": []}\n'
    Path("in.jsonl").write_text(text)
    cli.done("convert in.jsonl out.parquet")
    assert cli.done("convert out.parquet - --to json").out == text
    for to in ("columns", "spans", "conllu"):
        assert (
            f"line 2: the sequence is empty, which {to} cannot represent"
            in cli(f"convert in.jsonl - --to {to}")[2]
        )
