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
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.data.corpora import Missing, resume
from benchmarks.data.sets import Scale
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.machine import header
from formulations import RuleSet, Trellis
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Task
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.kernels import annealing, discrepancy, evolution, tabu
from ilpinfer.search.annealing import Annealing, cool
from ilpinfer.search.discrepancy import Discrepancy, Search
from ilpinfer.search.evolution import Evolution, run_generations
from ilpinfer.search.population import Individuals, Population
from ilpinfer.search.tabu import Tabu, move

LIMITS = (0.01, 0.05, 0.2)
LATE, COST = 0.02, 0.02
"""Seconds after a limit, and the share of a search's time, that are let pass."""
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
RUN, CALLS, REPEATS = 1.0, 1000, 5
"""Seconds of a run whose records are timed; calls that do nothing; runs, of which the one counts that was disturbed least."""
Case = Callable[[], tuple[Trellis, RuleSet]]
Run = Callable[[], object]


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


def runs() -> dict[str, tuple[ModuleType, str, Callable[[], Run]]]:
    """Of each search that keeps records: the kernel that it spends its time in, and what sets a long run up."""
    labels = labels_of_size(27)
    folded = compile_problem(document(480, 0, labels, 3.0), document_rules(labels)).fold()
    bound, path = viterbi(folded.lattice)

    def population(individuals: Individuals) -> Population:
        result = Population(folded, Task(Deadline(RUN)), individuals, path, bound)
        result.begin()
        return result

    one, two = Individuals(), Individuals(2, 2)
    deep = Discrepancy(variant="textbook", keep_going=True)
    return {
        "lds": (discrepancy, "dive", lambda: Search(folded, Task(Deadline(RUN)), deep).run),
        "evolutionary": (
            evolution,
            "evolve",
            lambda: partial(run_generations, population(Evolution().individuals), Evolution()),
        ),
        "annealing": (annealing, "anneal", lambda: partial(cool, population(one), Annealing())),
        "tabu": (tabu, "search", lambda: partial(move, population(two), Tabu())),
    }


def cost(kernels: ModuleType, name: str, set_up: Callable[[], Run]) -> float:
    """The share of its processor time that a search spends outside its kernel, which a single long call would not.

    What it takes to hand a kernel its arrays is added for each call, as the time of one that returns at once.
    """
    kernel, inside = getattr(kernels, name), list[float]()

    def timed(*arguments: Any) -> Any:
        began = time.process_time()
        result = kernel(*arguments)
        inside.append(time.process_time() - began)
        return result

    set_up()()
    run = set_up()
    with mock.patch.object(kernels, name, timed):
        began = time.process_time()
        run()
        whole = time.process_time() - began
    return 1 - (sum(inside) - len(inside) * hand_over()) / whole


def hand_over() -> float:
    """Seconds for a call into a kernel that has nothing to do."""
    labels = labels_of_size(27)
    folded = compile_problem(document(480, 0, labels, 3.0), document_rules(labels)).fold()
    bound, path = viterbi(folded.lattice)
    p = Population(folded, Task(Deadline()), Evolution().individuals, path, bound)
    p.begin()
    arguments = (
        p.scores,
        p.machines,
        p.arrays,
        p.places,
        p.seed,
        p.runs,
        p.individuals.settings,
        evolution.Weights(0, 0),
        p.records,
        p.counts,
        0,
    )
    began = time.process_time()
    for _ in range(CALLS):
        evolution.evolve(*arguments)
    return (time.process_time() - began) / CALLS


def main() -> int:
    """Print both tables; 1 where something is too late or costs too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the corpora")
    parser.add_argument("--calls", type=int, default=100, help="of each search, document set and limit")
    options = parser.parse_args()
    ilpinfer.warm_up()
    gc.collect()
    gc.freeze()
    failed = False
    table = Table("documents", "search", "limit, ms", "late, ms: median", "99th percentile", "most", box=None)
    for name, cases in documents(options.data):
        for method in SEARCHES:
            lateness(method, cases, 0.05, 2)
            for limit in LIMITS:
                late = lateness(method, cases, limit, options.calls)
                high = float(np.quantile(late, 0.99, method="inverted_cdf"))
                failed |= high > LATE
                cells = (f"{1000 * x:.1f}" for x in (statistics.median(late), high, late[-1]))
                table.add_row(name, method, f"{1000 * limit:g}", *cells)
    costs = Table("search", "clock and records cost, % of processor time", box=None)
    for method, how in runs().items():
        share = min(cost(*how) for _ in range(REPEATS))
        failed |= share > COST
        costs.add_row(method, f"{100 * share:.2f}")
    for shown in (header(), table, costs):
        Console(width=120).print(shown)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
