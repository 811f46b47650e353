"""CBC's binary, which PuLP carries."""

import subprocess
import sys
from functools import cache
from pathlib import Path

OPTIONS = ("-increment", "1e-9", "-ratio", "0", "-allow", "0", "-solve")
"""With these CBC tells labellings apart that are a grid unit from each other."""


@cache
def binary() -> str:
    """Its path. PuLP is imported in another process: it loads highspy, after which OR-tools cannot be loaded."""
    code = "from pulp import PULP_CBC_CMD; print(PULP_CBC_CMD.pulp_cbc_path)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def run(file: Path, solution: Path, *more: str) -> str:
    """Solve a file, write a solution file, and return the log."""
    command = [binary(), str(file), *OPTIONS, *more, "-solution", str(solution)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
