"""Runs on Dask that are killed: `python -m benchmarks.reprocess_kills [--sequences N] [--kills N]`.

A scheduler, two workers and `ilpinfer reprocess` are processes of their own. At a random moment of a run one of them, in turn, is
killed with SIGKILL. The run ends or is gone on with on a new cluster; each run that has ended is compared with an undisturbed one.
"""

import argparse
import contextlib
import itertools
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.machine import header
from benchmarks.reprocess import RULES, command, content, generate

VICTIMS = ("worker", "scheduler", "client")
PATIENCE = 300
"""Seconds after which a run that neither ends nor fails is a defect."""


def start(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    """A process without output."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, *arguments], stdout=quiet, stderr=quiet, cwd=folder)


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """The address of a scheduler with two workers, and processes that may be killed."""
    from distributed import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = start(
        *("-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"),
        folder=folder,
    )
    alone = ("-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start(*alone, folder=folder) for _ in range(2)]
    try:
        with Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, {"scheduler": scheduler, "worker": workers[0]}
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def run(arguments: Sequence[str], folder: Path, victim: str | None, delay: float) -> tuple[int, float]:
    """Exit code and seconds of a run on a cluster, one of whose processes is killed after a delay."""
    with cluster(folder) as (address, processes):
        began = time.perf_counter()
        client = start(*arguments[1:], "--scheduler", address, folder=folder)
        if victim:
            time.sleep(delay)
            {**processes, "client": client}[victim].send_signal(signal.SIGKILL)
        try:
            return client.wait(PATIENCE), time.perf_counter() - began
        finally:
            client.kill()
            client.wait()


def rows(folder: Path, count: int, kills: int) -> Iterator[dict[str, object]]:
    """A row for each kill, and one for each comparison."""
    train, large = folder / "train.tsv", folder / "large.tsv"
    model, rules = folder / "hmm.json", folder / "rules.toml"
    generate(train, 200, labelled=True)
    generate(large, count, labelled=False)
    rules.write_text(RULES)
    subprocess.run(command("train", train, "--output", model), check=True, stderr=subprocess.DEVNULL)
    given = command("reprocess", large, "--model", model, "--rules", rules, "--shard-size", "200", "--output")

    code, seconds = run([*given, str(folder / "whole")], folder, None, 0)
    whole = content(folder / "whole")
    yield {"what": "undisturbed", "exit code": code, "seconds": seconds, "shards": len(whole) - 3}
    draw, target, fresh = random.Random(2), folder / "killed", True
    for number, victim in zip(range(kills), itertools.cycle(VICTIMS), strict=False):
        more = [] if fresh else ["--resume"]
        delay = draw.uniform(0, seconds)
        code, _ = run([*given, str(target), *more], folder, victim, delay)
        fresh = code == 0
        kept = len(list(target.glob("part-*.parquet")))
        row: dict[str, object] = {"kill": number + 1, "of": victim, "after": round(delay, 2)}
        yield {
            **row,
            "exit code": code,
            "shards": kept,
            **({"same": content(target) == whole} if fresh else {}),
        }
        if fresh or not target.exists():
            shutil.rmtree(target, ignore_errors=True)
            fresh = True
    if not fresh:
        code, _ = run([*given, str(target), "--resume"], folder, None, 0)
        yield {"what": "the last run, gone on with", "exit code": code, "same": content(target) == whole}


def main() -> None:
    """Kill, go on, and print a line of JSON for each kill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=8000)
    parser.add_argument("--kills", type=int, default=30)
    options = parser.parse_args()
    print(header())
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder), options.sequences, options.kills):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
