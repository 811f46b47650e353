"""What is measured once: overshoot of time limits, bounds over time, memory of a long document."""

import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

import ilpinfer
from benchmarks.data.sets import Scale
from benchmarks.data.generated import noise_for
from benchmarks.journal import Journal, Row
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from formulations import Trellis
from formulations.constraints.rule_set import RuleSet

LENGTH, SIZE, NOISE = 500, 30, 2.5
LIMITS = range(5, 101, 5)
"""Milliseconds."""
CALLS = 10
"""For each limit, on different documents."""
SEED = 40


def run_extras(journal: Journal, scale: Scale) -> None:
    """Add the rows that the journal lacks; their data set is `extra`."""
    jobs = {"anytime": anytime, "bounds": bounds, "memory": memory}
    for name, job in jobs.items():
        if not journal.has("extra", name, "auto"):
            journal.add({"data": "extra", "item": name, "method": "auto", **job(scale)})


def hard_document(seed: int, scale: Scale) -> tuple[Trellis, RuleSet]:
    """A long document under noise that leaves work after Viterbi."""
    labels = labels_of_size(5 if scale.smoke else SIZE)
    return document(30 if scale.smoke else LENGTH, seed, labels, NOISE), document_rules(labels)


def anytime(scale: Scale) -> Row:
    """By how many milliseconds calls pass their time limits, after a warm-up call."""
    late, statuses = [], []
    ilpinfer.decode(*hard_document(0, scale), time_limit=0.1)
    for seed in range(scale(CALLS, 3)):
        for limit in LIMITS:
            trellis, rules = hard_document(seed, scale)
            began = time.perf_counter()
            solution = ilpinfer.decode(trellis, rules, time_limit=limit / 1000)
            seconds = time.perf_counter() - began - solution.warm_up_seconds
            late.append(max(0.0, 1000 * seconds - limit))
            statuses.append(solution.status)
    counts = {status: statuses.count(status) for status in sorted(set(statuses))}
    return {"calls": len(late), "late_ms": late, "p99_ms": float(np.percentile(late, 99)), "statuses": counts}


def bounds(scale: Scale) -> Row:
    """Incumbent and bound over time on three documents, where `decode` reports them."""
    traces = []
    for seed in range(SEED, SEED + scale(3, 1)):
        trellis, rules = hard_document(seed, scale)
        points: list[tuple[float, float | None, float | None]] = []

        def keep(
            seconds: float, incumbent: float | None, bound: float | None, points: list[Any] = points
        ) -> None:
            points.append((seconds, _finite(incumbent), _finite(bound)))

        try:
            solution = ilpinfer.decode(trellis, rules, time_limit=5.0, callback=keep)
        except (TypeError, ValueError) as error:
            if "callback" not in str(error):
                raise
            return {"skipped": "decode has no callback"}
        points.append((solution.seconds, _finite(solution.score), _finite(solution.bound)))
        traces.append(points)
    return {"traces": traces}


def _finite(number: float | None) -> float | None:
    return None if number is None or not np.isfinite(number) else float(number)


def memory(scale: Scale) -> Row:
    """MiB that a fresh process holds at its peak, with the trellis alone and after decoding it."""
    T, K = (30, 5) if scale.smoke else (2000, 60)
    noise = noise_for(T, K)[0]
    command = [sys.executable, "-m", "benchmarks.engine.memory", str(T), str(K), str(noise)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    result: Row = json.loads(done.stdout.splitlines()[-1])
    return result
