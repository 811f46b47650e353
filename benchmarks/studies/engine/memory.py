"""Peak memory of one decoding in this process: `python -m benchmarks.studies.engine.memory T K NOISE`, one JSON line."""

import json
import resource
import sys
from pathlib import Path

import ilpinfer
from benchmarks.data.synthetic import document, document_rules, labels_of_size


def peak() -> float:
    """MiB held at most so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # Linux hands ru_maxrss on to a new program: it would be that of the study that started this process.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2**20 if sys.platform == "darwin" else used / 2**10


def main(T: int, K: int, noise: float) -> None:
    labels = labels_of_size(K)
    trellis, rules = document(T, 0, labels, noise), document_rules(labels)
    before = peak()
    solution = ilpinfer.decode(trellis, rules, time_limit=60.0)
    print(json.dumps({"T": T, "K": K, "before_mib": before, "peak_mib": peak(), "status": solution.status}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
