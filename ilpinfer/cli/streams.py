"""Standard input, output and error: open, in UTF-8, and what is said on them when something goes wrong."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

from ilpinfer.errors import describe, traceback_wanted, where

READER_GONE = 141
"""Exit code where nobody reads standard output any more: what shells show of a tool that SIGPIPE, 13, has ended."""


def open_closed() -> None:
    """Open what a caller closed, so that no file of ours takes its number; reading or writing it is an error still."""
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)


def prepare() -> None:
    """Make streams of what `open_closed` has opened, and let standard output take every text."""
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def say(text: str) -> None:
    """A line on standard error, if anybody listens."""
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def report(error: Exception) -> int:
    """Say what went wrong, and with `ILPINFER_TRACEBACK=1` where; the exit code."""
    from formulations.rules import RuleError
    from ilpinfer.cli.failure import Failure

    if traceback_wanted():
        say(where(error).rstrip())
    output_fails = _drop_output() if isinstance(error, OSError) and error.filename is None else False
    if isinstance(error, RuleError):
        say("\n".join([f"ilpinfer: {error.message}", *(f"  {line}" for line in error.excerpt.splitlines())]))
        return 2
    text = describe(error)
    if output_fails:
        text = f"standard output: cannot be written: {text}"
    if isinstance(error, Failure):
        text = str(error)
    elif not isinstance(error, ValueError | RuntimeError | OSError | MemoryError) and not traceback_wanted():
        text += "; with ILPINFER_TRACEBACK=1 it says where"
    say(f"ilpinfer: {text}")
    return error.code if isinstance(error, Failure) else 2


def reader_gone() -> int:
    """End quietly, as other tools do, where standard output is a pipe that nobody reads; the exit code."""
    _drop_output()
    return READER_GONE


def _drop_output() -> bool:
    """Forget what standard output does not take, lest the interpreter complains at its end; whether there is such."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, sys.stdout.fileno())
            os.close(nothing)
            sys.stdout.flush()
        return True
    return False


@contextlib.contextmanager
def warnings_as_notices() -> Iterator[None]:
    """Show each warning as one line; those of arithmetic are for programmers, since results are checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"(numpy|formulations|ilpinfer)\b")
        warnings.showwarning = _notice
        yield


def _notice(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> Any:
    say(f"ilpinfer: notice: {' '.join(str(message).split())}")
