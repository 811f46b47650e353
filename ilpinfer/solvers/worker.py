"""A solver's own process, which answers one request after the other."""

import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from math import inf

import numpy as np

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, SolverError
from ilpinfer.system.processes import connect


def main(arguments: Sequence[str]) -> None:
    """Take a folder for temporary files, and say the solver's version; then answer each request.

    A request is (program, seconds, threads, folder for temporary files), its answer a Claim, an error or its text.
    """
    descriptor, lifeline, module = arguments
    pipe = connect(descriptor, lifeline)
    backend = import_module(module)
    tempfile.tempdir = pipe.recv()
    backend.solve(_smallest(), inf, 1)
    pipe.send(backend.VERSION)
    while True:
        pipe.poll(None)
        started = time.monotonic()
        try:
            program, seconds, threads, tempfile.tempdir = pipe.recv()
        except (EOFError, ConnectionError):
            return
        answer: Claim | SolverError | str
        try:
            answer = backend.solve(program, started + seconds, threads)
        except SolverError as error:
            answer = error
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        pipe.send(answer)


def _smallest() -> IntegerProgram:
    """One token, one label: solved first, so that the solver loads whatever it loads late."""
    one, both = np.ones(1, np.int64), np.ones(2, np.int64)
    entries = np.array([0, 1]), np.array([0])
    return IntegerProgram(1, 1, both, 0 * both, both, *entries, one, one, one)
