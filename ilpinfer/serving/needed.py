"""The libraries that the service needs beside those of the package."""

from importlib.util import find_spec


def require(*names: str) -> None:
    """Raise ModuleNotFoundError, with the way out, for the first library that is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise ModuleNotFoundError(
                f"the service needs {name}, which is not installed; pip install 'ilpinfer[serve]'", name=name
            )
