"""Interrupts and kills at random moments over all commands that take long: `python tests/stress/signals.py`.

Every command first runs undisturbed. After an interrupt (SIGINT or SIGTERM, once the command has taken them over) its
exit code and last line must be right, and no process and no temporary file may be left. After SIGKILL no process may
be left, and no temporary file once the next run has ended. Then the same command runs again in the same folder: its
output must be that of the undisturbed run, times apart, and no other file may stand beside it. Exit code 1 on a failure.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.family import alive, marked, wait_until  # noqa: E402

TIMES = {"seconds", "bare_seconds", "median_ms", "p90_ms", "job"}
"""Keys whose values differ from run to run."""
EARLIEST = 0.05
"""Seconds after the start of a process."""
GRACE = 3.0
"""Seconds for the processes of a run to disappear."""
LINES = {signal.SIGINT: (130, "ilpinfer: interrupted"), signal.SIGTERM: (143, "ilpinfer: terminated")}
RULES = """
fields = ["a", "b", "c", "d"]
[[rule]]
template = "at_most_runs"
field = "each field"
penalty = 1.0
[[rule]]
template = "requires_before"
earlier = "a"
field = "b"
penalty = 0.7
"""


def prepare(folder: Path) -> None:
    rng = np.random.default_rng(0)
    names = ["O", *(f"{prefix}-{name}" for name in "abcd" for prefix in "BI")]
    for name, count, T in (("long", 400, 60), ("short", 5, 25)):
        rows = []
        for _ in range(count):
            scores = {"emissions": rng.normal(size=(T, 9)), "transitions": rng.normal(size=(9, 9))}
            rounded = {key: np.round(value, 3).tolist() for key, value in scores.items()}
            rows.append(json.dumps({**rounded, "label_names": names, "tokens": ["x"] * T}))
        (folder / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "rules.toml").write_text(RULES)
    lines = [f"w{rng.integers(300)}\t{names[rng.integers(9)]}" + "\n" * (t % 20 == 19) for t in range(12000)]
    (folder / "train.tsv").write_text("\n".join(lines) + "\n")
    (folder / "word.toml").write_text('features = ["word"]\n')


def commands(folder: Path) -> dict[str, list[str]]:
    """What is disturbed; each writes to `out` in its own folder."""
    long, short, rules = (str(folder / name) for name in ("long.jsonl", "short.jsonl", "rules.toml"))
    end = ["--rules", rules, "--output", "out"]
    crf = ["--kind", "crf", "--option", f"template={folder / 'word.toml'}", "--output", "out"]
    return {
        "decode": ["decode", long, *end],
        "jobs": ["decode", long, *end, "--jobs", "2"],
        "jobs cbc": ["decode", short, *end, "--jobs", "2", "--method", "cbc"],
        **{name: ["decode", short, *end, "--method", name] for name in ("cbc", "cp-sat", "highs", "scip")},
        "compare": ["compare", short, *end, "--methods", "auto,beam,highs,cbc"],
        "train": ["train", str(folder / "train.tsv"), *crf],
    }


@dataclass
class Tally:
    """What was seen."""

    sent: dict[str, int] = field(default_factory=dict)
    late: int = 0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


@dataclass
class Command:
    """A command with what it writes undisturbed, and how many seconds it takes."""

    name: str
    arguments: list[str]
    expected: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def started(self, folder: Path) -> tuple["subprocess.Popen[str]", str]:
        environment, mark = marked(folder.parent)
        code = "from ilpinfer.cli import entry; entry()"
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, *self.arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return process, mark

    def whole(self, folder: Path) -> Iterator[str]:
        """Run to the end; what is wrong with it."""
        began = time.monotonic()
        process, mark = self.started(folder)
        _, err = process.communicate(timeout=600)
        self.seconds = self.seconds or time.monotonic() - began
        if process.returncode:
            yield f"exit code {process.returncode}: {err.strip()}"
        yield from left(folder, mark)
        written = contents(folder)
        self.expected = self.expected or written
        if written != self.expected:
            names = sorted({*written, *self.expected})
            differ = [name for name in names if written.get(name) != self.expected.get(name)]
            yield f"output differs in {', '.join(differ)}"


def left(folder: Path, mark: str, files: bool = True) -> Iterator[str]:
    """Processes and temporary files of a run that has ended."""
    wait_until(lambda: not alive(mark), GRACE)
    for command in alive(mark).values():
        yield f"a process is left: {command[:200]}"
    for path in (folder.parent / "temporary").iterdir() if files else ():
        yield f"a temporary file is left: {path.name}"


def contents(folder: Path) -> dict[str, Any]:
    """Files below a folder; JSON without what differs from run to run, and no more of pages than that they are there."""
    return {str(path.relative_to(folder)): _content(path) for path in folder.rglob("*") if path.is_file()}


def _content(path: Path) -> Any:
    text = path.read_text()
    if path.suffix == ".html":
        return ""
    if "\n{" in text:
        return [_timeless(json.loads(line)) for line in text.splitlines()]
    return _timeless(json.loads(text)) if text[:1] == "{" else text


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in TIMES}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


def disturbed(
    command: Command, number: signal.Signals, after: float, within: float, folder: Path, tally: Tally
) -> Iterator[str]:
    """Start a command, send it a signal, and run it again; what was wrong."""
    process, mark = command.started(folder)
    began = time.monotonic()
    time.sleep(after)
    if number != signal.SIGKILL:  # while Python itself starts, nobody can deal with them
        wait_until(lambda: process.poll() is not None or takes(process.pid, number))
    tally.late += process.poll() is not None
    tally.sent[number.name] = tally.sent.get(number.name, 0) + 1
    process.send_signal(number)
    sent = time.monotonic()
    try:
        _, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        yield "still runs after a minute"
        return
    took = time.monotonic() - sent
    if number != signal.SIGKILL and process.returncode != 0:
        tally.slowest = max(tally.slowest, took)
        code, line = LINES[number]
        if process.returncode != code or (err.splitlines() or [""])[-1] != line:
            yield f"exit code {process.returncode} after {sent - began:.2f} s, expected {code}: {err.strip()[-2000:]!r}"
        if took > within:
            yield f"ended only after {took:.2f} s"
    yield from left(folder, mark, files=number != signal.SIGKILL)
    yield from (f"run again: {wrong}" for wrong in command.whole(folder))


def takes(process: int, number: int) -> bool:
    """Whether a process has a handler for SIGTERM, which only the command's own code installs, or has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interrupts", type=int, default=100, help="SIGINT and SIGTERM, one after the other")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    within = "seconds after an interrupt; 1 on an idle machine"
    parser.add_argument("--within", type=float, default=5.0, help=within)
    parser.add_argument("--only", default="", help="names of commands, with commas between")
    options = parser.parse_args()
    chance, tally = random.Random(options.seed), Tally()
    with tempfile.TemporaryDirectory(prefix="stress-") as place:
        home = Path(place)
        prepare(home)
        chosen = [Command(*pair) for pair in commands(home).items()]
        if options.only:
            chosen = [command for command in chosen if command.name in options.only.split(",")]
        for command in chosen:
            folder = home / "undisturbed" / command.name
            folder.mkdir(parents=True)
            tally.failures += [f"{command.name}, undisturbed: {wrong}" for wrong in command.whole(folder)]
            print(*tally.failures, sep="\n", end="\n" * bool(tally.failures))
            print(f"{command.name}: {command.seconds:.1f} s undisturbed", flush=True)
        kinds = [signal.SIGINT, signal.SIGTERM] * options.interrupts
        plan = [*kinds[: options.interrupts], *[signal.SIGKILL] * options.kills]
        for turn, number in enumerate(plan):
            command = chosen[turn % len(chosen)]
            after = chance.uniform(EARLIEST, max(command.seconds, 2 * EARLIEST))
            folder = home / "turns" / str(turn)
            folder.mkdir(parents=True)
            (home / "turns" / "temporary").mkdir(exist_ok=True)
            for wrong in disturbed(command, number, after, options.within, folder, tally):
                where = f"turn {turn}, {command.name}, {number.name} after {after:.2f} s"
                tally.failures.append(f"{where}: {wrong}")
                print(tally.failures[-1], flush=True)
            shutil.rmtree(folder)
    sent = ", ".join(f"{count} {name}" for name, count in tally.sent.items())
    print(
        f"seed {options.seed}: {sent}; {tally.late} came after the end; slowest end {tally.slowest:.2f} s; "
        f"{len(tally.failures)} failures"
    )
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
