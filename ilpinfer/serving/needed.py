"""The libraries that the service needs beside those of the package."""

from importlib.util import find_spec

from formulations.errors import InferenceError


class MissingLibrary(InferenceError, RuntimeError):
    """A library that is not installed; the message names it and the extra."""


def require(*names: str) -> None:
    """Raise MissingLibrary for the first library that is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise MissingLibrary(
                f"the service needs {name}, which is not installed; pip install 'ilpinfer[serve]'"
            )
