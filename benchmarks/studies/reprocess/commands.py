"""Commands in processes of their own, what they hold and leave, and kills."""

import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.data.models import trained
from benchmarks.journal import ROOT
from benchmarks.study import Cell, Row
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.reprocessing.tables import read_shard

SMALL, LARGE, SHARD = 100, 20_000, 1000
"""Sequences by whose memory that of a large corpus is judged, of a large corpus, and of a shard."""
KILLS = 2
FIELDS = {
    "author": ("Ada", "Grace", "Lovelace", "Hopper"),
    "title": ("Notes", "on", "engines"),
    "date": ("1843", "1952"),
}
RULES = """fields = ["author", "title", "date"]
[[rule]]
name = "one run"
template = "at_most_runs"
field = "each field"
penalty = 2.5
"""
GIVEN = ("--model", "hmm.json", "--rules", "rules.toml", "--output")
OUTPUT = "output"


@contextlib.contextmanager
def workspace(count: int) -> Iterator[Path]:
    """A folder with a corpus, a model and rules; commands name them without the folder, so that runs can be compared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder / "train.tsv", 200, labelled=True)
        generate(folder / "corpus.tsv", count, labelled=False)
        trained("hmm", require_labels(read(folder / "train.tsv"))).save(folder / "hmm.json")
        (folder / "rules.toml").write_text(RULES)
        yield folder


def generate(path: Path, count: int, *, labelled: bool) -> None:
    """Write references of 15 to 39 tokens; words of other fields come among those of a field."""
    draw = random.Random(0)
    words = [word for known in FIELDS.values() for word in known]
    with path.open("w") as lines:
        for _ in range(count):
            length = draw.randint(5, 13)
            for field, known in FIELDS.items():
                for _ in range(length):
                    word = draw.choice(known if draw.random() < 0.8 else words)
                    lines.write(f"{word}\t{field}\n" if labelled else f"{word}\tO\n")
            lines.write("\n")


def start(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    """A module of this environment in a process group of its own, without output."""
    quiet, environment = subprocess.DEVNULL, {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *arguments]
    return subprocess.Popen(
        command, stdout=quiet, stderr=quiet, cwd=folder, env=environment, start_new_session=True
    )


def digest(answers: Iterable[tuple[object, object]]) -> str:
    result = hashlib.sha256()
    for answer in answers:
        result.update(json.dumps(answer).encode())
    return result.hexdigest()


def reprocess(folder: Path, cell: Cell) -> Row:
    result = measured(_reprocess(cell.workers), folder, folder / OUTPUT / "part-00000.parquet")
    return result | content(folder / OUTPUT) | {"shard": SHARD}


def killed(folder: Path, cell: Cell) -> Row:
    """`ilpinfer reprocess`, killed at random moments, and resumed until it has ended."""
    draw, kept = random.Random(cell.number), list[int]()
    more: tuple[str, ...] = ()
    for _ in range(KILLS):
        process = start(*_reprocess(cell.workers), *more, folder=folder)
        kept.append(wait_for(process, folder / OUTPUT, draw, cell.sequences // SHARD))
        kill(process)
        more = ("--resume",) if (folder / OUTPUT).exists() else ()
    _ended(start(*_reprocess(cell.workers), *more, folder=folder))
    return {"kept": kept, "shard": SHARD} | content(folder / OUTPUT)


def wait_for(process: subprocess.Popen[bytes], output: Path, draw: random.Random, shards: int) -> int:
    """Wait until a random number of shards is there, and up to half a second more; how many there are then."""
    number, pause = draw.randrange(shards), draw.uniform(0.0, 0.5)
    while process.poll() is None and shards_in(output) < number:
        time.sleep(0.02)
    time.sleep(pause)
    return shards_in(output)


def shards_in(output: Path) -> int:
    return len(list(output.glob("part-*.parquet")))


def kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def measured(arguments: Sequence[str], folder: Path, first: Path) -> Row:
    """Seconds until a file has content, seconds until the end, and the peak in megabytes."""
    began, most, row = time.perf_counter(), 0, 0.0
    process = start(*arguments, folder=folder)
    while process.poll() is None:
        if not row and first.exists() and first.stat().st_size:
            row = time.perf_counter() - began
        most = max(most, held(process.pid))
        time.sleep(0.05)
    seconds = time.perf_counter() - began
    _ended(process)
    return {"first": row or seconds, "seconds": seconds, "megabytes": most / 1000}


def held(process: int) -> int:
    """Kilobytes that a process and its children hold, with shared pages counted once; 0 once it is gone."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            if process in (int(folder.name), int(status.split("PPid:\t", 1)[1].split(None, 1)[0])):
                total += int((folder / "smaps_rollup").read_text().split("\nPss:", 1)[1].split(None, 1)[0])
        except (OSError, IndexError):
            continue
    return total


def content(output: Path) -> Row:
    """Digests of labels and scores, and of all content: shards, which are checked, and the other files."""
    shards, answers = list[str](), list[tuple[object, object]]()
    for path in sorted(output.glob("part-*.parquet")):
        entry, columns = read_shard(path)
        shards.append(entry.sha256)
        answers += zip(columns["labels"], columns["score"], strict=True)
    others = [(output / name).read_text() for name in ("manifest.json", "rejected.jsonl", "unproved.jsonl")]
    others[0] = re.sub(r'"file_sha256": "[0-9a-f]*"', "", others[0])  # files have times
    return {
        "content": hashlib.sha256("\n".join([*shards, *others]).encode()).hexdigest(),
        "optima": digest(answers),
    }


def _reprocess(jobs: int) -> tuple[str, ...]:
    return ("ilpinfer", "reprocess", "corpus.tsv", *GIVEN, OUTPUT, "--jobs", str(jobs))


def _ended(process: subprocess.Popen[bytes]) -> None:
    if process.wait():
        raise RuntimeError(f"exit code {process.returncode}: {process.args!r}")
