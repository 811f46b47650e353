"""Files whose names end in `.gz` are compressed: every command reads and writes them, or says that it does not."""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN

from ilpinfer.system import checkpoint as checkpoints
from ilpinfer.system.checkpoint import RowCheckpoint
from ilpinfer.system.output_paths import OutputError

WORDS = """
fields = ["author", "title", "date", "pages"]
[[rule]]
template = "tag_at"
field = "date"
words = { file = "words.txt.gz" }
penalty = 2.0
"""
SHORT = gzip.compress(TRAIN.encode())[:-9]
TIMES = ("seconds", "incumbents", "job")


def pack(*names):
    """A compressed file beside each file."""
    for name in names:
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))


def rows(text):
    """Rows without what differs from run to run."""
    return [
        {name: row[name] for name in row if name not in TIMES} for row in map(json.loads, text.splitlines())
    ]


@pytest.fixture
def packed(folder):
    """Input of every kind, plain and compressed."""
    Path("words.txt").write_text("1843\n1952\n")
    Path("words.toml").write_text(WORDS)
    Path("names.json").write_text('["title", "O"]')
    Path("in.conllu").write_text("1\tAda\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\truns\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n")
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    bare = {name: value for name, value in SCORES.items() if name != "label_names"}
    Path("bare.jsonl").write_text(json.dumps(bare) + "\n")
    shutil.copy("train.tsv", "in.csv")
    pack("train.tsv", "in.csv", "in.conllu", "in.jsonl", "bare.jsonl")
    pack("words.txt", "words.toml", "rules.toml", "hmm.json", "names.json")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        "decode train.tsv --model hmm.json --rules words.toml",
        "decode in.csv --model hmm.json",
        "decode in.conllu --model hmm.json",
        "decode in.jsonl --rules rules.toml --jobs 2",
        "decode bare.jsonl --label-names names.json",
    ],
)
def test_compressed_input_is_read_as_the_plain_one(packed, cli, arguments):
    plain = cli(arguments)
    names = [f"{word}.gz" if Path(f"{word}.gz").exists() else word for word in arguments.split()]
    assert names != arguments.split()
    code, out, err = cli(" ".join(names))
    assert (code, rows(out)) == (plain[0], rows(plain[1]))
    assert plain[0] == 0 and rows(out) and err.replace(".gz", "") == plain[2]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ("train train.tsv", "model.json"),
        ("mine train.tsv --support 1 --folds 0 --gain 0", "mined.toml"),
        ("reference make in.jsonl --rules rules.toml", "references.jsonl"),
        ("convert train.tsv", "out.conllu"),
        ("convert in.jsonl.gz --to columns", "out.tsv"),
    ],
    ids=lambda given: given if isinstance(given, str) else None,
)
def test_compressed_output_is_the_plain_one(packed, arguments, output, cli):
    if "in.jsonl.gz" in arguments:
        Path("in.jsonl").write_text('{"tokens": ["a", "b"], "labels": ["x", "O"]}\n')
        pack("in.jsonl")
    for name in (output, f"{output}.gz"):
        where = name if arguments.startswith("convert") else f"--output {name}"
        cli.done(f"{arguments} {where}")
    data = Path(f"{output}.gz").read_bytes()
    assert data[:2] == b"\x1f\x8b" and data[3:8] == b"\0" * 5, "neither a name nor a time"
    plain, unpacked = Path(output).read_text(), gzip.decompress(data).decode()
    if output.endswith(("toml", "conllu", "tsv", "jsonl")) and not output.startswith("references"):
        assert unpacked == plain
    assert unpacked and not list(Path().glob(f"{output}.gz.*"))
    if output.startswith("model"):
        cli.done(f"decode train.tsv --model {output}.gz")
    if output.startswith("references"):
        cli.done(f"reference verify {output}.gz")


def test_rows_and_what_reads_them(packed, cli):
    given = "decode train.tsv --model hmm.json --rules words.toml"
    cli.done(f"{given} --output rows.jsonl")
    cli.done(f"{given} --output rows.jsonl.gz")
    text = gzip.decompress(Path("rows.jsonl.gz").read_bytes()).decode()
    assert rows(text) == rows(Path("rows.jsonl").read_text())
    assert sorted(Path().glob("rows.jsonl*")) == [Path("rows.jsonl"), Path("rows.jsonl.gz")]
    cli.done("evaluate rows.jsonl.gz train.tsv.gz --output scores.json.gz")
    assert json.loads(gzip.decompress(Path("scores.json.gz").read_bytes()))
    arguments = "compare train.tsv.gz --model hmm.json.gz --rules words.toml.gz"
    cli.done(f"{arguments} --methods auto --predictions mine=rows.jsonl.gz --output both")
    methods = {json.loads(line)["method"] for line in Path("both/results.jsonl").read_text().splitlines()}
    assert methods == {"auto", "mine"}
    cli.done("check words.toml.gz train.tsv.gz --write checked.toml.gz")
    cli.done("check checked.toml.gz")


