"""What a result was measured on."""

import datetime
import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "ilpinfer",
    "numpy",
    "numba",
    "scipy",
    "ortools",
    "pulp",
    "pytoulbar2",
    "cpmpy",
    "conin",
    "python-crfsuite",
    "optuna",
)


def header() -> str:
    """Date, versions of what is installed and size of the machine, one line."""
    result = {name: _version(name) for name in PACKAGES}
    versions = ", ".join(f"{name} {number}" for name, number in result.items() if number)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    size = f"{os.cpu_count()} cores, {memory:.0f} GiB"
    return f"{datetime.date.today()}, Python {platform.python_version()}, {versions}; {platform.machine()}, {size}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
