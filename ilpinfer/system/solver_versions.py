"""Versions of the solvers, found without loading them."""

import re
import subprocess
from collections.abc import Callable, Mapping
from importlib.metadata import version


def cbc() -> str:
    """CBC's version, from its program, and the package that contains it."""
    from pulp import PULP_CBC_CMD

    log = subprocess.run(
        [PULP_CBC_CMD.pulp_cbc_path, "-quit"], capture_output=True, text=True, check=False
    ).stdout
    result = re.search(r"^Version: (\S+)", log, re.M)
    return f"CBC {result[1] if result else '?'} (pulp {version('pulp')})"


def cp_sat() -> str:
    """CP-SAT's version, which is that of OR-tools."""
    return f"CP-SAT (ortools {version('ortools')})"


def highs() -> str:
    """HiGHS's version, which is that of highspy."""
    return f"HiGHS (highspy {version('highspy')})"


def scip() -> str:
    """SCIP's version, as OR-tools carries it."""
    return f"SCIP 10.0 (ortools {version('ortools')})"


VERSIONS: Mapping[str, Callable[[], str]] = {"cbc": cbc, "cp-sat": cp_sat, "highs": highs, "scip": scip}
"""The version of each solver, by the name of its method."""
