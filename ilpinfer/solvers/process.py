"""The parent's side of a solver's own process."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from math import inf
from multiprocessing import Pipe
from tempfile import TemporaryFile

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, SolverError

GRACE = 0.25
"""Seconds after the deadline before the process is killed."""
START_LIMIT = 120.0
"""Seconds for a process to load its solver."""


class Worker:
    """A child process with one solver loaded; `version` is the solver's."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.errors = TemporaryFile()  # noqa: SIM115
        self.pipe, theirs = Pipe()
        self.lifeline, its = Pipe()
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        command = [
            sys.executable,
            "-m",
            "ilpinfer.solvers.worker",
            name,
            str(theirs.fileno()),
            str(its.fileno()),
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            pass_fds=[theirs.fileno(), its.fileno()],
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        theirs.close()
        its.close()

    def start(self) -> None:
        """Wait until the solver is loaded."""
        if not self._answers(START_LIMIT):
            raise SolverError(f"{self.name}: not loaded after {START_LIMIT:.0f} s; try another solver")
        self.version = str(self._received())

    def solve(self, program: IntegerProgram, seconds: float, threads: int) -> Claim:
        """The solver's claim; "unknown" when it had to be killed at the deadline."""
        deadline = time.monotonic() + seconds
        self.errors.seek(0)
        self.errors.truncate()
        try:
            self.pipe.send((replace(program), seconds, threads))
        except OSError:
            raise self._broken() from None
        if not self._answers(deadline + GRACE - time.monotonic()):
            self.end()
            return Claim("unknown", None, None, inf, self.version, {"killed_after": seconds})
        answer = self._received()
        if isinstance(answer, Claim):
            return answer
        raise SolverError(f"{self.name}: {answer}; try another solver")

    def end(self) -> None:
        """Kill the process and forget it; harmless when it has ended."""
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        self.pipe.close()
        self.lifeline.close()
        self.errors.close()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def _answers(self, seconds: float) -> bool:
        return self.pipe.poll(None if seconds == inf else max(seconds, 0.0))

    def _received(self) -> Claim | str:
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            raise self._broken() from None

    def _broken(self) -> SolverError:
        code = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read()[-2000:].decode(errors="replace").split("\n")
        words = "; ".join(line.strip() for line in last[-4:] if line.strip())
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return SolverError(
            f"{self.name}: its process ended {how}{words and f' ({words})'}; try again or another solver"
        )
