"""Libraries that come with an extra of the package."""

from importlib.util import find_spec

from formulations.errors import InferenceError


class MissingLibrary(InferenceError, RuntimeError):
    """A library that is not installed; the message names it and the extra."""


def require(what: str, extra: str, *names: str) -> None:
    """Raise MissingLibrary for the first library that is not installed.

    Parameters
    ----------
    what : the part of the package that needs the libraries
    extra : the extra of the package that has them
    names : the modules to be imported

    Examples
    --------
    >>> require("the example", "example", "json")
    """
    for name in names:
        if find_spec(name) is None:
            raise MissingLibrary(
                f"{what} needs {name}, which is not installed; pip install 'ilpinfer[{extra}]'"
            )
