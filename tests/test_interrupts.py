"""An interrupt in mid-run: exit code 130 within a second, no child, no temporary file."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest


def processes_of(session: int) -> list[str]:
    """Command lines of living processes that descend from a process."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                commands[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            state, parent = stat.rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(entry.name)] = int(parent)
    family = {session}
    for _ in range(5):
        family |= {child for child, parent in parents.items() if parent in family}
    return [commands[child] for child in family - {session} if child in parents]


def hard_input(T: int = 150, K: int = 26) -> str:
    rng = np.random.default_rng(0)
    names = [f"{prefix}-{field}" for field in "abcdefghijklm" for prefix in "BI"][:K]
    edges = np.round(rng.normal(size=(T - 1, K, K)), 3).tolist()
    record = {"start": [0.0] * K, "edges": edges, "label_names": names, "tokens": ["x"] * T}
    return (json.dumps(record) + "\n") * 40


RULES = """
fields = ["a", "b"]
[[rule]]
template = "at_most_runs"
field = "each field"
penalty = 3.0
[[rule]]
template = "at_most_tokens"
field = "a"
n = 0
penalty = 0.01
distance = "binary"
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to find children")
@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("method", ["auto", "cbc", "cp-sat", "highs", "scip", "viterbi", "beam"])
def test_an_interrupt_ends_everything_within_a_second(method, cold, tmp_path):
    (tmp_path / "in.jsonl").write_text(hard_input())
    (tmp_path / "rules.toml").write_text(RULES)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    more = ["--width", "20000"] if method == "beam" else []
    output = "out.jsonl"
    environment = {
        **os.environ,
        "TMPDIR": str(scratch),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    if cold:
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    arguments = ["decode", "in.jsonl", "--rules", "rules.toml", "--method", method, "--output", output, *more]
    command_line = [sys.executable, "-m", "ilpinfer", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command_line, cwd=tmp_path, env=environment, **pipes) as run:
        try:
            part = tmp_path / f"{output}.part"
            wait_until(lambda: part.exists() or run.poll() is not None)
            time.sleep((0.4 if cold else 0.0) if method in ("auto", "viterbi") else 1.5)
            if method in ("cbc", "cp-sat", "highs", "scip"):
                wait_until(lambda: processes_of(run.pid) or run.poll() is not None)
            assert run.poll() is None, run.communicate()
            children = processes_of(run.pid)
            run.send_signal(signal.SIGINT)
            began = time.monotonic()
            out, err = run.communicate(timeout=20)
        finally:
            run.kill()
    assert time.monotonic() - began < 1.0
    assert (run.returncode, out, err) == (130, "", "ilpinfer: interrupted\n")
    alive = [c for c in children if any(c == now for now in map(command, living()))]
    assert alive == []
    assert list(scratch.iterdir()) == []
    rows = part.read_text().splitlines() if part.exists() else []
    assert all(json.loads(row)["status"] for row in rows)
    assert not (tmp_path / output).exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to find children")
def test_an_interrupt_ends_the_training_of_a_crf_within_a_second(tmp_path):
    text = "\n".join(f"w{t % 50}\tL{(7 * t) % 180}" for t in range(20000))
    (tmp_path / "train.tsv").write_text(f"{text}\n")
    (tmp_path / "word.toml").write_text('features = ["word"]')
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {
        **os.environ,
        "TMPDIR": str(scratch),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    options = ["--kind", "crf", "--option", "template=word.toml", "--output", "crf.json"]
    command_line = [sys.executable, "-m", "ilpinfer", "train", "train.tsv", *options]
    with subprocess.Popen(
        command_line, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            wait_until(lambda: list(scratch.iterdir()) or run.poll() is not None)
            time.sleep(0.3)
            assert run.poll() is None, run.communicate()
            run.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, err = run.communicate(timeout=60)
        finally:
            run.kill()
    assert time.monotonic() - began < 1.0
    assert (run.returncode, err) == (130, "ilpinfer: interrupted\n")
    assert processes_of(run.pid) == []
    assert list(scratch.iterdir()) == []
    assert not list(tmp_path.glob("crf.json*"))


def wait_until(happened: Callable[[], object], seconds: float = 60) -> None:
    give_up = time.monotonic() + seconds
    while not happened() and time.monotonic() < give_up:
        time.sleep(0.01)


def living() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
