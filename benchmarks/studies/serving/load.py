"""Requests over HTTP by clients that wait for answers, and by requests that come whatever the answers are."""

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

from benchmarks.journal import ROOT
from benchmarks.study import Row
from ilpinfer.models.sequence_model import TrainedModel

HOST = "127.0.0.1"


@dataclass
class Phase:
    """Answers by HTTP status or "lost", their seconds, and how late requests were sent; `offered` is 0 where clients wait."""

    name: str
    offered: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)
    took: float = 0.0

    def add(self, status: str, seconds: float) -> None:
        self.statuses[status] += 1
        self.seconds.setdefault(status, []).append(seconds)

    def row(self, deadline: float) -> Row:
        """Counts, and milliseconds within which shares of the answers came; None where there are none."""
        answers = [one for some in self.seconds.values() for one in some]
        good, refused = self.statuses["200"], self.statuses["503"]
        return {
            "phase": self.name,
            "offered": self.offered,
            "rate": good / self.took,
            "answered": good,
            "refused": refused,
            "other": self.statuses.total() - good - refused,
            "missed": sum(one > deadline for one in answers),
            "median": quantile(self.seconds.get("200", []), 0.5),
            "p99": quantile(self.seconds.get("200", []), 0.99),
            "refused_p99": quantile(self.seconds.get("503", []), 0.99),
            "late_p99": quantile(self.late, 0.99),
            "slowest": quantile(answers, 1.0),
        }


def quantile(seconds: Sequence[float], share: float) -> float | None:
    """Milliseconds that a share of the values does not exceed; None without any."""
    ordered = sorted(seconds)
    return 1000 * ordered[int(share * (len(ordered) - 1))] if ordered else None


class Load:
    """Connections to a service, kept open, and requests that are sent in turn."""

    def __init__(self, port: int, texts: Sequence[Sequence[str]], deadline: float) -> None:
        head = "POST /decode HTTP/1.1\r\nHost: service\r\nContent-Length: {}\r\n\r\n"
        bodies = (json.dumps({"tokens": list(tokens), "deadline": deadline}).encode() for tokens in texts)
        self.port = port
        self.requests = [head.format(len(body)).encode() + body for body in bodies]
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._sent = 0

    async def ask(self) -> tuple[str, float]:
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

    async def closed(self, name: str, clients: int, seconds: float) -> Phase:
        """What clients get that ask again once they are answered."""
        phase, began = Phase(name), time.perf_counter()

        async def client() -> None:
            while time.perf_counter() < began + seconds:
                phase.add(*await self.ask())

        await asyncio.gather(*(client() for _ in range(clients)))
        phase.took = time.perf_counter() - began
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

    def close(self) -> None:
        for _, writer in self._free:
            writer.close()


@contextmanager
def service(model: TrainedModel, workers: int) -> Iterator[int]:
    """A service that is ready; its port."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        options = ("--model", str(path), "--rules", "citations", "--port", "0", "--workers", str(workers))
        command = [sys.executable, "-m", "ilpinfer", "serve", *options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
            try:
                assert process.stderr is not None
                line = next(line for line in process.stderr if "serving at" in line)
                port = int(line.split(":")[3].split(",")[0])
                asyncio.run(until_ready(port))
                yield port
            finally:
                process.terminate()


async def until_ready(port: int) -> None:
    while True:
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(b"GET /ready HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n")
        head = await reader.readline()
        writer.close()
        if b" 200 " in head:
            return
        await asyncio.sleep(0.05)
