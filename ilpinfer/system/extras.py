"""Optional libraries: each belongs to an extra of the package, which a message names where the library is missing."""

from importlib.util import find_spec

from formulations.errors import InferenceError


class MissingLibrary(InferenceError, ImportError):
    """A library that is not installed; the message names it and the extra that installs it."""


def require(purpose: str, extra: str, *names: str) -> None:
    """Raise MissingLibrary for the first of some libraries that is not installed; they are not imported."""
    for name in names:
        if find_spec(name) is None:
            raise MissingLibrary(
                f"{purpose} needs {name}, which is not installed; pip install 'ilpinfer[{extra}]'", name=name
            )
