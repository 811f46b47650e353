"""Two threads over one: batches on both cores."""

import os
from collections.abc import Iterator
from itertools import cycle, islice

from benchmarks.compiled.singles import Sequences
from benchmarks.compiled.timing import interleaved
from benchmarks.data import Scale

LEAST = 1.7
"""Times as many sequences a second as one thread."""


def threads(sequences: Sequences, scale: Scale, cores: set[int]) -> Iterator[str]:
    """Sequences a second by one thread and by two."""
    number, alone = scale(5000, 100), os.sched_getaffinity(0)
    trellises = list(islice(cycle(sequences.trellises), number))
    decode_many = sequences.decoder.decode_many
    os.sched_setaffinity(0, cores)
    try:
        works = {f"{n}": [lambda n=n: list(decode_many(trellises, threads=n))] for n in (1, 2)}
        spent = interleaved(works, scale(9, 3))
    finally:
        os.sched_setaffinity(0, alone)
    one, two = (number / float(spent[f"{n}"][0]) for n in (1, 2))
    verdict = "met" if two >= LEAST * one else "NOT met"
    yield f"\nBatch of {number} trellises on {len(cores)} cores, {sequences.name}"
    yield f"one thread {one:.0f} sequences a second, two threads {two:.0f}: {two / one:.2f} ×, target at least {LEAST}: {verdict}"
