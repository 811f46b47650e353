"""Versions of the solvers, found without loading them."""

import re
import subprocess
from collections.abc import Callable, Mapping
from importlib.metadata import version


def _cbc() -> str:
    """CBC's version, from its program, and the package that contains it."""
    from pulp import PULP_CBC_CMD

    command = [PULP_CBC_CMD.pulp_cbc_path, "-quit"]
    log = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    result = re.search(r"^Version: (\S+)", log, re.M)
    return f"CBC {result[1] if result else '?'} (pulp {version('pulp')})"


def _of(solver: str, package: str) -> Callable[[], str]:
    return lambda: f"{solver} ({package} {version(package)})"


VERSIONS: Mapping[str, Callable[[], str]] = {
    "cbc": _cbc,
    "cp-sat": _of("CP-SAT", "ortools"),
    "highs": _of("HiGHS", "highspy"),
    "scip": _of("SCIP 10.0", "ortools"),
}
"""The version of each solver, by the name of its method."""