def test_a_folder_is_searched_for_compressed_files(packed, cli):
    os.mkdir("corpus")
    shutil.move("train.tsv.gz", "corpus/one.tsv.gz")
    shutil.copy("train.tsv", "corpus/two.tsv")
    assert len(rows(cli.done("decode corpus --model hmm.json").out)) == 4


@pytest.mark.parametrize("moment", ["unlink", "replace"])
def test_a_run_that_ends_while_it_compresses_resumes(tmp_path, monkeypatch, moment):
    target = tmp_path / "x.gz"

    def checkpoint():
        return RowCheckpoint(target, "job", lambda row: (row["n"], 0, 1))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    def interrupted(patched):
        with checkpoint() as rows:
            rows.write([{"n": 0}, {"n": 1}])
            if moment == "replace":
                patched.setattr(checkpoints.os, "replace", interrupt)
            else:
                patched.setattr(checkpoints, "sync_folder", interrupt)
                patched.setattr(Path, "unlink", lambda path, missing_ok=False: None)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupted(patched)
    left = {path.name for path in tmp_path.iterdir()} - {"x.gz.lock", "x.gz.part.new"}
    assert left == ({"x.gz.part"} if moment == "replace" else {"x.gz", "x.gz.part"})
    for path in tmp_path.glob("*.lock"):
        path.unlink()
    with checkpoint() as rows:
        assert (rows.groups, rows.damage) == (2, "")
    assert gzip.decompress(target.read_bytes()).count(b"\n") == 2
    assert not (tmp_path / "x.gz.part").exists()


def test_equal_rows_give_equal_files(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        with RowCheckpoint(tmp_path / name, "job", lambda row: (row["n"], 0, 1)) as rows:
            rows.write([{"n": 0}])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_a_pipe_cannot_have_compressed_rows(tmp_path):
    os.mkfifo(tmp_path / "x.gz")
    with pytest.raises(OutputError, match=r"x\.gz: is not a regular file, .*; choose a name without \.gz"):
        RowCheckpoint(tmp_path / "x.gz", "job", lambda row: (row["n"], 0, 1))


DAMAGED = {
    "empty": b"",
    "plain": TRAIN.encode(),
    "short": SHORT,
    "cut": gzip.compress(TRAIN.encode() * 500)[:200],
}


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ("decode x.gz --model hmm.json", DAMAGED),
        ("decode train.tsv --model x.gz", ["short"]),
        ("decode train.tsv --model hmm.json --rules x.gz", ["plain"]),
        ("decode bare.jsonl --label-names x.gz", ["plain"]),
        ("train train.tsv --cross-validate 2 --documents x.gz --output m.json", ["plain"]),
    ],
    ids=["input", "model", "rules", "names", "documents"],
)
def test_damaged_files_are_one_line(packed, cli, arguments, kinds):
    for kind in kinds:
        Path("x.gz").write_bytes(DAMAGED[kind])
        code, out, err = cli(arguments)
        assert code == 2
        assert out == "" or kind != "plain", "rows are written as soon as their sequence is read"
        assert "x.gz: " in err and "truncated or damaged gzip file: " in err
        assert err.count("\n") <= 1 + ("notice" in err)


def test_reprocess_reads_compressed_input_and_counts_its_bytes(packed, cli):
    pytest.importorskip("pyarrow")
    big = "".join(TRAIN + "\n" for _ in range(300))
    Path("big.tsv").write_text(big)
    pack("big.tsv")
    given = "--model hmm.json.gz --jobs 1"
    for name in ("big.tsv", "big.tsv.gz"):
        out = cli.done(f"reprocess {name} {given} --dry-run --json --output d").out
        assert json.loads(out)["sequences"] == pytest.approx(600, rel=0.5)
    out = cli.done(f"reprocess big.tsv.gz {given} --output done --json").out
    assert json.loads(out)["sequences"] == 600
