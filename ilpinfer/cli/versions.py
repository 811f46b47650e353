"""`ilpinfer --version`."""

import platform
from importlib.metadata import version
from typing import Any

from ilpinfer import __version__


def versions() -> dict[str, Any]:
    """The versions of ilpinfer, Python, the libraries that compute, and the solvers."""
    from ilpinfer.system.solver_versions import VERSIONS

    return {
        "ilpinfer": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
        "solvers": {name: find() for name, find in VERSIONS.items()},
    }


def show_versions(as_json: bool) -> None:
    """Print the versions, ilpinfer's first."""
    found = versions()
    if as_json:
        from ilpinfer.cli.screen import print_json

        print_json(found)
        return
    solvers = found.pop("solvers")
    for name, number in found.items():
        print(f"{name} {number}")
    for text in solvers.values():
        print(text)
