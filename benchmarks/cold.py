"""The first call of a fresh installation: `python -m benchmarks.cold`.

Each case runs in a process of its own with an empty cache of kernels, and once more with the cache that it left.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks.machine import header

ROOT = Path(__file__).parents[1]
MANY = "64 soft rules"
CASES = {
    "Viterbi satisfies the rules": "[C.at_most_runs('a', 9)]",
    "a hard rule and a soft one": "[C.at_most_runs('a', 1), C.requires_present('a', 'b', penalty=9.0)]",
    MANY: "[C.requires_present(a, b, penalty=1.0) for a in 'abcdefgh' for b in 'abcdefgh' if a != b]"
    " + [C.at_most_tokens(a, 3, penalty=1.5) for a in 'abcdefgh']",
}
PROGRAM = """
import time
began = time.perf_counter()
import numpy as np
import ilpinfer
from formulations import Trellis, constraints as C
rng = np.random.default_rng(0)
K = {labels}
labels = [*"abcdefghijkl"[: K - 1], "O"]
trellis = Trellis(rng.normal(size=K), rng.normal(size=(19, K, K)), labels=labels)
solution = ilpinfer.decode(trellis, {rules})
print(time.perf_counter() - began, solution.status, solution.method)
"""


def first_call(case: str, cache: str, code: Path = ROOT) -> tuple[float, str]:
    """Seconds from the start of the import to the solution in a new process, and the solution's status and method.

    Parameters
    ----------
    case : one of CASES
    cache : folder of compiled kernels
    code : folder that the library is imported from
    """
    program = PROGRAM.format(rules=CASES[case], labels=9 if case == MANY else 4)
    seconds, words = time_call(program, cache, code).split(" ", 1)
    return float(seconds), words


def time_call(program: str, cache: str, code: Path = ROOT) -> str:
    """What a program prints in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(code)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has bytecode
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=environment, cwd=code, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def main() -> None:
    """Seconds from the start of the import to the solution."""
    console = Console(width=140)
    console.print(header())
    for case in CASES:
        with tempfile.TemporaryDirectory() as cache:
            for state in ("empty cache", "full cache"):
                seconds, words = first_call(case, cache)
                console.print(f"{case}, {state}: {seconds:.1f} s; {words}", highlight=False)


if __name__ == "__main__":
    main()
