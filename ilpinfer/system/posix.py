"""Parts of POSIX systems that child processes need, and that Python lacks on other systems."""

import os
import select
import signal

from formulations.errors import InferenceError

_NEEDED = (
    (os, "fork"),
    (os, "killpg"),
    (os, "O_ASYNC"),
    (select, "poll"),
    (signal, "SIGKILL"),
    (signal, "SIGUSR1"),
)


class MissingPosix(InferenceError, RuntimeError):
    """Error of work in child processes on a system that is not POSIX."""


def missing_posix() -> str:
    """The first part that this Python lacks, such as `os.fork`; empty where child processes can be started."""
    return next((f"{module.__name__}.{name}" for module, name in _NEEDED if not hasattr(module, name)), "")


def require_posix(work: str, instead: str) -> None:
    """Raise MissingPosix where child processes cannot be started; the message names the work and what to do instead."""
    missing = missing_posix()
    if missing:
        what = f"a POSIX system such as Linux, and Python has no {missing} here"
        raise MissingPosix(f"{work} needs {what}; {instead}")
