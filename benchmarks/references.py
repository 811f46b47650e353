"""Checks of references: `python -m benchmarks.references`.

The plain checker, the full check of meaning and proof, and the making, beside the decoding of the same problem in the same run.
"""

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.machine import header
from formulations import Rule, Trellis
from formulations import constraints as C
from ilpinfer import checker
from ilpinfer.references.making import make
from ilpinfer.references.verification import verify


def problem(T: int, K: int, noise: float, seed: int = 0) -> tuple[Trellis, list[Rule]]:
    """A sequence of fields in runs, seen through noise, with rules on some of the fields."""
    rng = np.random.default_rng(seed)
    labels = [*(f"f{k}" for k in range(K - 1)), "O"]
    gold = np.repeat(rng.permutation(K), -(-T // K))[:T]
    emissions = noise * rng.normal(size=(T, K))
    emissions[np.arange(T), gold] += 4.0
    transitions = rng.normal(size=(K, K)) - 4.0
    transitions[np.arange(K), np.arange(K)] = -0.2
    trellis = Trellis.from_emissions(emissions, transitions, labels=labels, tokens=["w"] * T)
    runs = [C.at_most_runs(f"f{k}", 1, penalty=1.5) for k in range(8)]
    return trellis, [
        *runs,
        C.requires_before("f1", "f2", penalty=2.0),
        C.requires_present("f3", "f4", penalty=1.0),
    ]


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    """Processor time of the quickest run."""
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return 1000 * best


def main() -> None:
    """Print a row for each size and noise."""
    table = Table(
        "tokens", "labels", "noise", "leaves", "decode, ms", "make, ms", "checker, ms", "ratio", "meaning, ms"
    )
    for T, K, noise in ((50, 12, 1.0), (100, 24, 1.5), (200, 30, 1.0), (200, 30, 2.0)):
        trellis, rules = problem(T, K, noise)
        solution = ilpinfer.decode(trellis, rules)
        reference = make(trellis, rules)
        record = reference.to_dict()
        decode = milliseconds(lambda t=trellis, r=rules: ilpinfer.decode(t, r))
        plain = milliseconds(lambda r=record: checker.check(r))
        full = milliseconds(lambda r=reference: verify(r, "meaning"))
        making = milliseconds(lambda t=trellis, r=rules: make(t, r), 1)
        leaves = solution.certificate.cost.leaves
        times = (f"{decode:.2f}", f"{making:.0f}", f"{plain:.0f}", f"{plain / decode:.0f}", f"{full:.0f}")
        table.add_row(*map(str, (T, K, noise, leaves)), *times)
    console = Console(width=120)
    console.print(header())
    console.print(table)


if __name__ == "__main__":
    main()
