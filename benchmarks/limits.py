"""Every solver under short time limits on long documents: how late it is, what it has by then, and whether that is true.

`python -m benchmarks.limits --data FOLDER` takes about twelve minutes: twenty sequences, the longest and middling experience
sections under soft rules and references under mined ones, or generated references where there is no such folder. With `--rows FILE`
a run that was interrupted, or limited to some `--methods`, goes on where it was. What `auto` proves is what statuses and bounds
are held against. Exit code 1 where anything false is said, or the 95th percentile of calls is more than 150 ms late.
"""

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.data.corpora import Missing, read_labelled, resume, soft_rules
from benchmarks.data.sets import SOLVERS, Item, Scale
from benchmarks.data.synthetic import label_set, reference
from benchmarks.journal import Journal, Row
from benchmarks.machine import header
from benchmarks.study import digest
from formulations import RuleSet
from formulations import constraints as C
from formulations.problem.problem import RuleNotice
from ilpinfer.models.hmm import HMM

LIMITS = (0.05, 0.1, 0.3, 1.0)
LATE = 0.15
"""Seconds after a limit that the 95th percentile is let pass."""
EACH, MINED_RULES = 5, 12
PROOF = 60.0
"""Seconds for the proof of an optimum."""
Case = tuple[str, Item, RuleSet]


def cases(folder: Path) -> Iterator[Case]:
    """Twenty sequences, with their rules."""
    try:
        resumes = next(resume(folder, Scale()))
        yield from (("resume", item, resumes.rules) for item in _longest_and_middling(resumes.items))
        train, dev = (read_labelled(folder / "umass_cfe" / f"{name}.tsv") for name in ("train", "dev"))
    except Missing as missing:
        print(f"{missing}; generated sequences instead", file=sys.stderr)
        yield from generated()
        return
    hmm = HMM.train(train)
    rules = RuleSet(tuple(soft_rules(train, MINED_RULES)))
    items = tuple(Item(f"dev {n}", partial(hmm.trellis, tokens)) for n, (tokens, _) in enumerate(dev))
    yield from (("umass", item, rules) for item in _longest_and_middling(items))


def _longest_and_middling(items: tuple[Item, ...]) -> list[Item]:
    ordered = sorted(items, key=lambda item: -len(item.make()))
    middle = len(ordered) // 2
    return [*ordered[:EACH], *ordered[middle : middle + EACH]]


def generated() -> Iterator[Case]:
    """References of 40 to 480 tokens."""
    labels = label_set()
    rules = RuleSet((C.at_most_runs(C.EACH_FIELD, 1, penalty=2.0), C.changes_only_after(penalty=1.0)))
    for T in (40, 77, 160, 480):
        for seed in range(EACH):
            yield "generated", Item(f"{T} {seed}", partial(reference, T, seed, labels)), rules


def run(case: Case, method: str, limit: float, call: int, optimum: ilpinfer.Solution) -> Row:
    """One call, timed from outside."""
    data, item, rules = case
    trellis = item.make()
    began = time.perf_counter()
    solution = ilpinfer.decode(trellis, rules, method=method, time_limit=limit)
    wall = time.perf_counter() - began
    return {
        "data": data,
        "item": item.key,
        "method": method,
        "limit": limit,
        "seed": call,
        "late": wall - solution.warm_up_seconds - limit,
        "unaccounted": wall - solution.warm_up_seconds - solution.seconds,
        "status": solution.status,
        "labelling": solution.has_labelling,
        "true": _true(solution, optimum),
    }


def _true(solution: ilpinfer.Solution, optimum: ilpinfer.Solution) -> bool:
    """Whether what is said agrees with a score that was reached, and a bound that was proved."""
    if solution.status == "infeasible":
        return optimum.status == "infeasible"
    within = solution.bound >= optimum.score and solution.score <= optimum.bound
    return within and (solution.status != "optimal" or solution.score >= optimum.score)


def fill(journal: Journal, options: argparse.Namespace) -> None:
    """Add the rows that the journal lacks."""
    chosen = list(cases(options.data))
    for method in options.methods.split(","):
        for case in chosen:
            keys = [(limit, call) for limit in LIMITS for call in range(options.calls)]
            missing = [key for key in keys if not journal.has(case[0], case[1].key, method, *key)]
            if not missing:
                continue
            optimum = ilpinfer.decode(case[1].make(), case[2], time_limit=PROOF)
            if not journal.rows or case is chosen[0]:  # the first call of a solver in this process
                ilpinfer.decode(case[1].make(), case[2], method=method, time_limit=LIMITS[0])
            for limit, call in missing:
                journal.add(run(case, method, limit, call, optimum))


def table(rows: list[Row]) -> tuple[Table, bool]:
    """Lateness and labellings by solver and limit; whether all is as it should be."""
    heads = ("calls", "late, ms: median", "95th percentile", "most", "optimal", "labelling", "true")
    result, good = Table("sequences", "method", "limit, s", *heads, box=None), True
    groups = sorted({(row["data"], row["method"], row["limit"]) for row in rows})
    for data, method, limit in groups:
        own = [row for row in rows if (row["data"], row["method"], row["limit"]) == (data, method, limit)]
        late = sorted(row["late"] for row in own)
        high = float(np.quantile(late, 0.95, method="inverted_cdf"))
        count = {name: sum(bool(row[name]) for row in own) for name in ("labelling", "true")}
        optimal = sum(row["status"] == "optimal" for row in own)
        good &= high <= LATE and count["true"] == len(own)
        times = (f"{1000 * x:.0f}" for x in (statistics.median(late), high, late[-1]))
        numbers = map(str, (optimal, count["labelling"], count["true"]))
        result.add_row(data, method, f"{limit:g}", str(len(own)), *times, *numbers)
    return result, good


def main() -> int:
    """Run what is missing, and print the table; 1 where it is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the corpora")
    parser.add_argument("--calls", type=int, default=5, help="of each sequence, solver and limit")
    parser.add_argument("--methods", default=",".join(SOLVERS), help="solvers, separated by commas")
    parser.add_argument("--rows", type=Path, help="file that keeps the calls")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuleNotice)
    ilpinfer.warm_up()
    with tempfile.TemporaryDirectory() as folder:
        path = options.rows or Path(folder, "rows.jsonl")
        journal = Journal(path, {"study": "limits", "code": digest()}, header())
        fill(journal, options)
        journal.close()
    shown, good = table(list(journal.rows.values()))
    most = max(abs(row["unaccounted"]) for row in journal.rows.values())
    Console(width=200).print(journal.about)
    Console(width=120).print(shown)
    Console(width=120).print(f"time that solutions do not account for: at most {1000 * most:.0f} ms")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
