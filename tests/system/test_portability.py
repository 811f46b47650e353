"""Decoding and verifying without the parts of Python that only POSIX systems have; solvers say that they need them."""

import gzip
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from routes import take
from support.command_line import SCORES
from support.processes import python

from formulations import Trellis
from formulations import constraints as C
from ilpinfer import decode, decode_many, solvers, verify
from ilpinfer.models.crf.training import learn
from ilpinfer.system import locks
from ilpinfer.system.posix import MissingPosix

CHILD = """
import contextlib, io, json, os, select, signal, sys
import lark, numpy, pandas, regex, rich, scipy.sparse, typer  # with their own ways on each system

for module in ("fcntl", "grp", "multiprocessing.connection", "_multiprocessing", "pwd", "resource", "termios"):
    sys.modules[module] = None
for module, names in {
    os: "O_ASYNC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK chown fchmod fchown fork forkpty getegid geteuid getgid "
    "getloadavg getpgrp getuid killpg mkfifo nice pread pwrite register_at_fork sched_getaffinity setsid sysconf uname",
    select: "poll",
    signal: "ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGSTOP SIGUSR1 SIGUSR2 alarm getitimer "
    "pthread_sigmask setitimer",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)

import ilpinfer
from formulations import Trellis, constraints as C

for name in ilpinfer.__all__:
    getattr(ilpinfer, name)
trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]] * 3, labels=["title", "O"], tokens=["a", "b", "c", "d"])
rules = [C.at_most_runs("title", 1, penalty=1.3), C.tag_at("title", pattern="d")]
solution = ilpinfer.decode(trellis, rules, time_limit=60)
result = {"status": solution.status.value, "proved": ilpinfer.verify(trellis, rules, solution).proved, "runs": []}

from ilpinfer.cli import main

for arguments in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    result["runs"].append([code, out.getvalue(), err.getvalue()])
print(json.dumps(result))
"""
RUNS = {
    "decode": "decode in.jsonl",
    "to a file": "decode in.jsonl --output out.jsonl",
    "again": "decode in.jsonl --output out.jsonl",
    "packed": "decode in.jsonl --output out.jsonl.gz",
    "held": "decode in.jsonl --output held.jsonl",
    "cbc": "decode in.jsonl --method cbc --output cbc.jsonl",
    "cp-sat": "compare in.jsonl --methods auto,cp-sat --output compared",
    "scip": "decode in.jsonl --tau 0.9 --method scip",
    "jobs": "decode in.jsonl --jobs 2 --output jobs.jsonl",
    "crf": "train train.tsv --kind crf --output crf.json",
}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """What a Python says that has nothing of POSIX, and the folder where it ran."""
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    (folder / "train.tsv").write_text("Ada\tB-author\n.\tI-author\n")
    (folder / "held.jsonl.lock").write_text(f"ilpinfer: pid {os.getpid()} on {os.uname().nodename}\n")
    done = python("-c", CHILD, input=json.dumps([command.split() for command in RUNS.values()]), cwd=folder)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return folder, result, dict(zip(RUNS, result["runs"], strict=True))


def test_it_decodes_and_verifies(elsewhere):
    assert (elsewhere[1]["status"], elsewhere[1]["proved"]) == ("optimal", True)


def labels(lines):
    return [json.loads(line)["labels"] for line in lines.splitlines()]


def test_commands_decode_and_write_whole_files(elsewhere):
    folder, _, runs = elsewhere
    code, out, err = runs["decode"]
    assert (code, err) == (0, "") and out.count('"status": "optimal"') == 3
    for name in ("to a file", "again", "packed"):
        code, out, err = runs[name]
        assert (code, out) == (0, "") and "no locks; make sure that no other run writes" in err, name
        assert err.endswith(": 3 sequences, 3 proved\n") and err.count("\n") == 2
    written = {"out.jsonl", "out.jsonl.gz"}
    assert set(os.listdir(folder)) == {"held.jsonl.lock", "in.jsonl", "train.tsv", *written}
    assert labels((folder / "out.jsonl").read_text()) == labels(runs["decode"][1])
    assert labels(gzip.decompress((folder / "out.jsonl.gz").read_bytes())) == labels(runs["decode"][1])


