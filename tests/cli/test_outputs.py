"""Where output goes: whole or not at all, one run at a time, and never over what is read or is not ours."""

import errno
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN, CommandLine, rows, rule_text
from support.processes import started

from ilpinfer.system.checkpoint import RowCheckpoint
from ilpinfer.system.files import reserve, write_atomically
from ilpinfer.system.locks import LockNotice
from ilpinfer.system.output_paths import OutputError, output_path

DECODE = "decode in.jsonl --rules rules.toml --output x.jsonl"


@pytest.fixture
def lines(folder):
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 4)
    return folder


def position(row):
    return (row["n"], 0, 1)


HOLD = """
import sys, time
from ilpinfer.system.files import output_path, reserve
with reserve(output_path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        DECODE,
        "train train.tsv --output x.jsonl",
        "evaluate train.tsv train.tsv --output x.jsonl",
        "evaluate train.tsv train.tsv --picture x.jsonl",
    ],
)
def test_a_second_run_on_one_output_ends_at_once_and_names_the_first(lines, cli, arguments):
    with started("-c", HOLD, "x.jsonl", stdin=subprocess.PIPE) as other:
        assert other.stdout.readline() == "held\n"
        err = cli.refused(arguments)
        assert f"x.jsonl: pid {other.pid} on {socket.gethostname()} is writing it" in err
        other.kill()
    assert Path("x.jsonl.lock").exists(), "a killed run leaves it"
    cli.done(arguments)
    assert not list(Path().glob("x.jsonl.*"))


def test_compare_holds_its_rows(lines, cli):
    compare = "compare in.jsonl --methods viterbi --output out"
    with reserve(output_path("out/results.jsonl")):
        assert f"pid {os.getpid()} on" in cli.refused(compare)
    cli.done(compare)
    assert sorted(os.listdir("out")) == ["report.html", "results.jsonl", "summary.json"]


def test_threads_of_one_process_keep_each_other_out(tmp_path):
    place, refused = output_path(tmp_path / "x"), []

    def other():
        try:
            write_atomically(tmp_path / "x", "other")
        except OutputError as error:
            refused.append(str(error))

    with reserve(place):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        write_atomically(tmp_path / "x", "mine")
    assert len(refused) == 1 and f"pid {os.getpid()}" in refused[0]
    assert (tmp_path / "x").read_text() == "mine"


def test_file_systems_without_locks(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.warns(LockNotice, match="no locks; make sure that no other run writes x"):
        write_atomically(tmp_path / "x", "whole")
    lock, host = tmp_path / "x.lock", socket.gethostname()
    lock.write_text(f"ilpinfer: pid {os.getppid()} on {host}\n")
    with pytest.raises(OutputError, match=f"pid {os.getppid()} on {host} is writing it"):
        write_atomically(tmp_path / "x", "other")
    lock.write_text("ilpinfer: pid 1 on elsewhere\n")
    with pytest.raises(OutputError, match="if that has ended, remove"):
        write_atomically(tmp_path / "x", "other")
    with started("-c", "") as gone:
        gone.wait()
    lock.write_text(f"ilpinfer: pid {gone.pid} on {host}\n")
    write_atomically(tmp_path / "x", "again")
    assert (tmp_path / "x").read_text() == "again" and not lock.exists()


def spoiled(whole):
    """Parts with a row missing, twice, in another order, changed, or not JSON; and how many rows are right."""
    first, second, third, fourth = whole
    torn = third[:40] + "\n"
    renumbered = third.replace('"sequence": 2', '"sequence": true')
    otherwise = ((': "', ':\r "'), ('"score": ', '"score":  '), ('"gap": 0.0', '"gap": NaN'))
    return [
        *(([first, second.replace(*change, 1)], 1) for change in otherwise),
        ([first, third], 1),
        ([second, third], 0),
        ([first, third, second, fourth], 1),
        ([first, first, second], 1),
        ([first, second, torn, fourth], 2),
        ([first, second, renumbered], 2),
        ([first, "[1]\n", third], 1),
        ([first, second, third.replace('"status"', '"state"'), fourth], 2),
    ]


@pytest.mark.parametrize("case", range(11))
def test_a_part_with_holes_is_noticed_and_filled(lines, cli, case):
    cli.done(DECODE)
    whole = Path("x.jsonl").read_text().splitlines(keepends=True)
    part, right = spoiled(whole)[case]
    assert "".join(part) != "".join(whole[: len(part)])
    Path("x.jsonl").unlink()
    Path("x.jsonl.part").write_text("".join(part), newline="")
    err = cli.done(DECODE).err
    begun = f"the run continues after line {right}" if right else "the run starts again\n"
    assert f"x.jsonl.part: line {right + 1} is damaged or out of order; {begun}" in err
    assert [row["sequence"] for row in rows(Path("x.jsonl"))] == [0, 1, 2, 3]
    assert b"\r" not in Path("x.jsonl").read_bytes()


def test_a_comparison_with_holes_is_noticed_and_filled(lines, cli):
    compare = "compare in.jsonl --methods auto,viterbi --output out"
    cli.done(compare)
    whole = Path("out/results.jsonl").read_text().splitlines(keepends=True)
    spoiled = [
        (whole[:2] + whole[3:], 2),
        (whole[1:], 0),
        ([*whole[:3], whole[3].replace('"seconds": ', '"seconds": "x", "s": ')], 3),
        ([*whole[:3], whole[3].replace('"violations": {', '"violations": {"r": [1]')], 3),
    ]
    for part, right in spoiled:
        Path("out/results.jsonl").unlink()
        Path("out/results.jsonl.part").write_text("".join(part))
        assert f"line {right + 1} is damaged" in cli.done(compare).err
        result = [(row["sequence"], row["method"]) for row in rows(Path("out/results.jsonl"))]
        assert result == [(n, m) for n in range(4) for m in ("auto", "viterbi")]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("train.tsv", path)])
def test_a_part_that_is_no_file_is_left_alone(lines, cli, make):
    make("x.jsonl.part")
    assert "x.jsonl.part: exists" in cli.refused(DECODE)
    assert os.path.lexists("x.jsonl.part") and Path("train.tsv").read_text() == TRAIN


def test_what_a_killed_run_leaves_is_cleared_by_the_next(lines, cli):
    code = (
        "import os, sys, signal, ilpinfer.system.files as f\n"
        "os.replace = lambda *names: os.kill(os.getpid(), signal.SIGKILL)\n"
        "f.write_atomically('x.jsonl', 'half')"
    )
    with started("-c", code) as killed:
        killed.wait()
    assert killed.returncode == -signal.SIGKILL
    assert Path("x.jsonl.part").exists() and Path("x.jsonl.lock").exists()
    cli.done("train train.tsv --output x.jsonl")
    assert not list(Path().glob("x.jsonl.*"))
    Path("x.jsonl").unlink()
    Path("x.jsonl.part").write_bytes(b"\0" * 100 + b"\n")
    Path("x.jsonl.lock").write_text("ilpinfer: pid 1 on here\n")
    assert "line 1 is damaged or out of order; the run starts again\n" in cli.done(DECODE).err
    assert len(rows(Path("x.jsonl"))) == 4 and not list(Path().glob("x.jsonl.*"))


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ("decode in.jsonl --rules rules.toml", "in.jsonl"),
        ("decode in.jsonl --rules rules.toml", "rules.toml"),
        ("decode train.tsv --model hmm.json", "hmm.json"),
        ("decode in.jsonl --rules words.toml", "words.txt"),
        ("decode in.jsonl --label-names names.json", "names.json"),
        ("decode in.jsonl.part", "in.jsonl"),
        ("train train.tsv", "train.tsv"),
        ("train train.tsv --held-out other.tsv", "other.tsv"),
        ("train train.tsv --cross-validate 2 --documents names.json", "names.json"),
        ("train train.tsv --kind crf --option template=t.toml", "t.toml"),
        ("evaluate train.tsv other.tsv", "other.tsv"),
        ("evaluate train.tsv train.tsv --against other.tsv", "other.tsv"),
        ("check words.toml train.tsv --write", "words.toml"),
        ("check words.toml train.tsv --write", "train.tsv"),
        ("check words.toml train.tsv --write", "words.txt"),
    ],
)
def test_what_is_read_is_never_overwritten(lines, cli, arguments, output):
    Path("other.tsv").write_text(TRAIN)
    Path("names.json").write_text('["title", "O"]')
    Path("words.txt").write_text("a\nb\n")
    rule = rule_text("tag_at", field="title").rstrip() + '\nwords = { file = "words.txt" }\n'
    Path("words.toml").write_text(rule)
    Path("t.toml").write_text('features = ["lower"]\n')
    if arguments.endswith("in.jsonl.part"):
        Path("in.jsonl").rename("in.jsonl.part")
        Path("in.jsonl").touch()
    before = {path: path.read_bytes() for path in Path().iterdir()}
    os.symlink(output, "link")
    os.link(output, "hard link")
    names = [output, "link", *(["hard link"] if arguments != "decode in.jsonl.part" else [])]
    for name in names:
        where = [name] if arguments.endswith("--write") else ["--output", name]
        err = cli.refused(arguments, *where)
        assert err.startswith(f"ilpinfer: {name}: is also an input of this command")
    assert {path: path.read_bytes() for path in before} == before
    assert not list(Path().glob("*.lock"))


def test_a_comparison_overwrites_none_of_its_inputs(lines, cli):
    Path("out").mkdir()
    for name in ("results.jsonl", "summary.json", "report.html"):
        Path("out", name).write_text(json.dumps(SCORES) + "\n")
        err = cli.refused(f"compare out/{name} --methods viterbi --output out")
        assert err.startswith(f"ilpinfer: out/{name}: is also an input of this command")
        assert json.loads(Path("out", name).read_text()) == SCORES
        Path("out", name).unlink()


def test_rows_of_a_comparison_are_read_back(lines, cli):
    Path("out").mkdir()
    os.symlink("/dev/null", "out/results.jsonl")
    err = cli.refused("compare in.jsonl --methods viterbi --output out")
    said = "the command reads its rows again; name a file"
    assert err == f"ilpinfer: out/results.jsonl: {said}\n"


@pytest.mark.parametrize("dangling", [False, True])
def test_symbolic_links_stay_and_their_target_is_replaced(lines, cli, dangling):
    Path("data").mkdir()
    if not dangling:
        Path("data/real.jsonl").write_text("old\n")
        Path("data/real.jsonl").chmod(0o640)
    os.symlink("data/real.jsonl", "middle")
    os.symlink("middle", "x.jsonl")
    cli.done(DECODE)
    assert Path("x.jsonl").is_symlink() and Path("middle").is_symlink()
    assert len(rows(Path("data/real.jsonl"))) == 4
    assert os.listdir("data") == ["real.jsonl"]
    if not dangling:
        assert stat.S_IMODE(Path("data/real.jsonl").stat().st_mode) == 0o640
    cli.done("train train.tsv --output x.jsonl")
    assert Path("x.jsonl").is_symlink() and "ilpinfer-hmm" in Path("data/real.jsonl").read_text()


WRITERS = [
    "decode in.jsonl --rules rules.toml --output",
    "train train.tsv --output",
    "evaluate train.tsv train.tsv --output",
]


@pytest.mark.parametrize("arguments", WRITERS)
def test_devices_and_pipes_are_written_to(lines, cli, arguments):
    before = os.stat("/dev/null")
    os.symlink("/dev/null", "null")
    for name in ("/dev/null", "null"):
        cli.done(f"{arguments} {name}")
    assert os.stat("/dev/null").st_ino == before.st_ino and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo("pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    cli.done(f"{arguments} pipe")
    reader.join(20)
    assert read[0].startswith(b"{") and read[0].endswith(b"}\n")
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert not [name for name in os.listdir() if name.endswith((".part", ".lock"))]


@pytest.mark.parametrize("arguments", WRITERS)
def test_descriptors_are_written_to_where_they_are(lines, capfd, arguments):
    cli = CommandLine(capfd)
    assert cli.done(f"{arguments} /dev/stdout").out.startswith("{")
    with Path("log").open("w") as log:
        log.write("before\n")
        log.flush()
        cli.done(f"{arguments} /dev/fd/{log.fileno()}")
    text = Path("log").read_text()
    assert text.startswith("before\n{") and text.endswith("}\n")


def test_a_full_disk_leaves_whole_rows_to_go_on_from(lines, cli, monkeypatch):
    from ilpinfer.system import checkpoint

    def full(stream, data):
        if b'"sequence": 2' in data:
            stream.write(data[:20])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        stream.write(data)

    monkeypatch.setattr(checkpoint, "write_all", full)
    assert "x.jsonl: cannot be written: No space left on device" in cli.refused(DECODE)
    assert [row["sequence"] for row in rows(Path("x.jsonl.part"))] == [0, 1]
    monkeypatch.undo()
    os.chdir(lines)
    cli.done(DECODE)
    assert [row["sequence"] for row in rows(Path("x.jsonl"))] == [0, 1, 2, 3]


def test_rows_are_on_the_disk_before_they_take_their_place(tmp_path, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace

    def synced(number):
        order.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        fsync(number)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *names: (order.append("replace"), replace(*names)))
    write_atomically(tmp_path / "a", "text")
    with RowCheckpoint(tmp_path / "b", "job", position) as checkpoint:
        checkpoint.write([{"n": 0}])
    assert order == ["file", "replace", "folder"] * 2


def test_a_journal_keeps_no_rows_in_memory(tmp_path):
    import tracemalloc

    def peak(n):
        tracemalloc.start()
        with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
            for number in range(n):
                checkpoint.write([{"n": number, "text": "x" * 2000}])
            assert sum(1 for _ in checkpoint.rows()) == n
        (tmp_path / "x").rename(tmp_path / "x.part")
        with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
            assert checkpoint.groups == n
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(10)
    assert peak(2000) < peak(100) + 200_000


def interrupted(path):
    with RowCheckpoint(path, "job", position) as checkpoint:
        checkpoint.write([{"n": checkpoint.groups}])
        raise KeyboardInterrupt


def test_an_interrupted_journal_keeps_its_rows_and_frees_its_lock(tmp_path):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupted(tmp_path / "x")
    assert sorted(os.listdir(tmp_path)) == ["x.part"]
    with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
        assert checkpoint.groups == 2 and [row["n"] for row in checkpoint.rows()] == [0, 1]
    assert os.listdir(tmp_path) == ["x"]


def test_a_killed_run_goes_on_and_its_lock_is_free(lines, cli):
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 300)
    decode = f"{DECODE} --method viterbi"
    with started("-m", "ilpinfer", *decode.split()) as killed:
        until = time.monotonic() + 60
        part = Path("x.jsonl.part")
        while time.monotonic() < until and not (part.exists() and part.stat().st_size > 2000):
            time.sleep(0.01)
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    assert Path("x.jsonl.lock").exists()
    cli.done(decode)
    assert [row["sequence"] for row in rows(Path("x.jsonl"))] == list(range(300))
    assert not list(Path().glob("x.jsonl.*"))
