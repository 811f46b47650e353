"""Messages about the compilation of kernels, by the logger `ilpinfer`, once in a process."""

import logging
from collections.abc import Callable

logger = logging.getLogger("ilpinfer")
purpose = "decoding"
"""The purpose of the kernels that are being compiled."""
cacheable = True
"""Whether compiled kernels can be kept for other processes."""
_announced: set[str] = set()


def begins() -> None:
    """Notify the user that a kernel is about to be compiled, and of its purpose."""
    again = "once for this installation" if cacheable else "anew in every process"
    announce(f"compiling kernels for {purpose}, {again}: this can take minutes", "compiling")


def _announce(text: str, subject: str) -> None:
    """Warn of a subject the first time; other texts about it are for those who log everything, each once."""
    if text not in _announced:
        logger.log(logging.INFO if subject in _announced else logging.WARNING, text)
    _announced.update((subject, text))


announce: Callable[[str, str], None] = _announce
"""The function that shows a text about a subject; a child process hands it to its parent."""
