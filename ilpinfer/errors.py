"""Errors as single lines for users."""

import os
import traceback

from formulations.errors import InferenceError as InferenceError

TRACEBACK = "ILPINFER_TRACEBACK"
"""The environment variable for errors with tracebacks."""


def describe(error: BaseException) -> str:
    """A line about an error: its message if that is meant for users, else its type."""
    text = _line(str(error))
    if isinstance(error, MemoryError):
        return f"out of memory{text and f' ({text})'}"
    if isinstance(error, RecursionError):
        return f"nested too deeply{text and f' ({text})'}"
    if isinstance(error, OSError) and error.strerror:
        places = [_line(str(name)) for name in (error.filename, error.filename2) if name is not None]
        return ": ".join([" and ".join(places), error.strerror] if places else [error.strerror])
    if isinstance(error, ValueError | RuntimeError | OSError | InferenceError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def without_place(error: BaseException) -> bool:
    """Whether the error's message cannot name its file."""
    placeless = isinstance(error, OSError) and error.filename is None and error.strerror
    return bool(placeless) or isinstance(error, MemoryError | RecursionError)


def traceback_wanted() -> bool:
    """Whether tracebacks are requested; the first error then ends the command."""
    return bool(os.environ.get(TRACEBACK))


def where(error: BaseException) -> str:
    """The traceback of an error."""
    return "".join(traceback.format_exception(error))


def _line(text: str) -> str:
    return " ".join(text.split())


class ModelError(InferenceError, ValueError):
    """Error for an invalid model file; the message names file, fault and remedy."""
