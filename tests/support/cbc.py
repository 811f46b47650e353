"""CBC's binary, which PuLP carries."""

import subprocess
from pathlib import Path

from pulp import PULP_CBC_CMD

OPTIONS = ("-increment", "1e-9", "-ratio", "0", "-allow", "0", "-solve")
"""Options with which CBC distinguishes labellings whose scores differ by a grid unit."""


def run(file: Path, solution: Path, *more: str) -> str:
    """Solve a file, write a solution file, and return the log."""
    command = [str(PULP_CBC_CMD.pulp_cbc_path), str(file), *OPTIONS, *more, "-solution", str(solution)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
