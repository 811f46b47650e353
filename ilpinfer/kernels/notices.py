"""Messages about the compilation of kernels, through the logger `ilpinfer`, each once in a process."""

import logging
from collections.abc import Callable

logger = logging.getLogger("ilpinfer")
purpose = "decoding"
"""The purpose of the kernels that are being compiled."""
cacheable = True
"""Whether compiled kernels can be kept for other processes."""
_announced: set[str] = set()


def begins() -> None:
    """Notify the user that a kernel with a purpose is about to be compiled."""
    again = "once for this installation" if cacheable else "anew in every process"
    announce(f"compiling kernels for {purpose}, {again}: this can take minutes", "compiling")


def _announce(text: str, subject: str) -> None:
    """Log a warning about a subject the first time, and other texts about it at level INFO, each once."""
    if text not in _announced:
        logger.log(logging.INFO if subject in _announced else logging.WARNING, text)
    _announced.update((subject, text))


announce: Callable[[str, str], None] = _announce
"""The function that logs a text about a subject; a child process sends it to its parent instead."""
