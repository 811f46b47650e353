"""Two threads over one: batches on both cores."""

import math
import os
import time
from collections.abc import Iterator
from itertools import cycle, islice

from benchmarks.compiled.singles import Sequences
from benchmarks.data.sets import Scale

THREADS = 1, 2
LEAST = 1.7
"""Times as many sequences a second as one thread."""


def threads(sequences: Sequences, scale: Scale, cores: set[int]) -> Iterator[str]:
    """Sequences a second by one thread and by two: the best of several rounds, as both cores are free in few of them."""
    number, alone = scale(5000, 1000, 100), os.sched_getaffinity(0)
    trellises = list(islice(cycle(sequences.trellises), number))
    best = dict.fromkeys(THREADS, math.inf)
    os.sched_setaffinity(0, cores)
    try:
        for _ in range(scale(25, 7, 2)):
            for n in THREADS:
                began = time.perf_counter()
                list(sequences.decoder.decode_many(trellises, threads=n))
                best[n] = min(best[n], time.perf_counter() - began)
    finally:
        os.sched_setaffinity(0, alone)
    one, two = (number / best[n] for n in THREADS)
    verdict = "met" if two >= LEAST * one else "NOT met"
    yield f"\nBatch of {number} trellises on {len(cores)} cores, {sequences.name}"
    yield f"one thread {one:.0f} sequences a second, two threads {two:.0f}: {two / one:.2f} ×, target at least {LEAST}: {verdict}"
