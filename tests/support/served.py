"""`ilpinfer serve` as a process of its own, on loopback."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from support.places import ROOT
from support.service import GENEROUS


class Served:
    """A service in a process of its own, that is ready."""

    def __init__(self, folder: Path, *arguments: str, descriptors: int = 0) -> None:
        limit = ["prlimit", f"--nofile={descriptors}"] if descriptors else []
        self.process = subprocess.Popen(
            [*limit, sys.executable, "-m", "ilpinfer", "serve", "--port", "0", *arguments],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self.process.stderr is not None
        lines = iter(self.process.stderr.readline, "")
        self.line = next(line for line in lines if "notice" not in line)
        assert "serving at http://127.0.0.1:" in self.line, self.line
        self.client = httpx.Client(base_url=self.line.split()[3].rstrip(","), timeout=GENEROUS)
        self.until(lambda: self.client.get("/ready").status_code == 200)

    def __enter__(self) -> "Served":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.kill()
        self.process.communicate()

    def until(self, happened) -> None:
        end = time.monotonic() + 10 * GENEROUS
        while not happened():
            assert self.process.poll() is None and time.monotonic() < end
            time.sleep(0.01)

    @property
    def address(self) -> tuple[str, int]:
        return self.client.base_url.host, self.client.base_url.port or 0

    def sent(self, record: Any) -> socket.socket:
        """A connection whose request is in work."""
        body = json.dumps(record)
        connection = socket.create_connection(self.address)
        head = f"POST /decode HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall((head + body).encode())
        self.until(self.working)
        return connection

    def working(self) -> bool:
        return "ilpinfer_running 1.0" in self.client.get("/metrics").text

    def ended(self) -> tuple[int, str]:
        """Exit code, and what it said."""
        _, said = self.process.communicate(timeout=GENEROUS)
        return self.process.returncode, said
