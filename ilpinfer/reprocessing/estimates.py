"""Estimates of the time of a run from its first sequences."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ilpinfer.corpus.examples import Example, Rejection
from ilpinfer.corpus.streams import ExampleStream
from ilpinfer.corpus.tables import PARQUET, count_rows
from ilpinfer.reprocessing.shards import Work, decode_examples
from ilpinfer.reprocessing.tables import PROVED

SAMPLE = 400
"""Number of sequences of an estimate, after a first sequence, whose time includes startup."""
SECONDS = 30.0
"""Time limit of an estimate in seconds, checked before each sequence."""


@dataclass(frozen=True)
class Estimate:
    """Estimate of a run from a sample: `total` sequences (None if unknown), and `rate`, sequences per second and process."""

    sequences: int
    proved: int
    rejected: int
    total: float | None
    rate: float

    def seconds(self, jobs: int) -> float | None:
        """Seconds of the run with this number of processes; None if unknown."""
        return None if self.total is None or not self.rate else self.total / (self.rate * jobs)


def estimate(stream: ExampleStream, work: Work) -> Estimate:
    rejected = count = 0

    def good() -> Iterator[Example]:
        nonlocal rejected, count
        for record in stream:
            if isinstance(record, Rejection):
                rejected += 1
            else:
                count += 1
                yield record

    examples = good()
    proved = sum(s.status in PROVED for _, s in decode_examples(islice(examples, 1), work, lambda: None))
    began = time.perf_counter()
    done = 0
    for _, solution in decode_examples(islice(examples, SAMPLE), work, lambda: None):
        done += 1
        proved += solution.status in PROVED
        if time.perf_counter() - began > SECONDS:
            break
    seconds = time.perf_counter() - began
    if next(examples, None) is None:
        total: float | None = float(count)
    else:
        total = _total(stream, count)
    return Estimate(
        done + (count > 0), proved, rejected, total, done / seconds if done else 1 / max(seconds, 1e-3)
    )


def _total(stream: ExampleStream, count: int) -> float | None:
    """Estimated number of sequences of the input, from the size of the first sequences, or the number of rows of tables."""
    if all(file.endswith(PARQUET) for file in stream.files):
        return float(sum(map(count_rows, stream.files)))
    return count * stream.total / stream.size if stream.total and stream.size else None
