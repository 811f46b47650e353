"""Commands that decode a file, beside what any program has to do for it: read it, decode it, and write labels."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path

from benchmarks.data.corpora import CORA_SIZES, train_and_dev
from benchmarks.data.models import trained
from benchmarks.journal import ROOT
from benchmarks.study import Cell, Row, Sources

FEWEST, MOST = 100, 20_000
"""References of the smoke test, and of the other scales."""
LEAST = "reading, decoding, labels and JSON"
COMMANDS = {
    "decode": ("--output", "rows.jsonl"),
    "reprocess": ("--jobs", "1", "--output", "folder"),
}
_PROGRAM = """
import json, sys, time
from ilpinfer import Decoder
from ilpinfer.models.files import load_model
decoder = Decoder("citations", model=load_model("hmm.json"))
def work(path):
    texts = [[line.split("\\t")[0] for line in one.splitlines()] for one in open(path).read().split("\\n\\n")]
    solutions = list(decoder.decode_texts(texts))
    assert all(solution.status == "optimal" for solution in solutions)
    for tokens, solution in zip(texts, solutions):
        json.dumps({"tokens": tokens, "labels": solution.labels})
    return len(texts)
work("few.tsv")
began = time.process_time()
work("corpus.tsv")
print(time.process_time() - began)
"""


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    count = sources(smoke=FEWEST, sample=MOST)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(sources, folder, count)
        works: dict[str, Callable[[Path], float]] = {LEAST: lambda _: float(_run(["-c", _PROGRAM], folder))}
        works |= {command: _command(command) for command in COMMANDS}
        spent: dict[str, list[float]] = {way: [] for way in works}
        for one in range(sources(smoke=1, sample=4, full=6)):
            for way, work in works.items():
                seconds = work(folder / f"round {one}" / way)
                if one or sources.scale == "smoke":
                    spent[way].append(seconds)
        middle = {way: statistics.median(seconds) for way, seconds in spent.items()}
        for way, seconds in middle.items():
            about = {"way": "files", "command": way, "sequences": count}
            yield about | {"processor": seconds, "over_least": seconds / middle[LEAST]}


def _prepare(sources: Sources, folder: Path, count: int) -> None:
    """Write the references one after the other until there are enough, the first hundred of these, and a model."""
    train, dev = train_and_dev(sources.folder, "cora")
    blocks = [
        "\n".join(f"{token}\t{label}" for token, label in zip(*one, strict=True)) for one in (*train, *dev)
    ]
    texts = list(islice(cycle(blocks), count))
    for file, some in (("corpus.tsv", texts), ("few.tsv", texts[:FEWEST])):
        (folder / file).write_text("\n\n".join(some) + "\n", "utf-8")
    trained("hmm", train[: CORA_SIZES[-1]]).save(folder / "hmm.json")


def _command(name: str) -> Callable[[Path], float]:
    """Runs a command in a place of its own; seconds of the processor of its processes."""

    def work(place: Path) -> float:
        place.mkdir(parents=True)
        folder = place.parent.parent
        given = (folder / "corpus.tsv", "--model", folder / "hmm.json", "--rules", "citations")
        before = _processor()
        _run(["-m", "ilpinfer", name, *map(str, given), *COMMANDS[name]], place)
        return _processor() - before

    return work


def _processor() -> float:
    """Seconds of the processor of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(arguments: Sequence[str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return run.stdout
