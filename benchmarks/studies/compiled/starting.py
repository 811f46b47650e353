"""The first call: in a process of its own, with an empty cache of kernels and with a full one."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.journal import ROOT
from benchmarks.study import Row

NUMBA = "import of numba alone"
_DECODE = """
import numpy as np
import ilpinfer
from formulations import Trellis, constraints as C
rng = np.random.default_rng(0)
K = {labels}
labels = [*"abcdefghijkl"[: K - 1], "O"]
trellis = Trellis(rng.normal(size=K), rng.normal(size=(19, K, K)), labels=labels)
method = ilpinfer.decode(trellis, {rules}).method
"""
CASES = {
    NUMBA: "import numba; method = ''",
    "Viterbi satisfies the rules": _DECODE.format(labels=4, rules="[C.at_most_runs('a', 9)]"),
    "a hard rule and a soft one": _DECODE.format(
        labels=4, rules="[C.at_most_runs('a', 1), C.requires_present('a', 'b', penalty=9.0)]"
    ),
    "64 soft rules": _DECODE.format(
        labels=9,
        rules="[C.requires_present(a, b, penalty=1.0) for a in 'abcdefgh' for b in 'abcdefgh' if a != b]"
        " + [C.at_most_tokens(a, 3, penalty=1.5) for a in 'abcdefgh']",
    ),
}
CLOCK = "import time; began, spent = time.perf_counter(), time.process_time()"
PRINT = "print(time.perf_counter() - began, time.process_time() - spent, method)"


def measure(case: str, repeats: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as cache:
        if case != NUMBA:
            yield {"cache": "empty", **first_call(case, cache)}
        calls: dict[str, list[Row]] = {NUMBA: [], case: []}
        for _ in range(repeats):
            for name, some in calls.items():
                some.append(first_call(name, cache))
    row: Row = {"cache": "full"} | {key: _median(calls[case], key) for key in ("seconds", "processor")}
    yield row | {
        "method": calls[case][0]["method"],
        "over_numba": row["seconds"] - _median(calls[NUMBA], "seconds"),
    }


def first_call(case: str, cache: str) -> Row:
    """Seconds in a new process from the start of the import, by the clock and of the processor, and the solution's method."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has bytecode
    command = [sys.executable, "-c", "\n".join((CLOCK, CASES[case], PRINT))]
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, processor, method = run.stdout.strip("\n").split(" ", 2)
    return {"seconds": float(seconds), "processor": float(processor), "method": method}


def _median(calls: list[Row], key: str) -> float:
    return float(statistics.median(row[key] for row in calls))
