"""Every solver under short time limits at T = 77, K = 26: what it says, and by how much it is late.

`python -m benchmarks.limits` takes about a minute. The optimum that statuses and bounds are held against is
proved first, without a limit. Exit code 1 where anything false is said.
"""

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.machine import header
from benchmarks.synthetic import label_set, reference
from formulations import Trellis
from formulations import constraints as C

LIMITS = (0.5, 1.0, 2.0, 3.0)
METHODS = ("auto", "cbc", "cp-sat", "highs", "scip")


def cases() -> dict[str, tuple[Trellis, list[C.Rule]]]:
    """A reference-like problem, and one of pure noise that takes solvers longer."""
    labels = label_set()
    rules = [C.at_most_runs(C.EACH_FIELD, 1, penalty=2.0), C.changes_only_after(penalty=1.0)]
    planted = reference(77, 3, labels)
    rng = np.random.default_rng(1)
    noise = Trellis(rng.normal(size=26), rng.normal(size=(76, 26, 26)), labels=labels, tokens=planted.tokens)
    return {"planted": (planted, rules), "noise": (noise, rules)}


def main() -> int:
    """Print the table; 1 where a claim is false."""
    table = Table("problem", "method", "limit, s", "status", "gap, nats", "late, ms", "true", box=None)
    wrong = 0
    for name, (trellis, rules) in cases().items():
        optimum = ilpinfer.decode(trellis, rules, method="cp-sat")
        assert optimum.status == "optimal"
        for method in METHODS:
            ilpinfer.decode(trellis, rules[:0], method=method)
            for limit in LIMITS:
                solution = ilpinfer.decode(trellis, rules, method=method, time_limit=limit)
                claim = solution.status != "infeasible" and solution.bound >= optimum.score >= solution.score
                claim &= solution.status != "optimal" or solution.score == optimum.score
                wrong += not claim
                late = 1000 * max(0.0, solution.seconds - limit)
                cells = (f"{limit:g}", solution.status, f"{solution.gap:.3f}", f"{late:.0f}")
                table.add_row(name, method, *cells, "yes" if claim else "NO")
    Console(width=160).print(header())
    Console(width=100).print(table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
