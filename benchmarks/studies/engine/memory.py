"""Peak memory of a fresh process that decodes a long document: `python -m benchmarks.studies.engine.memory`, one JSON line."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import ilpinfer
from benchmarks.data.sets import noise_for
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.study import Cell, Missing, Row, Sources

MEMORY = "memory"
LENGTH, SIZE = 2000, 60
STATUS = Path("/proc/self/status")


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    if not STATUS.exists():
        raise Missing(f"{STATUS}, which tells the memory of a process, is not there")
    return [Cell(part=part)] * sources(smoke=0, sample=1)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    command = [sys.executable, "-m", __name__, str(noise_for(LENGTH, SIZE)[0])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    yield json.loads(done.stdout.splitlines()[-1])


def peak() -> float:
    """MiB held at most so far; `ru_maxrss` would be that of the study, as Linux hands it on to a new program."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 2**10


def main(noise: float, T: int = LENGTH, K: int = SIZE) -> None:
    labels = labels_of_size(K)
    trellis, rules = document(T, 0, labels, noise), document_rules(labels)
    before = peak()
    solution = ilpinfer.decode(trellis, rules, time_limit=60.0)
    print(json.dumps({"T": T, "K": K, "before_mib": before, "peak_mib": peak(), "status": solution.status}))


if __name__ == "__main__":
    main(float(sys.argv[1]))
