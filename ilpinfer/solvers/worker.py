"""A solver's own process: `python -m ilpinfer.solvers.worker NAME FD`, one request after the other."""

import contextlib
import os
import select
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from math import inf
from multiprocessing.connection import Connection

import numpy as np

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers import SOLVERS
from ilpinfer.solvers.answer import Claim


def main(name: str, descriptor: int) -> None:
    """Say the solver's version, then answer each (program, seconds, threads): a Claim, or an error text."""
    pipe = Connection(descriptor)
    backend = import_module(SOLVERS[name])
    backend.solve(_smallest(), inf, 1)
    pipe.send(backend.VERSION)
    while True:
        pipe.poll(None)
        started = time.monotonic()
        try:
            program, seconds, threads = pipe.recv()
        except (EOFError, ConnectionError):
            return
        answer: Claim | str
        with _ended_with_parent(descriptor):
            try:
                answer = backend.solve(program, started + seconds, threads)
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"
        pipe.send(answer)


def _smallest() -> IntegerProgram:
    """One token, one label: solved first, so that the solver loads whatever it loads late."""
    one, both = np.ones(1, np.int64), np.ones(2, np.int64)
    entries = np.array([0, 1]), np.array([0])
    return IntegerProgram(1, 1, both, 0 * both, both, *entries, one, one, one)


@contextlib.contextmanager
def _ended_with_parent(descriptor: int) -> Iterator[None]:
    """The kernel ends this process (SIGIO) when the parent's end closes, whatever the solver is doing."""
    import fcntl

    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
    watch = select.poll()
    watch.register(descriptor, 0)
    if watch.poll(0):
        sys.exit()
    try:
        yield
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
