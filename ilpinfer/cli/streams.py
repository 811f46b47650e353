"""Standard input, output and error: set up in UTF-8, and messages on them."""

import contextlib
import io
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

from formulations.errors import InferenceError
from ilpinfer.cli import settings
from ilpinfer.errors import describe, traceback_wanted, where

READER_GONE = 141
"""Exit code if the reader of standard output has ended, as shells report for SIGPIPE (13)."""

OUTPUT = "standard output"
STDOUT = "/dev/stdout"
"""The path of standard output for functions that write files."""

CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that can control a terminal, break a line or change the text direction, except tabs."""

summary: dict[str, Any] = {}
"""The result of the command, for the last line of `--log-json`."""


class _Output(io.FileIO):
    """Standard output; error messages name it."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, f"cannot be written: {error.strerror}", OUTPUT) from None


def reopen_closed() -> None:
    """Reopen closed standard streams on the null device, so that no file gets their descriptors; reading and writing still fail."""
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, flags), True)


def prepare() -> None:
    """Make the standard streams usable, and standard output accept any text."""
    for name, number, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        raw = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
        if type(raw) is io.FileIO:
            by_line = sys.stdout.isatty() or raw is sys.stdout.buffer
            sys.stdout.flush()
            output = io.BufferedWriter(_Output(raw.fileno(), "w", closefd=False))
            sys.stdout = io.TextIOWrapper(output, line_buffering=by_line)
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def visible(text: str) -> str:
    """One line of text with escaped control characters, so that a name in a file cannot control the terminal."""
    return CONTROL.sub(lambda result: repr(result[0])[1:-1], text)


def show_line(text: str) -> None:
    print(visible(text))


def json_text(value: Any, indent: int | None = None) -> str:
    """A JSON text for standard output, with control characters escaped in JSON."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return (
        text
        if text.isprintable()
        else CONTROL.sub(lambda result: result[0] if result[0] == "\n" else f"\\u{ord(result[0]):04x}", text)
    )


def say(text: str, event: str = "error") -> None:
    """Print one or several lines on standard error, if they can be written; one event with `--log-json`."""
    if settings.log_json:
        log(event, message=text.removeprefix("ilpinfer: "))
    else:
        _write("\n".join(map(visible, text.split("\n"))))


def log(event: str, **values: Any) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    _write(json_text({"time": now, "event": event, **values}))


def log_summary(code: int) -> None:
    """Print the last line of a run with `--log-json`."""
    if settings.log_json:
        log("summary", code=code, **summary)
    summary.clear()


def _write(lines: str) -> None:
    try:
        print(lines.encode("utf-8", "backslashreplace").decode(), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _drop(sys.stderr)


def remark(text: str, event: str = "remark") -> None:
    """A remark on standard error, such as the name of an output; not with `--quiet`."""
    if not settings.quiet:
        say(text.replace(STDOUT, OUTPUT), event)


def notice(text: str) -> None:
    """A notice that affects the interpretation of a result, one line on standard error; not with `--quiet` or for empty text."""
    if text:
        remark(f"ilpinfer: {'' if settings.log_json else 'notice: '}{' '.join(text.split())}", "notice")


def report(error: Exception) -> int:
    """Print an error, with its traceback if `ILPINFER_TRACEBACK` is set; the exit code."""
    from formulations.constraints.rule_set import RuleError
    from ilpinfer.cli.failure import Failure

    if traceback_wanted():
        say(where(error).rstrip())
    if isinstance(error, OSError) and error.filename == OUTPUT:
        _drop(sys.stdout)
    if isinstance(error, RuleError):
        say("\n".join([f"ilpinfer: {error.message}", *(f"  {line}" for line in error.excerpt.splitlines())]))
        return 2
    text = describe(error)
    if isinstance(error, Failure):
        text = str(error)
    elif (
        not isinstance(error, ValueError | RuntimeError | OSError | MemoryError | InferenceError)
        and not traceback_wanted()
    ):
        text += "; set ILPINFER_TRACEBACK=1 to print the traceback"
    say(f"ilpinfer: {text}")
    return error.code if isinstance(error, Failure) else 2


def end_quietly() -> int:
    """Exit code after the reader of standard output has ended; nothing is printed, as in other tools."""
    _drop(sys.stdout)
    return READER_GONE


def _drop(stream: TextIO) -> None:
    """Discard the buffer of an unwritable stream, so that the interpreter does not report it at exit."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
        stream.flush()


@contextlib.contextmanager
def warnings_as_notices() -> Iterator[None]:
    """Show each warning as one line, except for arithmetic warnings: results are checked."""
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
    notice(str(message))
