"""The parent's side of the process of a solver."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import GRACE, Claim, Progress, SolverError, with_progress
from ilpinfer.solvers.messages import STOP, Message, Request, send_request
from ilpinfer.system import temporary_folders
from ilpinfer.system.processes import Child

STOP_LIMIT = 0.08
"""Seconds for a request to stop, before the whole process is killed."""
START_LIMIT = 120.0
"""Seconds for a process to load its solver."""


class Worker(Child):
    """A child process that starts to load a solver's backend immediately; `version` is empty until it is loaded."""

    def __init__(self, name: str, module: str) -> None:
        self.name, self.version = name, ""
        self.began = time.monotonic()
        super().__init__("ilpinfer.solvers.worker", module, environment={"OPENBLAS_NUM_THREADS": "1"})

    def loaded(self, deadline: float) -> bool:
        """Whether the solver is loaded at the deadline, or before; SolverError where it cannot be loaded."""
        limit = self.began + START_LIMIT
        if not self.version and self._answers(min(deadline, limit) - time.monotonic()):
            self.version = str(self._receive())
        if not self.version and time.monotonic() >= limit:
            raise SolverError(f"{self.name}: not loaded after {START_LIMIT:.0f} s; try another solver")
        return bool(self.version)

    def solve(self, program: IntegerProgram, deadline: float, threads: int) -> Claim:
        """The solver's claim or, if it has to be stopped at the deadline, its last report."""
        with self._folder() as folder:
            claim, progress = self._request(Request(replace(program), deadline, threads, folder))
        return with_progress(claim, progress, program)

    @contextlib.contextmanager
    def _folder(self) -> Iterator[str]:
        """A folder for temporary files; where something goes wrong, the process ends before it is removed."""
        with temporary_folders.temporary_folder() as folder:
            try:
                yield folder
            except BaseException:
                self.end()
                raise

    def _request(self, request: Request) -> tuple[Claim, Progress]:
        """The claim, and the best report before it."""
        self.errors.seek(0)
        self.errors.truncate()
        try:
            sent = send_request(self.pipe, request)
        except OSError:
            raise self._failure() from None
        if not sent:
            return self._unknown({"no time": "to hand the program over"}), Progress()
        progress, limit, stopping = Progress(), request.deadline + GRACE, False
        while True:
            if not self._answers(limit - time.monotonic()):
                if stopping:
                    self.end()
                    return self._unknown({"killed": True}), progress
                with contextlib.suppress(OSError):  # its end shows when it is read from
                    self.pipe.send(STOP)
                limit, stopping = time.monotonic() + STOP_LIMIT, True
                continue
            message = self._receive()
            if message is None:
                return self._unknown({"stopped": True}), progress
            if isinstance(message, Claim):
                return message, progress
            if not isinstance(message, Progress):
                raise self._error(message)
            progress = progress.followed_by(message)

    def _unknown(self, settings: dict[str, object]) -> Claim:
        return Claim("unknown", None, None, inf, self.version, settings)

    def _answers(self, seconds: float) -> bool:
        return self.pipe.poll(None if seconds == inf else max(seconds, 0.0))

    def _receive(self) -> Message:
        try:
            received: Message = self.pipe.recv()
            return received
        except (EOFError, OSError):
            raise self._failure() from None

    def _error(self, message: SolverError | str | int) -> SolverError:
        if isinstance(message, SolverError):
            return message
        if isinstance(message, int):
            return self._failure(message)
        return SolverError(f"{self.name}: {message}; try another solver")

    def _failure(self, code: int | None = None) -> SolverError:
        return SolverError(f"{self.name}: {self.exit_report(code)}; try again or another solver")
