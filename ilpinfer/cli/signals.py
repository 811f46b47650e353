"""Interrupts of a command: one line, and exit code 130 or 143, within a second and from the first import on.

Imported before everything else, and so with nothing that takes long to import.
"""

import os
import signal
import sys
from types import FrameType

PATIENCE = 0.8
"""Seconds that a command has to clean up before it ends as it is."""
CODES = {int(signal.SIGINT): 130, int(signal.SIGTERM): 143}
_LINES = {130: "ilpinfer: interrupted\n", 143: "ilpinfer: terminated\n"}
_came: int | None = None
_told = False
_working = False
"""Whether a KeyboardInterrupt is caught, and things are to be cleaned up."""


def install() -> None:
    """Deal with interrupts here, even where a shell started the command with interrupts ignored."""
    for number in CODES:
        signal.signal(number, _stop)


class handled:  # noqa: N801
    """A block that interrupts end by KeyboardInterrupt; what dealt with them before takes over again behind it."""

    def __enter__(self) -> None:
        global _came, _told, _working
        self.before = [(number, signal.getsignal(number)) for number in CODES]
        _came, _told, _working = None, False, True
        install()

    def __exit__(self, *_: object) -> None:
        global _working
        _working = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self.before:
            signal.signal(number, handler)


def came() -> bool:
    """Whether the command was interrupted."""
    return _came is not None


def stopped() -> int:
    """Say that the command was interrupted; its exit code."""
    code = CODES[signal.SIGINT if _came is None else _came]
    _say(code)
    return code


def finish(code: int) -> None:
    """End the process if it was interrupted, when its children have ended; else let nothing change its exit code."""
    if code not in _LINES:
        for (
            number
        ) in CODES:  # the interpreter forgets handlers while it ends, but not that a signal is ignored
            signal.signal(number, signal.SIG_IGN)
        return
    _patiently(code)
    processes = sys.modules.get("ilpinfer.system.processes")
    if processes is not None:
        processes.end_all()
    os._exit(code)  # past the buffers: a write that was interrupted may stand there once more


def _stop(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, which unwinds; end at once where it would get lost, or was not enough."""
    global _came
    if _came is not None or not _working or _swallowed(frame):
        _leave(CODES[number])
    _came = number
    _patiently(CODES[number])
    raise KeyboardInterrupt


def _say(code: int) -> None:
    """Past Python's buffer, which the interrupt may have found in use."""
    global _told
    if not _told:
        _told = True
        try:  # noqa: SIM105
            os.write(2, _LINES[code].encode())
        except OSError:  # closed
            pass


def _patiently(code: int) -> None:
    """End the process after a while, whatever it does then."""
    signal.signal(signal.SIGALRM, lambda *_: _leave(code))
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)


def _swallowed(frame: FrameType | None) -> bool:
    """Whether an import or a compilation is going on, which may turn an interrupt into an error of another kind."""
    if getattr(sys.modules.get("ilpinfer.kernels.warming"), "busy", False):
        return True
    while frame is not None and frame.f_globals.get("__name__") != "ilpinfer.cli":
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _leave(code: int) -> None:
    """End this process here and now, with its children and temporary folders."""
    _say(code)
    for module in ("ilpinfer.system.processes", "ilpinfer.system.files"):
        abandon = getattr(sys.modules.get(module), "abandon", None)
        if abandon is not None:
            abandon()
    os._exit(code)
