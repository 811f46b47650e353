"""What this process and a solver's own process say to each other."""

from dataclasses import dataclass

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, Progress, SolverError

STOP = "stop"
"""Ends the request that is being worked on."""


@dataclass(frozen=True)
class Request:
    """What is to be solved.

    Parameters
    ----------
    program : to maximise
    deadline : when to end, a time of `time.monotonic()`, or inf
    threads : of the solver
    folder : for temporary files
    """

    program: IntegerProgram
    deadline: float
    threads: int
    folder: str


@dataclass(frozen=True)
class Ended:
    """The process that solved is gone without a claim.

    Parameters
    ----------
    code : its exit code, or the negative of the signal that ended it
    """

    code: int


@dataclass(frozen=True)
class Stopped:
    """The request was ended as it was told to."""


Message = Progress | Claim | SolverError | Ended | Stopped | str
"""From the solver's process; a text is that of an error."""
