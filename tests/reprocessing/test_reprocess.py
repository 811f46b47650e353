"""Corpora in shards: the same content however a run came about, and one clear message for what cannot be done."""

import gzip
import json
import os
import re
import shutil
import signal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.command_line import TRAIN, rows, rule_text
from support.processes import python

from ilpinfer.decoding.decoder import Decoder
from ilpinfer.reprocessing import executors
from ilpinfer.reprocessing.folder import Folder
from ilpinfer.reprocessing.manifest import read_manifest
from ilpinfer.reprocessing.tables import read_shard
from ilpinfer.system.locks import hold_lock
from ilpinfer.system.output_paths import OutputError

REPROCESS = "reprocess in.tsv --model hmm.json --rules rules.toml --shard-size 3"
HERE = f"{REPROCESS} --jobs 1"


@pytest.fixture
def corpus(folder):
    """Eight sequences in a file, which make three shards."""
    Path("in.tsv").write_text("\n".join([TRAIN] * 4))
    return folder


def contents(path):
    """What a folder holds, times apart."""
    result = {}
    for file in sorted(Path(path).iterdir()):
        if file.suffix == ".parquet":
            columns = read_shard(file)[1].items()
            result[file.name] = [(name, values) for name, values in columns if name != "seconds"]
        elif file.name == "manifest.json":
            result[file.name] = re.sub(
                rb'"file_sha256": "[0-9a-f]*"', b'"file_sha256": ""', file.read_bytes()
            )
        else:
            result[file.name] = file.read_bytes()
    return result


@pytest.fixture
def whole(corpus, cli):
    """An undisturbed run."""
    cli.done(f"{HERE} --output whole")
    return contents("whole")


