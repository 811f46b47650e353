"""An interrupt in mid-run: exit code 130 or 143 and one line, no child, no temporary file."""

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
from support.family import alive, marked, wait_until
from support.places import ROOT
from support.processes import python, started

from ilpinfer.cli import signals

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc to find processes")


def hard_input(T: int = 150, K: int = 26, copies: int = 40) -> str:
    rng = np.random.default_rng(0)
    names = [f"{prefix}-{field}" for field in "abcdefghijklm" for prefix in "BI"][:K]
    edges = np.round(rng.normal(size=(T - 1, K, K)), 3).tolist()
    record = {"start": [0.0] * K, "edges": edges, "label_names": names, "tokens": ["x"] * T}
    return (json.dumps(record) + "\n") * copies


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


LINES = {signal.SIGINT: (130, "ilpinfer: interrupted\n"), signal.SIGTERM: (143, "ilpinfer: terminated\n")}


class Run:
    """A command with pipes for what it writes, which is interrupted in mid-run.

    How long it takes to end is measured in its own processor time, which a busy machine does not change.
    """

    def __init__(self, folder: Path, command: str, **environment: str) -> None:
        self.folder, (own, self.mark) = folder, marked(folder)
        words = [sys.executable, "-m", "ilpinfer", *command.split()]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(words, cwd=folder, env={**own, **environment}, **pipes)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def wait_until(self, happened: Callable[[], object]) -> None:
        wait_until(lambda: happened() or self.process.poll() is not None)
        assert self.process.poll() is None, self.process.communicate()

    def children(self) -> str:
        """Command lines of all processes that belong to it."""
        return " ".join(command for number, command in alive(self.mark).items() if number != self.process.pid)

    def interrupted(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
        """Exit code, output and errors without notices; everything that has to be gone is gone."""
        before = processor_seconds(self.process.pid)
        self.process.send_signal(number)
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        assert processor_seconds(self.process.pid) - before < 1.0
        out, err = self.process.communicate(timeout=60)
        wait_until(lambda: not alive(self.mark), seconds=5)
        assert alive(self.mark) == {}
        assert list((self.folder / "temporary").iterdir()) == []
        lines = [line for line in err.splitlines(True) if not line.startswith("ilpinfer: notice: ")]
        return self.process.returncode, out, "".join(lines)


def processor_seconds(process: int) -> float:
    """Spent by a process so far, also by one that has ended and was not waited for."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@linux
@pytest.mark.parametrize("method", ["auto", "cbc", "cp-sat", "highs", "scip", "viterbi", "beam"])
def test_an_interrupt_ends_everything(method, tmp_path):
    solver = method in ("cbc", "cp-sat", "highs", "scip")
    (tmp_path / "in.jsonl").write_text(hard_input(copies=2 if solver else 40))
    (tmp_path / "rules.toml").write_text(RULES)
    more = "--option width=20000" if method == "beam" else ""
    part = tmp_path / "out.jsonl.part"
    command = f"decode in.jsonl --rules rules.toml --method {method} --output out.jsonl {more}"
    with Run(tmp_path, command) as run:
        run.wait_until((tmp_path / "out.jsonl.lock").exists)
        if solver:
            begun = "program.mps" if method == "cbc" else "ilpinfer.solvers"
            run.wait_until(lambda: begun in run.children())
            time.sleep(0.5)
        line = f"ilpinfer: interrupted; continue with: ilpinfer {' '.join(command.split())}\n"
        assert run.interrupted() == (130, "", line)
    rows = part.read_text().splitlines() if part.exists() else []
    assert all(json.loads(row)["status"] for row in rows)
    assert not (tmp_path / "out.jsonl").exists()


@linux
def test_an_interrupt_ends_processes_that_decode(tmp_path):
    (tmp_path / "in.jsonl").write_text(hard_input())
    (tmp_path / "rules.toml").write_text(RULES)
    command = "decode in.jsonl --rules rules.toml --jobs 2 --method cbc --output out"
    with Run(tmp_path, command) as run:
        run.wait_until(lambda: "program.mps" in run.children())
        line = f"ilpinfer: terminated; continue with: ilpinfer {command}\n"
        assert run.interrupted(signal.SIGTERM) == (143, "", line)


@linux
def test_rows_that_are_printed_are_not_kept(tmp_path):
    (tmp_path / "in.jsonl").write_text(hard_input(copies=2))
    (tmp_path / "rules.toml").write_text(RULES)
    with Run(tmp_path, "decode in.jsonl --rules rules.toml --method cbc") as run:
        run.wait_until(lambda: "program.mps" in run.children())
        line = "ilpinfer: interrupted; nothing is kept; the command starts again from the beginning\n"
        assert run.interrupted() == (130, "", line)


@pytest.mark.parametrize(
    ("words", "option", "expected"),
    [
        (["decode", "a b.jsonl", "--output", "x"], "", "ilpinfer decode 'a b.jsonl' --output x"),
        (["reprocess", "a", "--output", "x"], "--resume", "ilpinfer reprocess a --output x --resume"),
        (["reprocess", "--resume", "a"], "--resume", "ilpinfer reprocess --resume a"),
        (["reprocess", "--", "-a"], "--resume", "ilpinfer reprocess --resume -- -a"),
    ],
)
def test_the_command_that_continues(words, option, expected, monkeypatch):
    monkeypatch.setattr(signals, "arguments", tuple(words))
    assert signals.ContinuedBy(option).way == f"continue with: {expected}"


def test_what_standard_input_and_outputs_without_rows_need(monkeypatch):
    monkeypatch.setattr(signals, "arguments", ("decode", "-", "--output", "x"))
    again = "give the same standard input again, and continue with: ilpinfer decode - --output x"
    assert signals.ContinuedBy().way == again
    with signals.ContinuedBy() as _, signals.ContinuedBy(kept=False):
        assert signals._continuation.way == "nothing is kept; the command starts again from the beginning"
    assert signals._continuation is None


@linux
def test_a_comparison_says_how_it_goes_on(tmp_path):
    (tmp_path / "in.jsonl").write_text(hard_input(T=12, K=5, copies=3000))
    (tmp_path / "rules.toml").write_text(RULES)
    command = "compare in.jsonl --rules rules.toml --methods auto,beam:width=500 --output out"
    part = tmp_path / "out/results.jsonl.part"
    with Run(tmp_path, command) as run:
        run.wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") >= 2)
        code, out, err = run.interrupted()
    assert (code, out, err) == (130, "", f"ilpinfer: interrupted; continue with: ilpinfer {command}\n")
    assert part.stat().st_size


LABELLED = "\n\n".join(f"Ada{n}\tauthor\n.\tauthor\nNotes{n}\ttitle\n18{n}\tdate" for n in range(40)) + "\n"


@linux
@pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGINT, "codl train.tsv train.tsv --rules citations --cycles 5000 --output out"),
        (
            signal.SIGTERM,
            "learn train.tsv --rules own.toml --kind hmm --folds 40 --epochs 5000 --output out --log-json",
        ),
        (
            signal.SIGINT,
            "learn train.tsv --rules own.toml --kind hmm --weights all --folds 40 --epochs 30 --output out --output-model m",
        ),
    ],
)
def test_interrupted_learning_leaves_nothing_behind(number, command, tmp_path):
    (tmp_path / "own.toml").write_text(RULES.replace('"b"', '"date"').replace('"a"', '"title"'))
    (tmp_path / "train.tsv").write_text(LABELLED)
    with Run(tmp_path, command) as run:
        run.wait_until((tmp_path / "out.lock").exists)
        time.sleep(0.2)
        code, out, err = run.interrupted(number)
    left = {path.name for path in tmp_path.iterdir()}
    assert (code, out, left) == (LINES[number][0], "", {"own.toml", "train.tsv", "temporary"})
    message = f"{LINES[number][1].strip().partition(': ')[2]}; nothing is kept; the command starts again from the beginning"
    if "--log-json" not in command:
        assert err == f"ilpinfer: {message}\n"
        return
    last = json.loads(err.splitlines()[-1])
    assert (last["event"], last["message"], last["continue"]) == ("terminated", message, None)


@linux
def test_an_interrupted_run_over_a_corpus_is_continued_by_its_command(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "in.jsonl").write_text(hard_input(T=4, K=3, copies=3000))
    command = "reprocess in.jsonl --output out --jobs 1 --shard-size 5"
    with Run(tmp_path, command) as run:
        run.wait_until((tmp_path / "out" / "part-00001.parquet").exists)
        code, _, err = run.interrupted()
    head, _, again = err.partition("; continue with: ")
    assert (code, head, again) == (130, "ilpinfer: interrupted", f"ilpinfer {command} --resume\n")
    done = subprocess.run(
        [sys.executable, "-m", *again.split()], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "out: 3000 sequences in 600 files")


@linux
def test_an_interrupt_ends_the_training_of_a_crf(tmp_path):
    text = "\n".join(f"w{t % 50}\tL{(7 * t) % 180}" for t in range(20000))
    (tmp_path / "train.tsv").write_text(f"{text}\n")
    (tmp_path / "word.toml").write_text('features = ["word"]')
    command = "train train.tsv --kind crf --option template=word.toml --output crf.json"
    with Run(tmp_path, command) as run:
        run.wait_until(run.children)
        time.sleep(0.3)
        line = "ilpinfer: interrupted; nothing is kept; the command starts again from the beginning\n"
        assert run.interrupted() == (130, "", line)
    assert not list(tmp_path.glob("crf.json*"))


AT_IMPORT = """
import os, sys
module, number, *sys.argv[1:] = sys.argv[1:]
class Interrupter:
    def find_spec(self, name, *_):
        if name == module:
            os.kill(os.getpid(), int(number))
sys.meta_path.insert(0, Interrupter())
from ilpinfer.cli import entry
entry()
"""


@pytest.mark.parametrize(
    ("module", "number"), [("typer", signal.SIGTERM), ("ilpinfer.kernels.native", signal.SIGINT)]
)
def test_an_interrupt_while_modules_are_imported(module, number, tmp_path):
    (tmp_path / "in.jsonl").write_text(hard_input(T=3, K=2))
    run = python("-c", AT_IMPORT, module, int(number), "decode", "in.jsonl", cwd=tmp_path)
    code, line = LINES[number]
    assert (run.returncode, run.stdout, run.stderr) == (code, "", line)


STUBBORN = """
import os, sys, time
from ilpinfer import cli
from ilpinfer.cli import app, signals
def run(arguments):
    news = [b"ready"]
    while True:
        try:
            while news:
                os.write(1, news.pop() + b"\\n")
            time.sleep(0.05)
        except KeyboardInterrupt:
            ANSWER
app.run, signals.CLEANUP_SECONDS = run, float(sys.argv[1])
cli.entry()
"""


def stubborn(answer: str, patience: float) -> subprocess.Popen[str]:
    """A command that answers interrupts in its own way, and how long it may clean up."""
    script = STUBBORN.replace("ANSWER", answer)
    return started("-c", script, patience, variables={"PYTHONUNBUFFERED": ""})


@pytest.mark.parametrize(("patience", "times"), [(0.3, 1), (1000.0, 2)])
def test_an_interrupt_that_is_swallowed_ends_the_command_nevertheless(patience, times):
    """After a while by itself, and at once when there is another one."""
    with stubborn('os.write(1, b"swallowed\\n")', patience) as run:
        try:
            for answer in ["ready", "swallowed"][:times]:
                assert run.stdout.readline() == f"{answer}\n"
                run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=60)
        finally:
            run.kill()
    assert (run.returncode, err) == (130, "ilpinfer: interrupted\n")


def test_an_interrupt_repeats_no_row(tmp_path):
    (tmp_path / "in.jsonl").write_text(hard_input(T=4, K=3, copies=4000))
    command = [sys.executable, "-m", "ilpinfer", "decode", "in.jsonl", "--method", "viterbi"]
    for _ in range(3):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
        with subprocess.Popen(command, cwd=tmp_path, **pipes) as run:
            assert run.stdout is not None
            try:
                lines = [run.stdout.readline()]
                run.send_signal(signal.SIGINT)
                lines += run.communicate(timeout=60)[0].splitlines(keepends=True)
            finally:
                run.kill()
        whole = [json.loads(line)["sequence"] for line in lines if line.endswith(b"\n")]
        assert run.returncode == 130 and whole == list(range(len(whole)))


@linux
def test_an_interrupt_when_the_reader_of_the_output_is_gone():
    with stubborn("print('lost'); raise", 100) as run:
        assert run.stdout.readline() == "ready\n"
        run.stdout.close()
        run.stdout = None
        run.send_signal(signal.SIGTERM)
        _, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (143, "ilpinfer: terminated\n")


LATE = """
import os, signal, sys
from ilpinfer.cli import entry
class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
late = Late()
sys.argv = ["ilpinfer", "methods"]
entry()
"""


def test_a_signal_while_the_interpreter_ends_changes_nothing():
    """It comes when the work is done, and Python has forgotten how signals are dealt with."""
    ended = python("-c", LATE, cwd=ROOT)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "auto" in ended.stdout


def test_an_interrupt_that_would_be_lost_ends_the_process_at_once():
    """Python prints an exception in a callback of a weak reference and goes on."""
    names = {"__name__": "_weakrefset", "frame": sys._getframe}
    exec("def called():\n    return frame()", names)
    assert signals._may_be_lost(names["called"]())
