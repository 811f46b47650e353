"""Log messages of the library on standard error, in the form of messages of the command line."""

import contextlib
import logging
from collections.abc import Iterator

from ilpinfer.cli.streams import remark, say


class _Lines(logging.Handler):
    """A handler for the current standard error, which a progress bar or a test may replace."""

    def emit(self, record: logging.LogRecord) -> None:
        line = f"ilpinfer: {record.getMessage()}"
        (say if record.levelno >= logging.ERROR else remark)(line)


@contextlib.contextmanager
def show_logs() -> Iterator[None]:
    """Show the warnings of the logger `ilpinfer`."""
    logger, lines = logging.getLogger("ilpinfer"), _Lines(logging.WARNING)
    before, logger.propagate = logger.propagate, False
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.propagate = before
