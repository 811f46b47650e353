"""Python in a process of its own."""

import os
import subprocess
import sys


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


def python(
    *arguments: object, variables: dict[str, str] | None = None, **more
) -> subprocess.CompletedProcess:
    """Python with these arguments and further variables of the environment; its streams are texts."""
    command = [sys.executable, *map(str, arguments)]
    own = environment(**(variables or {}))
    return subprocess.run(command, env=own, capture_output=True, text=True, **{"check": False, **more})


def started(
    *arguments: object, variables: dict[str, str] | None = None, **more: object
) -> "subprocess.Popen[str]":
    """The same, started, with pipes for what it writes."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)], env=environment(**(variables or {})), **pipes
    )
