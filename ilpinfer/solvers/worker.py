"""A solver's own process: `python -m ilpinfer.solvers.worker NAME FD LIFELINE`, one request after the other."""

import os
import select
import sys
import time
from importlib import import_module
from math import inf
from multiprocessing.connection import Connection

import numpy as np

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers import SOLVERS
from ilpinfer.solvers.answer import Claim


def main(name: str, descriptor: int, lifeline: int) -> None:
    """Say the solver's version, then answer each (program, seconds, threads): a Claim, or an error text."""
    _end_with_parent(lifeline)
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


def _end_with_parent(lifeline: int) -> None:
    """Let the kernel end this process (SIGIO) when the parent's end closes, whatever a solver is doing.

    Nothing is ever sent on this line: data on it would end the process, too.
    """
    import fcntl

    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    watch = select.poll()
    watch.register(lifeline, 0)
    if watch.poll(0):
        sys.exit()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
