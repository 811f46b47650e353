"""The first call: of a fresh installation beside that of a former commit, and with all kernels on disk."""

import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cold import CASES, MANY, ROOT, first_call, time_call
from benchmarks.compiled.lines import verdict
from benchmarks.data.sets import Scale

FORMER = "83c205c"
"""The last commit whose kernels did not read compiled rules."""
MOST_OVER_NUMBA = 0.6
"""Seconds of a first call with a full cache, over the import of numba."""
NUMBA = "import time; began = time.perf_counter(); import numba; print(time.perf_counter() - began)"


def starting(scale: Scale) -> Iterator[str]:
    """Seconds of first calls, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        former, caches = Path(folder) / "former", [str(Path(folder) / name) for name in ("now", "then")]
        yield f"\nFirst call of a fresh installation, {MANY}"
        now, how = first_call(MANY, caches[0])
        if unpack(FORMER, former):
            then, before = first_call(MANY, caches[1], former)
            aim = verdict("target", now / then, 0.5)
            yield f"{now:.1f} s ({how}); commit {FORMER} {then:.1f} s ({before}): {now / then:.2f} ×, {aim}"
        else:
            yield f"{now:.1f} s ({how}); commit {FORMER} is not in this copy, no comparison"
        yield from full(caches[0], scale(7, 3))


def unpack(commit: str, folder: Path) -> bool:
    """Whether a commit could be written to a folder."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        return False
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return True


def full(cache: str, repeats: int) -> Iterator[str]:
    """First calls with a full cache, beside the import of numba alone; processes take turns."""
    for case in CASES:
        first_call(case, cache)
    calls: dict[str, list[float]] = {case: [] for case in CASES}
    numba = []
    for _ in range(repeats):
        numba.append(float(time_call(NUMBA, cache)))
        for case, seconds in calls.items():
            seconds.append(first_call(case, cache)[0])
    alone = statistics.median(numba)
    yield f"First call with a full cache, over the import of numba, {alone:.2f} s; medians of {repeats}"
    for case, seconds in calls.items():
        over = statistics.median(seconds) - alone
        yield f"{case}: {over:.2f} s over it, {verdict('target', over, MOST_OVER_NUMBA)}"
