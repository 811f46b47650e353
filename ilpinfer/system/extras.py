"""Optional libraries: each belongs to an extra of the package, which a message names where the library is missing."""

from importlib.util import find_spec

from formulations.errors import InferenceError


class MissingLibrary(InferenceError, ImportError):
    """A library that is not installed; the message names it and the extra that installs it.

    Examples
    --------
    >>> try:
    ...     require("the table", "parquet", "no_such_library")
    ... except MissingLibrary as error:
    ...     print(error)
    the table needs no_such_library, which is not installed; pip install 'ilpinfer[parquet]'
    """


def require(purpose: str, extra: str, *names: str) -> None:
    """Check that optional libraries are installed, without importing them.

    Parameters
    ----------
    purpose : str
        Subject of the message, such as "the service".
    extra : str
        Extra of the package that installs the libraries.
    *names : str
        Names of modules.

    Raises
    ------
    MissingLibrary
        For the first module that is not installed.

    Examples
    --------
    >>> require("a table", "core", "numpy")
    """
    for name in names:
        if find_spec(name) is None:
            raise MissingLibrary(
                f"{purpose} needs {name}, which is not installed; pip install 'ilpinfer[{extra}]'", name=name
            )
