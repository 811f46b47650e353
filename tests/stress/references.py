"""References changed at random: `python -m stress.references 100000`, in tests/. Nothing false may be accepted, no command ends in a raw error, and no check takes more than 300 MB."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

import numpy as np

from formulations import Trellis
from formulations import constraints as C
from ilpinfer.references.making import make
from ilpinfer.references.shipped import ShippedReferences

RULES = (
    C.at_most_runs("each field", 1, penalty=2**-19, distance="binary"),
    C.at_most_runs("a", 1, penalty=3 * 2**-20),
    C.requires_before("a", "b", penalty=2**-20),
    C.requires_present("b", "a"),
    C.at_least_tokens("b", 2),
    C.at_most_tokens("a", 0, penalty=2**-20),
)
MEGABYTES = 300
BATCH = 5_000


def instance(random: Random) -> dict:
    """A reference of a small problem with near ties."""
    rng = np.random.default_rng(random.randrange(2**32))
    T, K = random.randint(1, 4), random.randint(2, 3)
    start, edges = rng.integers(-3, 4, K) / 2**20, rng.integers(-3, 4, (T - 1, K, K)) / 2**20
    trellis = Trellis(start, edges, labels=["a", "b", "c"][:K])
    return make(
        trellis, random.sample(RULES, random.randint(0, 3)), ties=4, top=random.choice((None, 4))
    ).to_dict()


def sources(seed: int, own: int) -> list[dict]:
    """Small references with near ties, and those of the package."""
    random = Random(seed)
    return [*(instance(random) for _ in range(own)), *(each.to_dict() for each in ShippedReferences())]


def check(count: int, seed: int, given: list[dict]) -> dict:
    """The report of `stress.reference_doors` on so many changed references, from another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sources.jsonl")
        path.write_text("".join(f"{json.dumps(each)}\n" for each in given))
        command = [sys.executable, "-m", "stress.reference_doors", str(path), str(count), str(seed)]
        done = subprocess.run(
            command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def main(count: int, seed: int = 0) -> int:
    """Print what the doors do in each batch; 1 where there is a fault, or where a batch takes too much memory."""
    wrong = 0
    for number, begin in enumerate(range(0, count, BATCH)):
        report = check(min(BATCH, count - begin), seed + number, sources(seed + number, 150))
        print(begin, json.dumps(report["counts"]), f"{report['peak']:.0f} MB", flush=True)
        for fault in report["faults"]:
            print(json.dumps(fault), flush=True)
        wrong += len(report["faults"]) + (report["peak"] > MEGABYTES)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) if len(sys.argv) > 1 else main(5000))
