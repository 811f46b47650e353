"""Regular expressions over characters that may take for ever, and an end to that."""

import re
import signal
import threading
from types import FrameType

PATIENCE = 1.0
"""Seconds for one token."""
SHORT = 20
"""Characters of a token on which no expression takes long."""


class TooSlow(ValueError):
    """A regular expression that takes too long on a token."""


def full_match(pattern: re.Pattern[str], token: str) -> bool:
    """Whether the whole token matches.

    The matching engine looks at signals, so that a timer can stop it; where there is none, or in a thread that gets
    no signals, it is not stopped.

    Raises
    ------
    TooSlow
        after `PATIENCE` seconds.
    """
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if len(token) <= SHORT or not timed or signal.getsignal(signal.SIGVTALRM) not in (signal.SIG_DFL, None):
        return pattern.fullmatch(token) is not None

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlow(
            f"pattern {pattern.pattern!r} takes more than {PATIENCE:g} s on the token {token[:40]!r}: write it without "
            "repetitions inside repetitions"
        )

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        return pattern.fullmatch(token) is not None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
