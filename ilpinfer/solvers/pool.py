"""A pool of reusable solver processes: the parent's side."""

import contextlib
import os
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf
from multiprocessing.connection import Connection

from formulations.errors import InferenceError
from formulations.forks import emptied_by_forks, fork_safe
from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import (
    GRACE,
    NO_CHOICES,
    Choices,
    Claim,
    Progress,
    SolverError,
    SolverOptionError,
    with_progress,
)
from ilpinfer.solvers.worker import STOP, Message, SolverRequest
from ilpinfer.system import temporary_folders
from ilpinfer.system.processes import Child

STOP_LIMIT = 0.08  # seconds for a request to stop before the process is killed
START_LIMIT = 120.0  # seconds for a process to load its solver
_PIECE = 2**22  # bytes of a request between checks of the time


class Worker(Child):
    """A child process that loads a solver's backend at its start; `version` is empty until it is loaded."""

    def __init__(self, name: str, module: str) -> None:
        self.name, self.version = name, ""
        self.began = time.monotonic()
        super().__init__("ilpinfer.solvers.worker", module, environment={"OPENBLAS_NUM_THREADS": "1"})

    def loaded(self, deadline: float) -> bool:
        """Wait until the solver is loaded, at most until the deadline; returns whether it is loaded. SolverError if it cannot be loaded."""
        limit = self.began + START_LIMIT
        if not self.version and self._answers(min(deadline, limit) - time.monotonic()):
            self.version = str(self._receive())
        if not self.version and time.monotonic() >= limit:
            raise SolverError(f"{self.name}: not loaded after {START_LIMIT:.0f} s; try another solver")
        return bool(self.version)

    def solve(
        self,
        program: IntegerProgram,
        deadline: float,
        threads: int,
        choices: Choices = NO_CHOICES,
        heard: Callable[[Claim], None] = lambda _: None,
    ) -> Claim:
        """The solver's claim, or its last report if it is stopped at the deadline; `heard` gets each report as a claim."""
        with temporary_folders.temporary_folder() as folder:
            try:
                request = SolverRequest(replace(program), deadline, threads, folder, choices)
                claim, progress = self._request(request, heard)
            except BaseException:
                self.end()  # before its folder is removed
                raise
        return with_progress(claim, progress, program)

    def _request(self, request: SolverRequest, heard: Callable[[Claim], None]) -> tuple[Claim, Progress]:
        """The claim, and the best report before it."""
        self.errors.seek(0)
        self.errors.truncate()
        try:
            sent = _send(self.pipe, request)
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
                with contextlib.suppress(OSError):  # reading from it reports that it has ended
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
            x = None if progress.x is None else progress.x.astype(float)
            heard(replace(self._unknown({}), x=x, bound=progress.bound))

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

    def _error(self, message: SolverError | SolverOptionError | str | int) -> InferenceError:
        if isinstance(message, SolverError | SolverOptionError):
            return message
        if isinstance(message, int):
            return self._failure(message)
        return SolverError(f"{self.name}: {message}; try another solver")

    def _failure(self, code: int | None = None) -> SolverError:
        return SolverError(f"{self.name}: {self.exit_report(code)}; try again, or use another solver")


def _send(pipe: Connection, request: SolverRequest) -> bool:
    """Send a request piece by piece; returns whether it is complete before the deadline."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(request, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    pipe.send((head, [len(array) for array in arrays]))
    for array in arrays:
        for first in range(0, len(array), _PIECE):
            if time.monotonic() > request.deadline:
                pipe.send_bytes(b"")
                return False
            pipe.send_bytes(array[first : first + _PIECE])
    return True


_lock = fork_safe(threading.Lock())
_idle: dict[str, list[Worker]] = emptied_by_forks({})
MOST_IDLE = max(4, os.cpu_count() or 1)  # idle processes of each solver


@contextlib.contextmanager
def borrow_worker(name: str, module: str, deadline: float) -> Iterator[Worker | None]:
    """A worker for one request; None if no worker is loaded at the deadline."""
    worker = _idle_worker(name, module)
    try:
        yield worker if worker.loaded(deadline) else None
    except BaseException:
        worker.end()
        raise
    if not worker.alive:
        worker.end()
        worker = Worker(name, module)
    with _lock:
        idle = _idle.setdefault(name, [])
        kept = len(idle) < MOST_IDLE
        if kept:
            idle.append(worker)
    if not kept:
        worker.end()


def start(name: str, module: str) -> None:
    """Start the process of a solver in the background, unless there is an idle one."""
    with _lock:
        waiting = bool(_idle.get(name))
    if not waiting:
        worker = Worker(name, module)
        with _lock:
            _idle.setdefault(name, []).append(worker)


def _idle_worker(name: str, module: str) -> Worker:
    """An idle worker, preferably loaded; a new worker if none is idle."""
    while True:
        with _lock:
            idle = _idle.get(name)
            if not idle:
                return Worker(name, module)
            worker = next((worker for worker in idle if worker.version), idle[0])
            idle.remove(worker)
        if worker.alive:
            return worker
        worker.end()
