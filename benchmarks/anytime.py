"""How late searches are under short time limits, and what it costs them to read the clock and to record what they find.

`python -m benchmarks.anytime` takes about ten minutes, with `--calls 10` one. Documents are planted ones of 480 tokens
and 27 labels and, where the folder of the corpora is there, the five longest experience sections under soft and hard rules.
Exit code 1 where the 99th percentile of any search is more than 20 ms late, or records cost more than 2 %.
"""

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.corpora import Missing, resume
from benchmarks.data import Scale
from benchmarks.machine import header
from benchmarks.synthetic import document, document_rules, labels_of_size
from formulations import RuleSet, Trellis
from formulations.compiled.problem import compile_problem
from ilpinfer.deadline import STRETCH, Deadline
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.found import Task
from ilpinfer.search import annealing, discrepancy, evolution, tabu
from ilpinfer.search.evolution import Population
from ilpinfer.search.parameters import Annealing, Discrepancy, Evolution, Tabu

LIMITS = (0.01, 0.05, 0.2)
LATE, COST = 0.02, 0.02
"""Seconds after a limit, and the share of evaluations a second, that are let pass."""
SEARCHES = (
    "beam",
    "best-first",
    "greedy",
    "relaxation-guided",
    "lds",
    "evolutionary",
    "hybrid",
    "annealing",
    "tabu",
)
REPEATS = 15
Case = Callable[[], tuple[Trellis, RuleSet]]


def documents(folder: Path) -> Iterator[tuple[str, list[Case]]]:
    """Trellises to decode, a fresh one for each call."""
    labels = labels_of_size(27)
    rules = document_rules(labels)
    yield "planted 480", [lambda s=seed: (document(480, s, labels, 3.0), rules) for seed in range(5)]  # type: ignore[misc]
    try:
        for data in resume(folder, Scale()):
            longest = sorted(data.items, key=lambda item: -len(item.make()))[:5]
            yield data.name, [lambda i=item, d=data: (i.make(), d.rules) for item in longest]  # type: ignore[misc]
    except Missing as missing:
        print(missing, file=sys.stderr)


def lateness(method: str, cases: list[Case], limit: float, calls: int) -> list[float]:
    """Seconds after the limit at which calls returned, ascending."""
    late = []
    for call in range(calls):
        trellis, rules = cases[call % len(cases)]()
        began = time.perf_counter()
        ilpinfer.decode(trellis, rules, method=method, time_limit=limit)
        late.append(time.perf_counter() - began - limit)
    return sorted(late)


def runs() -> dict[str, tuple[object, str, float, Callable[[], object]]]:
    """Of each search: the constant that cuts its calls, its value for calls as short as usual, and a run of many evaluations."""
    labels = labels_of_size(27)
    folded = compile_problem(document(480, 0, labels, 3.0), document_rules(labels)).fold()
    small = compile_problem(document(12, 0, labels_of_size(5), 3.0), document_rules(labels_of_size(5))).fold()
    bound, path = viterbi(folded.lattice)

    def population(parameters: Evolution) -> Population:
        found = Population(folded, Task(Deadline()), parameters, path, bound)
        found.begin()
        return found

    one, two = Evolution(population=1, offspring=1), Evolution(population=2, offspring=2, start_mutations=0)
    return {
        "lds": (
            discrepancy,
            "STRETCH",
            STRETCH,
            lambda: discrepancy.Search(small, Task(Deadline()), Discrepancy(variant="textbook")).run(),
        ),
        "evolutionary": (evolution, "STRETCH", STRETCH, lambda: population(Evolution(iterations=3000)).run()),
        "annealing": (
            annealing,
            "_STEPS",
            600,
            lambda: annealing.cool(population(one), Annealing(iterations=60_000)),
        ),
        "tabu": (tabu, "STRETCH", STRETCH, lambda: tabu.move(population(two), Tabu(iterations=2000))),
    }


def cost(module: object, name: str, short: float, run: Callable[[], object]) -> float:
    """The share of evaluations a second that short calls lose against a single one, by medians of pairs."""
    lost = []
    for _ in range(REPEATS):
        seconds = []
        for length in (short, 10**9):
            with mock.patch.object(module, name, length):
                began = time.process_time()
                run()
                seconds.append(time.process_time() - began)
        lost.append(1 - seconds[1] / seconds[0])
    return statistics.median(lost)


def main() -> int:
    """Print both tables; 1 where something is too late or costs too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the corpora")
    parser.add_argument("--calls", type=int, default=100, help="of each search, document set and limit")
    asked = parser.parse_args()
    ilpinfer.warm_up()
    gc.collect()
    gc.freeze()
    failed = False
    table = Table("documents", "search", "limit, ms", "late, ms: median", "99th percentile", "most", box=None)
    for name, cases in documents(asked.data):
        for method in SEARCHES:
            lateness(method, cases, 0.05, 2)
            for limit in LIMITS:
                late = lateness(method, cases, limit, asked.calls)
                high = float(np.quantile(late, 0.99, method="inverted_cdf"))
                failed |= high > LATE
                cells = (f"{1000 * x:.1f}" for x in (statistics.median(late), high, late[-1]))
                table.add_row(name, method, f"{1000 * limit:g}", *cells)
    costs = Table("search", "clock and records cost, % of evaluations a second", box=None)
    for method, how in runs().items():
        share = cost(*how)
        failed |= share > COST
        costs.add_row(method, f"{100 * share:.2f}")
    for shown in (header(), table, costs):
        Console(width=120).print(shown)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