def test_the_output_of_another_run_is_left_alone(elsewhere):
    code, out, err = elsewhere[2]["held"]
    assert (code, out) == (2, "")
    assert f"held.jsonl: pid {os.getpid()} on {os.uname().nodename} is writing it; wait until it ends" in err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cbc", "method cbc needs {}; choose the method auto"),
        ("cp-sat", "method cp-sat needs {}; choose the method auto"),
        ("scip", "method scip needs {}; choose the method auto"),
        ("jobs", "n_jobs=2 needs {}; leave n_jobs out"),
        ("crf", "training with CRFsuite needs {}; train on Linux or macOS, and decode with the model here"),
    ],
)
def test_what_needs_processes_says_so(elsewhere, name, message):
    why = "a POSIX system such as Linux, and Python has no os.fork here"
    code, out, err = elsewhere[2][name]
    assert (code, out) == (2, "") and err.endswith(f"ilpinfer: {message.format(why)}\n")
    assert err.count("needs") == 1


def test_windows_removes_a_lock_file_that_is_closed(tmp_path, monkeypatch):
    """Windows neither removes open files nor asks a process whether it lives; there, `os.kill` ends it."""
    monkeypatch.setattr(locks, "WINDOWS", True)
    monkeypatch.delattr(os, "kill")
    lock, events = tmp_path / "x.lock", []
    for owner, name in ((os, "close"), (Path, "unlink")):
        real = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *a, _name=name, _real=real, **k: (events.append(_name), _real(*a, **k))
        )
    with locks.hold_lock(lock) as left:
        assert not left and lock.exists()
        with (
            pytest.raises(locks.LockError, match=f"pid {os.getpid()} on .* is writing it"),
            locks.hold_lock(lock),
        ):
            pass
        events.clear()
    assert events == ["close", "unlink"] and not lock.exists()
    assert locks.is_alive(os.getpid())


TRELLIS = Trellis(np.zeros(2), np.zeros((1, 2, 2)), labels=["a", "O"])


@pytest.mark.parametrize(
    "work",
    [
        lambda: decode(TRELLIS, method="highs"),
        lambda: list(decode_many([TRELLIS], n_jobs=2)),
        lambda: solvers.solve("scip", None),
        lambda: learn([]),
    ],
)
@pytest.mark.parametrize("lack", [(os, "fork"), (os, "killpg"), (signal, "SIGKILL")])
def test_the_error_names_what_is_missing(monkeypatch, work, lack):
    monkeypatch.delattr(*lack)
    with pytest.raises(MissingPosix, match=rf"a POSIX system .*no {lack[0].__name__}\.{lack[1]} here; "):
        work()


def test_the_engine_keeps_its_labelling_where_no_solver_can_end_the_search(monkeypatch):
    zero = (
        "LEAST_STEPS",
        "PASSES",
        "BEAMS",
        "LIST_PASSES",
        "LIST_STEPS",
        "LARGEST_PRODUCT",
        "LARGEST_SEARCH",
    )
    take(monkeypatch, {**{f"{name}": 0 for name in zero}, "BRANCH_CASES": 1})
    random = np.random.default_rng(0)
    trellis = Trellis(random.normal(size=5), random.normal(size=(29, 5, 5)), labels=[*"abcd", "O"])
    rules = [
        C.at_most_runs("each field", 1, penalty=0.7),
        C.at_least_tokens("a", 3, penalty=0.9),
        C.requires_before("b", "a", penalty=0.3),
        C.never_together("c", "d", penalty=2.1),
    ]
    proved = decode(trellis, rules)
    assert proved.status == "optimal" and "reduced program on cp-sat" in proved.method
    monkeypatch.delattr(os, "fork")
    kept = decode(trellis, rules)
    assert kept.status == "feasible" and kept.method.endswith("; no solver without os.fork")
    assert kept.score <= proved.score <= kept.bound < np.inf
    assert verify(trellis, rules, kept).ok
    with pytest.raises(MissingPosix, match="ask for the best one alone"):
        decode(trellis, rules, top=3)