@pytest.mark.parametrize("parts", [1, 3, 20])
def test_parts_have_each_sequence_once(parts, whole, cli):
    for part in range(1, parts + 1):
        cli.done(f"{HERE} --output out/{part} --part {part}/{parts}")
    rows = [row for file in Path("out").glob("*/*.parquet") for row in pq.read_table(file).to_pylist()]
    assert len(list(Path("out").glob("*/manifest.json"))) == parts
    key = ("line", "tokens", "labels", "score")
    expected = [row for file in Path("whole").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    chosen = lambda found: sorted([row[name] for name in key] for row in found)  # noqa: E731
    assert chosen(rows) == chosen(expected)
    cli.done(f"{HERE} --output out/1 --part 1/{parts} --resume")
    for other, now in (("--part 1/7", "now it is 1/7"), ("", "begun with --part")):
        assert now in cli.refused(f"{HERE} --output out/1 {other} --resume")


def test_a_run_says_all_of_its_sequences(whole, cli):
    manifest = json.loads(whole["manifest.json"])
    assert manifest["finished"] and [shard["rows"] for shard in manifest["shards"]] == [3, 3, 2]
    table = pq.read_table("whole/part-00001.parquet").to_pylist()
    assert [row["sequence"] for row in table] == [3, 4, 5]
    assert {row["status"] for row in table} == {"optimal"}
    assert all(len(row["labels"]) == len(row["tokens"]) for row in table)
    assert table[0]["file"] == "in.tsv" and table[0]["seconds"] >= 0
    cli.done("decode in.tsv --model hmm.json --rules rules.toml --output x")
    found = rows(Path("x"))[3:6]
    for name in ("labels", "score", "penalty", "bound", "method", "tokens"):
        assert [row[name] for row in found] == [row[name] for row in table]
    assert whole["rejected.jsonl"] == whole["unproved.jsonl"] == b""


@pytest.mark.parametrize("options", ["--jobs 2", "--jobs 1 --threads 2"])
def test_processes_and_threads_come_to_the_same(options, whole, cli):
    cli.done(f"{REPROCESS} {options} --output two")
    assert contents("two") == whole


def test_labels_are_explained(whole, cli):
    Path("none.toml").write_text(rule_text("at_most_tokens", field="author", n=0))
    given = "in.tsv --model hmm.json --rules none.toml"
    cli.done(f"reprocess {given} --jobs 1 --explain --output two")
    cli.done(f"decode {given} --explain --output x")
    found, plain = (
        [
            row["changed"]
            for file in sorted(Path(name).glob("*.parquet"))
            for row in pq.read_table(file).to_pylist()
        ]
        for name in ("two", "whole")
    )
    assert [json.loads(each) for each in found] == [row["changed"] for row in rows(Path("x"))]
    assert any(map(json.loads, found)) and {*plain} == {None}


def test_threads_are_for_the_engine(whole, cli):
    refused = cli.refused(f"{REPROCESS} --method beam --threads 2 --output two")
    assert "threads works with one process and the method auto" in refused


@pytest.mark.parametrize(
    "gone", [["part-00002.parquet"], ["part-00000.parquet"], ["part-00001.parquet", "rejected.jsonl"]]
)
def test_a_run_with_holes_is_filled(whole, cli, gone):
    for name in gone:
        Path("whole", name).unlink()
    Path("whole", "part-00002.parquet.part").write_bytes(b"half")
    cli.done(f"{HERE} --output whole --resume")
    assert contents("whole") == whole


def test_a_killed_run_is_gone_on_with(whole, cli):
    kill = (
        "import os, signal, sys; from ilpinfer.cli import main\n"
        "write = os.replace\n"
        "def replace(part, path):\n"
        "    if path.name == sys.argv[1]: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    write(part, path)\n"
        "os.replace = replace\n"
        "main(sys.argv[2:])\n"
    )
    for at in ("manifest.json", "part-00000.parquet", "part-00002.parquet", "rejected.jsonl"):
        shutil.rmtree("killed", ignore_errors=True)
        command = f"{HERE} --output killed"
        killed = python("-c", kill, at, *command.split())
        assert killed.returncode == -signal.SIGKILL
        assert Path("killed/run.lock").exists()
        cli.done(f"{command} --resume")
        assert contents("killed") == whole


def test_bad_records_are_listed_and_the_run_goes_on(corpus, cli):
    Path("in.tsv").write_text(f"x\ty\tz\tO\n\n{TRAIN}\nnone\n\n{TRAIN}")
    code, out, err = cli(f"{HERE} --output out")
    assert code == 1
    assert "4 sequences in 2 files, 4 proved, 0 unproved, 2 records rejected" in out or "rejected" in err
    found = rows(Path("out/rejected.jsonl"))
    assert [row["file"] for row in found] == ["in.tsv"] * len(found) and found
    assert err.count("\n") == 1 and "see rejected.jsonl: first in.tsv, line" in err


def test_a_table_that_is_cut_off_is_listed(corpus, cli):
    Path("in.parquet").write_bytes(b"PAR1 cut off")
    code, _, err = cli(f"{HERE} in.parquet --output out")
    assert code == 1 and "1 record rejected, see rejected.jsonl: first in.parquet: damaged" in err
    (row,) = map(json.loads, Path("out/rejected.jsonl").read_text().splitlines())
    assert (row["file"], row["line"]) == ("in.parquet", None)
    assert json.loads(Path("out/manifest.json").read_text())["shards"][2]["rows"] == 2


def test_long_sequences_are_listed(corpus, cli):
    with Path("in.tsv").open("a") as lines:
        lines.write("\n" + "x\tO\n" * 1_000_000)
    code, _, err = cli(f"{HERE} --output out --longest 50")
    assert code == 1
    assert "a sequence of more than 50 tokens" in err


OTHER = [
    ("--model other.json", "the run was begun with another model; use that again, or choose"),
    ("--rules citations", "the run was begun with another rule set; use that again, or choose"),
    ("--shard-size 4", "the run was begun with --shard-size 3, now it is 4"),
    ("--time-limit 5", "the run was begun with --time-limit none, now it is 5.0"),
    ("--method viterbi", "the run was begun with --method auto, now it is viterbi"),
]


PYTHON_WORDS = ("__init__", "argument", "True", "None", "Traceback", "has no attribute", "dict", "int()")
PYTHON_WORDS += ("KeyError", "'str'")


def test_a_damaged_manifest_is_named_without_words_of_python(whole, cli):
    path = Path("whole/manifest.json")
    values = json.loads(path.read_text())
    damaged = ["", "{", "[]", "null", "7", '"x"', "\udcff", '{"format": 1, "format": 1}']
    damaged.append('{"rejected": ' + "9" * 5000 + "}")
    damaged += [
        json.dumps({key: x for key, x in values.items() if key != name})
        for name in values
        if name != "format"
    ]
    wrong = (None, True, "x", [], {}, [None], [{}], {"x": 1}, 1.5)
    for name, value in ((name, value) for name in values for value in wrong):
        same = type(value) is type(values[name]) and name not in ("shards", "inputs")
        if not same and not (name == "time_limit" and value is None):
            damaged.append(json.dumps({**values, name: value}))
    shard = values["shards"][0]
    damaged += [json.dumps({**values, "shards": [{**shard, name: []}]}) for name in shard]
    damaged += [
        json.dumps({**values, "inputs": [{"file": 7, "bytes": 1}]}),
        json.dumps({**values, "more": 1}),
    ]
    accepted = 0
    for text in damaged:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        try:
            read_manifest(Path("whole"))
            accepted += 1
        except OutputError as error:
            message = str(error)
            assert message.startswith("whole/manifest.json: ") and "\n" not in message and len(message) < 300
            assert not any(word in message for word in PYTHON_WORDS), message
    assert accepted < 15 < len(damaged)  # such as an empty list of retries
    code, _, err = cli(f"{HERE} --output whole --resume")
    assert (code, err.count("\n")) == (2, 1) and "unknown key 'more' in the manifest" in err


@pytest.mark.parametrize(("arguments", "message"), OTHER)
def test_another_run_is_not_gone_on_with(whole, cli, arguments, message):
    model = json.loads(Path("hmm.json").read_text())
    Path("other.json").write_text(json.dumps(model) + "\n\n")
    err = cli.refused(f"{HERE} --output whole --resume {arguments}")
    assert err.splitlines()[-1].startswith("ilpinfer: whole/manifest.json: ")
    assert message in err
    assert contents("whole") == whole


def test_other_input_is_not_gone_on_with(whole, cli):
    text = Path("in.tsv").read_text()
    Path("in.tsv").write_text(text + "x\tO\n")
    assert "the run was begun with bytes of in.tsv" in cli.refused(f"{HERE} --output whole --resume")
    Path("in.tsv").write_text(text.replace("Ada", "Eve"))
    err = cli.refused(f"{HERE} --output whole --resume")
    assert "part-00000.parquet: has other sequences than those from in.tsv, line 1" in err
    now = contents("whole")
    assert all(now[name] == whole[name] for name in {*now, *whole} if "part" in name)


def test_a_shard_of_another_run_is_refused(whole, cli):
    assert cli(f"{HERE} --method viterbi --output other")[0] in (0, 1)
    shutil.copy("other/part-00001.parquet", "whole/part-00001.parquet")
    err = cli.refused(f"{HERE} --output whole --resume")
    assert "whole/part-00001.parquet: belongs to another run; delete it" in err


@pytest.mark.parametrize("end", [-9, 0])
def test_a_damaged_shard_is_named(whole, cli, end):
    path = Path("whole/part-00001.parquet")
    path.write_bytes(path.read_bytes()[:end])
    err = cli.refused(f"{HERE} --output whole --resume")
    assert "whole/part-00001.parquet: damaged (" in err and "continue with --resume" in err
    path.unlink()
    cli.done(f"{HERE} --output whole --resume")
    assert contents("whole") == whole


def test_a_changed_row_is_noticed(whole, cli):
    path = Path("whole/part-00001.parquet")
    table = pq.read_table(path)
    at = table.schema.get_field_index("score")
    pq.write_table(table.set_column(at, "score", [[0.0] * len(table)]), path)
    assert "damaged, its content does not match its digest" in cli.refused(f"{HERE} --output whole --resume")


def test_a_folder_that_is_not_empty_needs_resume(whole, cli):
    err = cli.refused(f"{HERE} --output whole")
    assert err == "ilpinfer: whole: is not empty; continue with --resume, or choose another output\n"
    Path("foreign").mkdir()
    Path("foreign/x").write_text("mine")
    err = cli.refused(f"{HERE} --output foreign --resume")
    assert err == "ilpinfer: foreign: holds no run of ilpinfer reprocess, which has manifest.json\n"
    assert os.listdir("foreign") == ["x"]


def test_a_folder_that_another_run_holds(whole, cli):
    with hold_lock(Path("whole/run.lock")):
        code, _, err = cli(f"{HERE} --output whole --resume")
    assert code == 2
    assert f"whole: pid {os.getpid()} on " in err and "is writing it; wait until it ends" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_full_device_is_named(tmp_path, monkeypatch, size):
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(os, "open", lambda *_: full)
    with pytest.raises(OutputError, match=r"part-00000.parquet: cannot be written: No space left on device"):
        Folder(tmp_path).write("part-00000.parquet", b"x" * size)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_keeps_what_is_there(whole, cli, monkeypatch):
    def full(self, name, data, write=Folder.write):
        if name == "part-00001.parquet":
            patch.setattr(os, "fsync", fail)
        write(self, name, data)

    def fail(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", full)
        code, _, err = cli(f"{HERE} --output out")
    assert code == 2 and "out/part-00001.parquet: cannot be written: No space left on device" in err
    assert {"part-00000.parquet", "manifest.json"} <= set(os.listdir("out"))
    assert "part-00001.parquet" not in os.listdir("out")
    cli.done(f"{HERE} --output out --resume")
    assert contents("out") == whole


def test_a_budget_stops_the_run_and_resume_goes_on(whole, cli, monkeypatch):
    with monkeypatch.context() as patch:
        spent_after(patch, 6)
        code, _, err = cli(f"{HERE} --output out --budget 1000")
    assert (code, err) == (1, "ilpinfer: --budget 1000 s are over; continue with --resume\n")
    assert not json.loads(Path("out/manifest.json").read_text())["finished"]
    cli.done(f"{HERE} --output out --resume")
    assert contents("out") == whole


def spent_after(patch, checks):
    """Let the time of a run end at the given call for the time that is left."""
    calls = []

    def check(self):
        calls.append(1)
        if len(calls) == checks:
            raise executors.BudgetSpent

    patch.setattr(executors.Budget, "check", check)


ROW = '{"tokens": ["Ada", "Notes", "."]}\n'
INPUTS = {
    "in.tsv": (TRAIN + "\n") * 4,
    "faults.tsv": f"{TRAIN}\n\tO\n\n{TRAIN}\nnone\n\n{TRAIN}\n{TRAIN}\nnone\n",
    "in.tsv.gz": gzip.compress(((TRAIN + "\n") * 4).encode()),
    "in.jsonl": ROW * 4 + "{}\n" + ROW * 4,
    "in.json": f"[{','.join([ROW] * 8)}]",
    "many/*.jsonl": [ROW] * 8,
    "some/*.jsonl": [ROW * 4, ROW, "{}", ROW * 3],
}


@pytest.mark.parametrize("source", INPUTS)
def test_finished_shards_are_passed_over(folder, cli, monkeypatch, source):
    """They are not read again, and what is listed of them stays."""
    content = INPUTS[source]
    for number, each in enumerate(content if isinstance(content, list) else [content]):
        path = Path(source.replace("*", str(number)))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(each if isinstance(each, bytes) else each.encode())
    run = f"reprocess {source} --model hmm.json --rules rules.toml --shard-size 3 --jobs 1 --method viterbi --output"
    cli(f"{run} whole")
    for checks in (5, 8):
        output = f"out{checks}"
        with monkeypatch.context() as patch:
            spent_after(patch, checks)
            assert cli(f"{run} {output} --budget 1000")[0] == 1
        there = len(list(Path(output).glob("*.parquet")))
        with monkeypatch.context() as patch:
            patch.setattr("ilpinfer.reprocessing.folder.read_shard", None)
            _, out, _ = cli(f"{run} {output} --resume")
        assert f"earlier files checked: {there} of {there}; files decoded now: {3 - there}" in out and there
        assert contents(output) == contents("whole")
        with monkeypatch.context() as patch:
            patch.setattr("ilpinfer.reprocessing.run.ShardReader.read", lambda self: None)
            _, out, _ = cli(f"{run} {output} --resume")
        assert "earlier files checked: 3 of 3; files decoded now: 0" in out


def test_checking_takes_no_time_of_the_budget(whole, cli):
    """A run goes on however little time it has for decoding after the shards that are there."""
    Path("whole/part-00001.parquet").unlink()
    code, _, err = cli(f"{HERE} --output whole --resume --budget 1e-9")
    assert code == 1 and "and more time, since no file was finished" in err
    entries = json.loads(Path("whole/manifest.json").read_text())["shards"]
    assert [entry["file"] for entry in entries] == [f"part-0000{n}.parquet" for n in range(3)]
    assert (
        "earlier files checked: 2 of 2; files decoded now: 1"
        in cli.done(f"{HERE} --output whole --resume").out
    )
    assert contents("whole") == whole


@pytest.mark.parametrize("packed", [False, True])
def test_a_changed_slice_of_the_input_is_noticed(corpus, cli, packed):
    text = Path("in.tsv").read_text()
    name = "in.tsv.gz" if packed else "in.tsv"

    def write(text):
        # without compression, equal texts have equal sizes
        Path(name).write_bytes(gzip.compress(text.encode(), 0, mtime=0) if packed else text.encode())

    write(text)
    run = f"reprocess {name} --model hmm.json --rules rules.toml --shard-size 3 --jobs 1 --output out"
    cli.done(run)
    Path("out/part-00002.parquet").unlink()
    write(text.replace("Ada", "Eda", 1))
    message = "part-00000.parquet: has other sequences than those from"
    assert message in cli.refused(f"{run} --resume")
    at = text.rindex("Ada")
    write(text[:at] + "Eda" + text[at + 3 :])
    cli.done(f"{run} --resume")
    assert "Eda" in str(read_shard(Path("out/part-00002.parquet"))[1]["tokens"])


def test_a_dry_run_writes_nothing(corpus, cli):
    out = cli.output(f"{HERE} --output out --dry-run")
    assert out.startswith("the first 8 sequences: 8 proved, ") and "about 8 sequences, " in out
    assert not Path("out").exists()


def test_what_is_not_proved_is_taken_up(corpus, monkeypatch, cli):
    """A beam proves little; a row that stays open is kept unless a better one comes."""
    beam = f"{HERE} --output out --method viterbi"
    Path("hard.toml").write_text(Path("rules.toml").read_text().replace("penalty = 2.5", "n = 0"))
    assert "unproved.jsonl" in cli.done(f"{beam} --rules hard.toml").err
    before = contents("out")
    rows = list(map(json.loads, before["unproved.jsonl"].decode().splitlines()))
    assert rows and {row["status"] for row in rows} == {"unknown"}
    again = f"{beam} --rules hard.toml --only-unproved --time-limit 60"
    cli.done(again)
    same = contents("out")
    assert same | {"manifest.json": ""} == before | {"manifest.json": ""}
    monkeypatch.setattr("ilpinfer.decoding.decoder.Decoder", _exact)
    with monkeypatch.context() as patch:
        patch.setattr(executors.Budget, "check", _spent)
        code, _, err = cli(f"{again} --budget 1000")
    assert code == 1 and "--budget 1000 s are over; continue with --only-unproved" in err
    assert contents("out") | {"manifest.json": ""} == before | {"manifest.json": ""}
    cli.done(again)
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert manifest["retries"] == [60.0, 60.0, 60.0] and manifest["finished"]
    assert sum(shard["unproved"] for shard in manifest["shards"]) == 0
    assert Path("out/unproved.jsonl").read_bytes() == b""


def _spent(_):
    raise executors.BudgetSpent


def _exact(rules, *, method, **options):
    return Decoder(rules, method="auto", **options)


def test_columns_of_tokens_are_in_shards_and_come_back(corpus, cli):
    line = "{}\tOf\tof\tADP\t_\t_\t0\troot\t_\t_\n"
    Path("in.conllu").write_text(line.format(1) + line.format(2) + "\n" + line.format(1) + "\n")
    cli.done("reprocess in.conllu --model hmm.json --output out --jobs 1")
    first, _ = pq.read_table("out/part-00000.parquet").to_pylist()
    assert json.loads(first["columns"])["lemma"] == ["of", "of"]
    cli.done("convert out back.jsonl")
    assert [row["columns"]["lemma"] for row in rows(Path("back.jsonl"))] == [["of", "of"], ["of"]]


def test_rules_with_nothing_to_check_are_named_once(corpus, cli):
    Path("absent.toml").write_text(rule_text("at_most_runs", field="colour"))
    command = HERE.replace("rules.toml", "absent.toml")
    said = "no label for colour: counted as absent"
    assert cli.done(f"{command} --output out").err.count(said) == 1
    assert said in cli.done("decode in.tsv --model hmm.json --rules absent.toml --output x.jsonl").err
