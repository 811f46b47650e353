"""Runs on a Dask cluster of processes that may be killed."""

import contextlib
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.studies.reprocess import commands
from benchmarks.studies.reprocess.commands import GIVEN, OUTPUT, content, shards_in, start
from benchmarks.study import Cell, Row

VICTIMS = ("worker", "scheduler", "client")
SEQUENCES, SHARD = 4000, 200
PATIENCE = 300
"""Seconds after which a run that neither ends nor fails is a defect."""


@contextlib.contextmanager
def cluster(folder: Path, number: int) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """The address of a scheduler with so many workers, and processes that may be killed."""
    from distributed import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    host = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    scheduler = start("dask", "scheduler", *host, folder=folder)
    alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start("dask", "worker", address, *alone, folder=folder) for _ in range(number)]
    try:
        with Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)
        yield address, {"scheduler": scheduler, "worker": workers[0]}
    finally:
        for process in (*workers, scheduler):
            commands.kill(process)


def measure(folder: Path, cell: Cell) -> Row:
    result: Row = {}
    began, code = time.perf_counter(), 1
    with cluster(folder, cell.workers) as (address, processes):
        began = time.perf_counter()
        client = start(*_command(address), folder=folder)
        if cell.victim:
            draw = random.Random(f"{cell.number} {cell.victim}")
            result["kept"] = [commands.wait_for(client, folder / OUTPUT, draw, cell.sequences // SHARD)]
            commands.kill({**processes, "client": client}[cell.victim])
        code = _wait(client)
        result |= {"exit": code, "shards": shards_in(folder / OUTPUT), "seconds": time.perf_counter() - began}
    if code:
        more = ("--resume",) if (folder / OUTPUT).exists() else ()
        with cluster(folder, cell.workers) as (address, _):
            again = _wait(start(*_command(address), *more, folder=folder))
        if again:
            raise RuntimeError(f"exit code {again} of a run that was resumed")
    return result | content(folder / OUTPUT) | {"shard": SHARD}


def _command(address: str) -> tuple[str, ...]:
    arguments = ("ilpinfer", "reprocess", "corpus.tsv", *GIVEN, OUTPUT, "--scheduler", address)
    return (*arguments, "--shard-size", str(SHARD))


def _wait(client: subprocess.Popen[bytes]) -> int:
    try:
        return client.wait(PATIENCE)
    finally:
        commands.kill(client)
