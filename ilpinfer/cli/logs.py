"""Log messages of the library on standard error, in the form of messages of the command line."""

import contextlib
import logging
from collections.abc import Iterator

from ilpinfer.cli.progress import compilation
from ilpinfer.cli.streams import remark, say
from ilpinfer.kernels import notices


class _Lines(logging.Handler):
    """A handler for the current standard error, which a progress bar or a test may replace."""

    def emit(self, record: logging.LogRecord) -> None:
        line = f"ilpinfer: {record.getMessage()}"
        (say if record.levelno >= logging.ERROR else remark)(line)


@contextlib.contextmanager
def show_logs() -> Iterator[None]:
    """Show the warnings of the logger `ilpinfer`, and the steps of compilations."""
    logger, lines = logging.getLogger("ilpinfer"), _Lines(logging.WARNING)
    before, logger.propagate = logger.propagate, False
    logger.addHandler(lines)
    ignored, notices.watch = notices.watch, compilation
    try:
        yield
    finally:
        notices.watch = ignored
        logger.removeHandler(lines)
        logger.propagate = before
