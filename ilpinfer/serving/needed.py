"""The libraries that the service needs beside those of the package."""

from ilpinfer.system import optional_libraries
from ilpinfer.system.optional_libraries import MissingLibrary as MissingLibrary


def require(*names: str) -> None:
    """Raise MissingLibrary for the first library that is not installed."""
    optional_libraries.require("the service", "serve", *names)
