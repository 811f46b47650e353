"""What a result was measured on."""

import datetime
import os
import platform
from importlib.metadata import version

PACKAGES = ("ilpinfer", "numpy", "numba", "scipy", "ortools", "pulp")


def header() -> str:
    """Date, versions and size of the machine, one line."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    size = f"{os.cpu_count()} cores, {memory:.0f} GiB"
    return f"{datetime.date.today()}, Python {platform.python_version()}, {versions}; {platform.machine()}, {size}"
