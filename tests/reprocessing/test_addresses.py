"""Input and output at addresses: the same rows as on this machine, and files that appear whole or not at all."""

import gzip
import json
from pathlib import Path

import pytest
from support.command_line import TRAIN, rows

from ilpinfer.reprocessing.folder import Folder
from ilpinfer.reprocessing.tables import read_shard
from ilpinfer.system import storage

pytestmark = pytest.mark.filterwarnings("default:.*this storage has no locks")
fsspec = pytest.importorskip("fsspec")

OPTIONS = "--model hmm.json --rules rules.toml"
RUN = f"{OPTIONS} --shard-size 3 --jobs 1"


@pytest.fixture
def store(folder):
    """An empty store in memory, and eight sequences in `in.tsv` here and there."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    text = "\n".join([TRAIN] * 4)
    Path("in.tsv").write_text(text)
    system.pipe_file("/corpus/in.tsv", text.encode())
    system.pipe_file("/corpus/more/in.tsv.gz", gzip.compress(text.encode()))
    yield system
    system.store.clear()


def content(place):
    """The shards and the lists of a run, but for times and names of files."""
    result = {}
    for name in Folder(place).names:
        path = storage.joined(place, name)
        if name.endswith(".parquet"):
            columns = read_shard(path)[1].items()
            result[name] = [(key, values) for key, values in columns if key not in ("seconds", "file")]
        elif name != "manifest.json":
            with storage.open_bytes(path) as stream:
                result[name] = stream.read()
    return result


@pytest.mark.parametrize("scheme", ["memory://", "file://"])
def test_a_run_at_an_address_is_that_of_this_machine(store, cli, scheme, folder):
    cli.done(f"reprocess in.tsv {RUN} --output here")
    root = "memory://" if scheme == "memory://" else f"file://{folder}/"
    source = "memory://corpus/in.tsv" if scheme == "memory://" else f"{root}in.tsv"
    said = cli.done(f"reprocess {source} {RUN} --output {root}out").err
    assert ("has no locks; make sure that no other run writes there" in said) == (scheme == "memory://")
    assert content(f"{root}out") == content("here")
    with storage.open_bytes(f"{root}out/manifest.json") as stream:
        manifest = json.load(stream)
    assert manifest["finished"] and manifest["inputs"][0]["bytes"] == Path("in.tsv").stat().st_size
    before = content(f"{root}out")
    for name in ("part-00001.parquet", "manifest.json"):
        store.rm(f"/out/{name}") if scheme == "memory://" else Path("out", name).unlink()
        begun = name != "manifest.json"
        command = f"reprocess {source} {RUN} --output {root}out --resume"
        if begun:
            cli.done(command)
            assert content(f"{root}out") == before
        else:
            assert "holds no run" in cli(command).err
    assert (
        "out: is not empty; continue with --resume" in cli(f"reprocess in.tsv {RUN} --output {root}out").err
    )


def test_a_file_in_storage_appears_whole_or_not_at_all(store, cli, monkeypatch):
    source = f"reprocess memory://corpus/in.tsv {RUN} --output memory://out"
    write = Folder.write

    def fail(self, name, data):
        if name == "part-00001.parquet":
            with storage.new_file(self.place(name)) as stream:
                stream.write(data[:10])
                raise KeyboardInterrupt
        write(self, name, data)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", fail)
        assert cli(source).code == 130
    assert sorted(Folder("memory://out").names) == ["manifest.json", "part-00000.parquet"]
    cli.done(f"{source} --resume")
    cli.done(f"reprocess in.tsv {RUN} --output here")
    assert content("memory://out") == content("here")


def test_an_error_of_the_storage_is_one_line(store, cli, monkeypatch):
    def full(*_, **__):
        raise RuntimeError("SlowDown:  reduce your\nrequest rate")

    monkeypatch.setattr(type(store), "mkdir", full)
    said = cli.refused(f"reprocess in.tsv {RUN} --output memory://out")
    assert (
        said
        == "ilpinfer: memory://out: cannot be written: SlowDown: reduce your request rate; choose another place\n"
    )


@pytest.mark.parametrize("name", ["in.tsv", "in.jsonl.gz", "in.parquet"])
def test_an_error_of_the_storage_while_reading_names_the_file(store, cli, monkeypatch, name):
    def broken(*_):
        raise RuntimeError("Response payload is not completed")

    store.pipe_file(f"/{name}", b"content" * 9)
    monkeypatch.setattr(type(store.open(f"/{name}")), "read", broken, raising=False)
    said = cli.refused(f"decode memory://{name} {OPTIONS}")
    assert f"memory://{name}" in said and "Response payload is not completed" in said


def test_a_folder_in_storage_without_sequences_is_named(store, cli):
    store.pipe_file("/nothing/a.pdf", b"%PDF")
    said = cli.refused(f"decode memory://nothing {OPTIONS}")
    assert said.startswith("ilpinfer: memory://nothing: no readable file in this folder")


def test_storage_without_transactions_is_no_place_for_output(store, cli, monkeypatch):
    from fsspec.implementations import arrow

    monkeypatch.setattr(arrow, "ArrowFSWrapper", type(store))
    said = cli.refused(f"reprocess in.tsv {RUN} --output memory://out")
    assert said.startswith("ilpinfer: memory://out: this storage has no transactions") and not store.exists(
        "/out"
    )


def test_a_file_in_storage_appears_at_the_end(store):
    with storage.new_file("memory://out/a.json") as stream:
        stream.write(b"{}")
        assert not store.exists("/out/a.json")
    assert store.cat_file("/out/a.json") == b"{}"


def test_an_upload_that_breaks_off_leaves_the_file_before(store):
    def half(name):
        with storage.new_file(f"memory://out/{name}") as stream:
            stream.write(b"aft")
            raise RuntimeError("connection lost")

    with storage.new_file("memory://out/a.json") as stream:
        stream.write(b"before")
    for name in ("a.json", "b.json"):
        with pytest.raises(OSError, match="connection lost"):
            half(name)
    assert store.ls("/out", detail=False) == ["/out/a.json"] and store.cat_file("/out/a.json") == b"before"


def test_commands_read_addresses(store, cli):
    everything = "decode memory://corpus"
    cli.done(f"{everything} {OPTIONS} --output out.jsonl")
    cli.done(f"decode in.tsv {OPTIONS} --output here.jsonl")
    found, expected = ([row["labels"] for row in rows(Path(name))] for name in ("out.jsonl", "here.jsonl"))
    assert found == expected * 2
    cli.done(f"decode memory://corpus/*.tsv {OPTIONS} --output pattern.jsonl")
    assert [row["labels"] for row in rows(Path("pattern.jsonl"))] == expected
    store.pipe_file("/hmm.json", Path("hmm.json").read_bytes())
    cli.done("decode memory://corpus/in.tsv --model memory://hmm.json --output viterbi.jsonl")
    assert "token accuracy" in cli.done("evaluate memory://corpus/in.tsv viterbi.jsonl").out
    cli.done(f"compare memory://corpus/in.tsv {OPTIONS} --methods auto,viterbi --output report")
    cli.done("train memory://corpus/in.tsv --kind hmm --output model.json")
    cli.done("convert memory://corpus/more/in.tsv.gz in.jsonl")
    store.put_file("in.jsonl", "/corpus/in.jsonl")
    cli.done("check rules.toml memory://corpus/in.jsonl")
    cli.done("convert in.tsv in.parquet")
    store.put_file("in.parquet", "/tables/in.parquet")
    cli.done(f"decode memory://tables {OPTIONS} --output table.jsonl")
    assert [row["labels"] for row in rows(Path("table.jsonl"))] == expected


def test_pairs_of_brat_are_read_in_storage(store, cli):
    store.pipe_file("/brat/a.txt", b"Ada wrote Notes")
    store.pipe_file("/brat/a.ann", b"T1\tauthor 0 3\tAda\n")
    cli.done("convert memory://brat brat.jsonl")
    assert rows(Path("brat.jsonl"))[0]["tokens"] == ["Ada", "wrote", "Notes"]
    store.pipe_file("/brat/b.txt", b"Ada")
    assert "memory://brat/b.txt: no b.ann in the same folder" in cli.refused("convert memory://brat x.jsonl")


def test_an_output_is_a_folder_and_need_not_be_there_to_go_on(store, cli):
    said = cli.refused(f"reprocess in.tsv {RUN} --output memory://corpus/in.tsv")
    assert "corpus/in.tsv: is a file; name a folder" in said
    cli.done(f"reprocess in.tsv {RUN} --output memory://new --resume")
