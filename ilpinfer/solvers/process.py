"""The parent's side of a solver's own process."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, SolverError
from ilpinfer.system import temporary_folders
from ilpinfer.system.processes import Child

GRACE = 0.25
"""Seconds after the deadline before the process is killed."""
START_LIMIT = 120.0
"""Seconds for a process to load its solver."""


class Worker(Child):
    """A child process with one solver loaded.

    Parameters
    ----------
    name : of the solver, for messages
    module : of its backend

    Attributes
    ----------
    version : of the solver, once the process is started
    """

    def __init__(self, name: str, module: str) -> None:
        super().__init__("ilpinfer.solvers.worker", module)
        self.name = name

    def start(self) -> None:
        """Wait until the solver is loaded."""
        with self._folder() as folder:
            with contextlib.suppress(OSError):  # which its answer will say
                self.pipe.send(folder)
            if not self._answers(START_LIMIT):
                raise SolverError(f"{self.name}: not loaded after {START_LIMIT:.0f} s; try another solver")
            self.version = str(self._receive())

    def solve(self, program: IntegerProgram, seconds: float, threads: int) -> Claim:
        """The solver's claim; "unknown" when it had to be killed at the deadline."""
        deadline = time.monotonic() + seconds
        with self._folder() as folder:
            return self._claim((replace(program), seconds, threads, folder), deadline)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[str]:
        """A folder for temporary files; where something goes wrong, the process ends before it is removed."""
        with temporary_folders.temporary_folder() as folder:
            try:
                yield folder
            except BaseException:
                self.end()
                raise

    def _claim(self, request: tuple[IntegerProgram, float, int, str], deadline: float) -> Claim:
        self.errors.seek(0)
        self.errors.truncate()
        try:
            self.pipe.send(request)
        except OSError:
            raise self._failure() from None
        if not self._answers(deadline + GRACE - time.monotonic()):
            self.end()
            return Claim("unknown", None, None, inf, self.version, {"killed_after": request[1]})
        answer = self._receive()
        if isinstance(answer, Claim):
            return answer
        if isinstance(answer, SolverError):
            raise answer
        raise SolverError(f"{self.name}: {answer}; try another solver")

    def _answers(self, seconds: float) -> bool:
        return self.pipe.poll(None if seconds == inf else max(seconds, 0.0))

    def _receive(self) -> Claim | SolverError | str:
        try:
            received: Claim | SolverError | str = self.pipe.recv()
            return received
        except (EOFError, OSError):
            raise self._failure() from None

    def _failure(self) -> SolverError:
        return SolverError(f"{self.name}: {self.exit_report()}; try again or another solver")
