"""The process of a solver: the solver is loaded once; each request is solved in a fork, which can be killed in milliseconds."""

import contextlib
import ctypes
import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import ModuleType

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import (
    NO_CHOICES,
    Choices,
    Claim,
    Progress,
    Report,
    SolverError,
    SolverOptionError,
    exact_solution,
)
from ilpinfer.system.processes import connect

STOP = "stop"  # message that stops the running request


@dataclass(frozen=True)
class SolverRequest:
    program: IntegerProgram
    deadline: float  # a time of `time.monotonic()`, or inf
    threads: int
    folder: str  # for temporary files
    choices: Choices = NO_CHOICES


Message = Progress | Claim | SolverError | SolverOptionError | str | int | None
"""Message of the solver's process: a text is an error message; a number is the exit code of a fork that ended without a claim (a negative
signal number if it was killed); None is the reply to `STOP`."""


def main(arguments: Sequence[str]) -> None:
    """Send the solver's version when it is loaded; then answer each request by `Progress` messages and one final message."""
    descriptor, lifeline, module = arguments
    pipe = connect(descriptor, lifeline)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # for the processes of a request
    backend = import_module(module)
    if hasattr(backend, "load"):
        backend.load()
    pipe.send(backend.VERSION)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            request = _receive(pipe)
            if request is not None:
                _answer(backend, request, pipe)
            del request  # it can take gigabytes


def _receive(pipe: Connection) -> SolverRequest | None:
    """The next request; None for an incomplete request, and for a late stop."""
    message = pipe.recv()
    if message == STOP:
        return None
    head, sizes = message
    arrays = [bytearray(size) for size in sizes]
    for array in arrays:
        received = 0
        while received < len(array):
            size = pipe.recv_bytes_into(array, received)
            if not size:
                return None
            received += size
    request: SolverRequest = pickle.loads(head, buffers=arrays)
    return request


def _answer(backend: ModuleType, request: SolverRequest, pipe: Connection) -> None:
    """Solve in a fork, and forward its messages, until it ends or is stopped."""
    messages, theirs = Pipe(duplex=False)
    process = os.fork()
    if not process:
        code = 1
        try:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)
            pipe.close()
            messages.close()
            _solve(backend, request, theirs)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    theirs.close()
    with messages:
        while True:
            ready = wait([messages, pipe])
            if messages in ready:
                try:
                    message: Message = messages.recv()
                except (EOFError, OSError):
                    pipe.send(_exit_code(process))
                    return
                pipe.send(message)
                if not isinstance(message, Progress):
                    _exit_code(process)
                    return
            if pipe in ready:
                os.kill(process, signal.SIGKILL)
                _end_group()
                if pipe.recv() == STOP:
                    pipe.send(None)
                _exit_code(process)
                return


def _solve(backend: ModuleType, request: SolverRequest, pipe: Connection) -> None:
    """Send the solver's reports and its claim."""
    tempfile.tempdir = request.folder
    answer: Claim | SolverError | SolverOptionError | str
    chosen = () if request.choices == NO_CHOICES else (request.choices,)
    try:
        if request.choices.log:
            _log_to(request.choices.log)
        report = _reporter(request.program, pipe)
        answer = backend.solve(request.program, request.deadline, request.threads, report, *chosen)
    except (SolverError, SolverOptionError) as error:
        answer = error
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    if request.choices.log:
        ctypes.CDLL(None).fflush(None)  # output of C++ code
    pipe.send(answer)


def _log_to(path: str) -> None:
    """Redirect the solver's output to a file."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(log, sys.stdout.fileno())
    os.close(log)


def _reporter(program: IntegerProgram, pipe: Connection) -> Report:
    """A function that sends better feasible vectors, and lower bounds."""
    best, bound = -inf, inf

    def report(progress: Progress) -> None:
        nonlocal best, bound
        x = exact_solution(progress.x, program)
        if x is not None and program.value(x) <= best:
            x = None
        if x is None and not progress.bound < bound:
            return
        best = best if x is None else program.value(x)
        bound = min(bound, progress.bound)
        pipe.send(Progress(x, bound))

    return report


def _exit_code(process: int) -> int:
    """Wait for the fork; after a crash, end its child processes."""
    _, status = os.waitpid(process, 0)
    if status:
        _end_group()
    return os.waitstatus_to_exitcode(status)


def _end_group() -> None:
    """End all other processes of this group; this process ignores the signal."""
    os.killpg(0, signal.SIGUSR1)
