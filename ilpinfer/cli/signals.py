"""Interrupts of a command: one line, and exit code 130 or 143, within a second and from the first import on.

This module is imported before all others, and itself imports only modules that load fast.
"""

import os
import signal
import sys
import time
from types import FrameType

CLEANUP_SECONDS = 0.8
"""Seconds for a command to clean up before its process is terminated."""
CODES = {int(signal.SIGINT): 130, int(signal.SIGTERM): 143}
_WORDS = {130: "interrupted", 143: "terminated"}
arguments: tuple[str, ...] = ()
"""The arguments of the running command."""
_continuation: "ContinuedBy | None" = None
"""How the current work can be continued; None if unknown."""
_signal: int | None = None
_reported = False
_unwinding = False
"""Whether cleanup after a KeyboardInterrupt is in progress."""


def install() -> None:
    """Handle interrupts here, even if a shell started the command with interrupts ignored."""
    for number in CODES:
        signal.signal(number, _stop)


class Interruptible:
    """A block in which an interrupt raises KeyboardInterrupt; afterwards the former handlers are restored."""

    def __enter__(self) -> None:
        global _signal, _reported, _unwinding, _continuation
        self.before = [(number, signal.getsignal(number)) for number in CODES]
        _signal, _reported, _unwinding, _continuation = None, False, True, None
        install()

    def __exit__(self, *_: object) -> None:
        global _unwinding
        _unwinding = False
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self.before:
            signal.signal(number, handler)


class ContinuedBy:
    """A block of work that this command, perhaps with an option, continues after an interrupt; or of which nothing is kept."""

    def __init__(self, option: str = "", *, kept: bool = True) -> None:
        import shlex

        end = arguments.index("--") if "--" in arguments else len(arguments)
        added = (option,) if option and option not in arguments else ()
        self.command = shlex.join(("ilpinfer", *arguments[:end], *added, *arguments[end:])) if kept else ""
        again = "give the same standard input again, and " if "-" in arguments else ""
        self.way = (
            f"{again}continue with: {self.command}"
            if kept
            else "nothing is kept; the command starts again from the beginning"
        )

    def __enter__(self) -> None:
        global _continuation
        self.before, _continuation = _continuation, self

    def __exit__(self, kind: object, *_: object) -> None:
        global _continuation
        if kind is None:  # an interrupt is reported later
            _continuation = self.before


def is_interrupted() -> bool:
    return _signal is not None


def report_interrupt() -> int:
    """Print that the command was interrupted; its exit code."""
    code = CODES[signal.SIGINT if _signal is None else _signal]
    _say(code)
    return code


def finish(code: int) -> None:
    """End the process and its children after an interrupt; otherwise ignore further signals to keep the exit code."""
    if code not in _WORDS:
        for (
            number
        ) in CODES:  # handlers have no effect while the interpreter ends, but ignored signals stay ignored
            signal.signal(number, signal.SIG_IGN)
        return
    _limit_cleanup(code)
    processes = sys.modules.get("ilpinfer.system.processes")
    if processes is not None:
        processes.end_all()
    os._exit(code)  # without flushing buffers, which may contain text of the interrupted write


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; end the process immediately if the exception could be lost, or at a second signal."""
    global _signal
    if _signal is not None or not _unwinding or _may_be_lost(frame):
        _leave(CODES[number])
    _signal = number
    _limit_cleanup(CODES[number])
    raise KeyboardInterrupt


def _say(code: int) -> None:
    """Write without Python's buffer, which may be in use at the interrupt."""
    global _reported
    if not _reported:
        _reported = True
        message = _WORDS[code] + (f"; {_continuation.way}" if _continuation else "")
        settings = sys.modules.get("ilpinfer.cli.settings")
        as_json = getattr(settings, "log_json", "--log-json" in sys.argv)
        try:
            line = _event(code, message) if as_json else f"ilpinfer: {message}"
            os.write(2, line.encode("utf-8", "backslashreplace" if as_json else "surrogateescape") + b"\n")
        except OSError:  # closed
            pass


def _event(code: int, message: str) -> str:
    """The line of `--log-json`, without the module json, which an interrupt may find half imported."""
    escapes = {ord(sign): f"\\{sign}" for sign in '"\\'} | {
        number: f"\\u{number:04x}" for number in range(32)
    }
    command = _continuation.command.translate(escapes) if _continuation and _continuation.command else None
    again = "null" if command is None else f'"{command}"'
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return (
        f'{{"time": "{now}", "event": "{_WORDS[code]}", "code": {code}, '
        f'"message": "{message.translate(escapes)}", "continue": {again}}}'
    )


def _limit_cleanup(code: int) -> None:
    """End the process after a time limit on systems with timers, on other systems at a second signal."""
    if not hasattr(signal, "setitimer"):
        return
    signal.signal(signal.SIGALRM, lambda *_: _leave(code))
    signal.setitimer(signal.ITIMER_REAL, CLEANUP_SECONDS)


def _may_be_lost(frame: FrameType | None) -> bool:
    """Whether an import or a weak-reference callback is running, which may lose an exception or change its type."""
    while frame is not None and frame.f_globals.get("__name__") != "ilpinfer.cli":
        module = str(frame.f_globals.get("__name__"))
        if module in ("weakref", "_weakrefset") or frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _leave(code: int) -> None:
    """End this process and its children immediately, and remove temporary folders."""
    _say(code)
    for module in ("ilpinfer.system.processes", "ilpinfer.system.files"):
        abandon = getattr(sys.modules.get(module), "abandon", None)
        if abandon is not None:
            abandon()
    os._exit(code)
