"""The service under load: `python -m benchmarks.serving FOLDER`, the folder with the corpora.

A service of its own on loopback decodes Cora's references with an HMM under the citation rules. Capacity is what a few clients get
that each ask again once they are answered. Then requests come at random moments (exponential gaps), whatever the answers: at
80 % of the capacity, at 200 %, and at 80 % again. Seconds count from the moment at which a request is sent; how late that is, since
clients share the machine with the service, stands apart.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.data.corpora import read_labelled
from benchmarks.machine import header
from ilpinfer.models.hmm import HMM

HOST = "127.0.0.1"


@dataclass
class Phase:
    """The answers of a phase.

    Parameters
    ----------
    name : of the phase
    offered : requests a second, 0 where clients wait for answers
    statuses : of HTTP, and "lost" for connections that broke
    seconds : from sending each request to its answer, by status
    late : seconds by which requests were sent late
    took : seconds, all in all
    """

    name: str
    offered: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)
    took: float = 0.0

    def add(self, status: str, seconds: float) -> None:
        """Count an answer."""
        self.statuses[status] += 1
        self.seconds.setdefault(status, []).append(seconds)

    def quantile(self, status: str, share: float) -> float:
        """Seconds within which a share of the answers of a status came; NaN without any."""
        return quantile(self.seconds.get(status, []), share)

    def missed(self, deadline: float) -> int:
        """Answers past the deadline."""
        return sum(one > deadline for some in self.seconds.values() for one in some)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values does not exceed; NaN without any."""
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))] if ordered else float("nan")


class Load:
    """Connections to a service, kept open.

    Parameters
    ----------
    port : on loopback
    bodies : of the requests, taken in turn
    """

    def __init__(self, port: int, bodies: Sequence[bytes]) -> None:
        head = "POST /decode HTTP/1.1\r\nHost: service\r\nContent-Length: {}\r\n\r\n"
        self.port = port
        self.requests = [head.format(len(body)).encode() + body for body in bodies]
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._sent = 0

    async def ask(self) -> tuple[str, float]:
        """The status of the answer to the next request, and its seconds."""
        request = self.requests[self._sent % len(self.requests)]
        self._sent += 1
        connection = self._free.pop() if self._free else await asyncio.open_connection(HOST, self.port)
        reader, writer = connection
        began = time.perf_counter()
        writer.write(request)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
        except (OSError, asyncio.IncompleteReadError):
            writer.close()
            return "lost", time.perf_counter() - began
        self._free.append(connection)
        return head[9:12].decode(), time.perf_counter() - began

    async def closed(self, clients: int, seconds: float) -> Phase:
        """What clients get that ask again once they are answered."""
        phase = Phase(f"{clients} clients")
        end = time.perf_counter() + seconds

        async def client() -> None:
            while time.perf_counter() < end:
                phase.add(*await self.ask())

        await asyncio.gather(*(client() for _ in range(clients)))
        phase.took = seconds
        return phase

    async def open(self, name: str, rate: float, seconds: float, seed: int) -> Phase:
        """What requests get that come at random moments, `rate` a second on average."""
        phase, gaps = Phase(name, rate), random.Random(seed)
        began = time.perf_counter()
        due, tasks = began, []

        async def one(due: float) -> None:
            phase.late.append(time.perf_counter() - due)
            phase.add(*await self.ask())

        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(one(due)))
            due += gaps.expovariate(rate)
        await asyncio.gather(*tasks)
        phase.took = time.perf_counter() - began
        return phase


@contextmanager
def service(model: HMM, workers: int) -> Iterator[int]:
    """A service that is ready; its port."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        arguments = [
            "serve",
            "--model",
            str(path),
            "--rules",
            "citations",
            "--port",
            "0",
            "--workers",
            str(workers),
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "ilpinfer", *arguments], stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        line = next(line for line in process.stderr if "serving at" in line)
        port = int(line.split(":")[3].split(",")[0])
        try:
            asyncio.run(until_ready(port))
            yield port
        finally:
            process.terminate()
            process.wait()


async def until_ready(port: int) -> None:
    """Wait for kernels."""
    while True:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(b"GET /ready HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n")
        head = await reader.readline()
        writer.close()
        if b" 200 " in head:
            return
        await asyncio.sleep(0.2)


async def phases(load: Load, chosen: argparse.Namespace, show: Console) -> list[Phase]:
    """Capacity, then 80 %, 200 % and 80 % of it."""
    await load.closed(chosen.clients, 2.0)  # the first answers of a process take longer
    result = [await load.closed(chosen.clients, chosen.capacity_seconds)]
    capacity = result[0].statuses["200"] / result[0].took
    plan = [
        ("80 %", 0.8, chosen.seconds),
        ("200 %", 2.0, chosen.overload_seconds),
        ("80 % again", 0.8, chosen.seconds),
    ]
    for seed, (name, share, seconds) in enumerate(plan):
        show.print(f"{name} of {capacity:.0f} requests/s, {seconds:g} s")
        result.append(await load.open(name, share * capacity, seconds, seed))
    return result


def report(result: Sequence[Phase], deadline: float) -> Table:
    """The phases as a table."""
    columns = (
        "phase",
        "offered/s",
        "200/s",
        "200",
        "503",
        "other",
        "missed",
        "200: p50 ms",
        "p99 ms",
        "503: p99 ms",
        "sent late: p99 ms",
    )
    table = Table(*columns, "slowest / deadline", box=None)
    for one in result:
        other = sum(one.statuses.values()) - one.statuses["200"] - one.statuses["503"]
        slowest = max(s for some in one.seconds.values() for s in some)
        figures = [1e3 * one.quantile("200", q) for q in (0.5, 0.99)] + [1e3 * one.quantile("503", 0.99)]
        figures.append(1e3 * quantile(one.late, 0.99))
        table.add_row(
            one.name,
            f"{one.offered:.0f}" if one.offered else "-",
            f"{one.statuses['200'] / one.took:.0f}",
            str(one.statuses["200"]),
            str(one.statuses["503"]),
            str(other),
            str(one.missed(deadline)),
            *(f"{x:.3g}" for x in figures),
            f"{slowest:.2f} s / {deadline:g} s = {slowest / deadline:.2f}",
        )
    return table


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=2, help="threads that decode")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--deadline", type=float, default=1.0, help="seconds")
    parser.add_argument("--capacity-seconds", type=float, default=15.0)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each phase at 80 %%")
    parser.add_argument("--overload-seconds", type=float, default=30.0)
    chosen = parser.parse_args()
    train, dev = (read_labelled(chosen.folder / "cora" / f"{name}.tsv") for name in ("train", "dev"))
    bodies = [json.dumps({"tokens": list(tokens), "deadline": chosen.deadline}).encode() for tokens, _ in dev]
    console = Console(width=150)
    console.print(header(), highlight=False)
    with service(HMM.train(train), chosen.workers) as port:
        result = asyncio.run(phases(Load(port, bodies), chosen, console))
    console.print(report(result, chosen.deadline))


if __name__ == "__main__":
    main()
