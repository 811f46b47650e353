"""Long documents: overshoot of time limits, bounds over time, and peak memory."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator

import ilpinfer
from benchmarks.data.sets import noise_for
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.optimum import recheck
from benchmarks.study import Cell, Row, Sources
from benchmarks.timing import timed
from formulations import RuleSet, Trellis
from ilpinfer.core.solution import finite

ANYTIME = "anytime"
OVERSHOOT, BOUNDS, MEMORY = "overshoot", "bounds", "memory"
LENGTH, SIZE, NOISE = 500, 30, 2.5
LIMITS = range(5, 101, 5)
"""Milliseconds."""
FIRST_TRACE, TRACES = 40, 3


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """What is measured of documents; the first is a seed."""
    seeds = {
        OVERSHOOT: range(sources(smoke=1, sample=5, full=20)),
        BOUNDS: range(FIRST_TRACE, FIRST_TRACE + sources(smoke=1, sample=TRACES)),
        MEMORY: range(sources(smoke=0, sample=1)),
    }
    return (Cell(part=part, data=name, methods="auto", first=n) for name in seeds for n in seeds[name])


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    if cell.data == MEMORY:
        yield memory(2000, 60)
        return
    T, K = sources(smoke=(30, 5), sample=(LENGTH, SIZE))
    ilpinfer.decode(*hard_document(0, T, K), time_limit=0.1)
    if cell.data == BOUNDS:
        yield {"trace": trace(*hard_document(cell.first, T, K))}
        return
    for limit in LIMITS:
        trellis, rules = hard_document(cell.first, T, K)
        solution, seconds = timed(ilpinfer.decode, trellis, rules, time_limit=limit / 1000)
        recheck(trellis, rules, solution)
        yield {"limit": limit, "late": max(0.0, 1000 * seconds - limit), "status": solution.status}


def hard_document(seed: int, T: int, K: int) -> tuple[Trellis, RuleSet]:
    """A document under noise that leaves work after Viterbi."""
    labels = labels_of_size(K)
    return document(T, seed, labels, NOISE), document_rules(labels)


def trace(trellis: Trellis, rules: RuleSet) -> list[list[float | None]]:
    """Seconds, incumbent and bound, in nats, whenever one of them changes."""
    points: list[list[float | None]] = []

    def keep(seconds: float, incumbent: float, bound: float) -> None:
        points.append([seconds, finite(incumbent), finite(bound)])

    solution = recheck(trellis, rules, ilpinfer.decode(trellis, rules, time_limit=5.0, callback=keep))
    keep(solution.seconds, solution.score, solution.bound)
    return points


def memory(T: int, K: int) -> Row:
    """MiB that a fresh process holds at its peak, with the trellis alone and after decoding it."""
    arguments = map(str, (T, K, noise_for(T, K)[0]))
    command = [sys.executable, "-m", "benchmarks.studies.engine.memory", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    result: Row = json.loads(done.stdout.splitlines()[-1])
    return result
