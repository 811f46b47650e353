"""The first call of a fresh installation: `python -m benchmarks.cold`.

Each case runs in a process of its own with an empty cache of kernels, and once more with the cache that it left.
"""

import os
import subprocess
import sys
import tempfile

from rich.console import Console

from benchmarks.machine import header

DIAGRAMS = "decision diagrams are needed"
CASES = {
    "Viterbi satisfies the rules": "[C.at_most_runs('a', 9)]",
    "the engine is needed": "[C.at_most_runs('a', 1), C.requires_present('a', 'b', penalty=9.0)]",
    DIAGRAMS: "[C.requires_present(a, b, penalty=1.0) for a in 'abcdefgh' for b in 'abcdefgh' if a != b]"
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


def main() -> None:
    """Seconds from the start of the import to the solution."""
    console = Console(width=140)
    console.print(header())
    for case, rules in CASES.items():
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            for state in ("empty cache", "full cache"):
                command = [
                    sys.executable,
                    "-c",
                    PROGRAM.format(rules=rules, labels=9 if case == DIAGRAMS else 4),
                ]
                run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                seconds, words = run.stdout.strip().split(" ", 1)
                console.print(f"{case}, {state}: {float(seconds):.1f} s; {words}", highlight=False)


if __name__ == "__main__":
    main()
