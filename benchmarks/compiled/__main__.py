"""Certified decoding with compiled rules beside a bare Viterbi pass: `python -m benchmarks.compiled [DATA]`.

DATA is the folder of the corpora; without it only generated documents are decoded. Everything runs on one core but what
is said to run on two, and each table's ways take turns. A multiple is that of a sequence's own bare pass. Batches and long documents are timed by processor time, all else by the clock.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from benchmarks.compiled import singles
from benchmarks.compiled.lines import HEAD, Line
from benchmarks.compiled.rivals import rivals
from benchmarks.compiled.singles import Sequences, of_tokens, of_trellises, single
from benchmarks.compiled.starting import starting
from benchmarks.compiled.threads import threads
from benchmarks.data.corpora import CORA_SIZES, RIVALS_SIZE
from benchmarks.data.sets import SCALES, Scale
from benchmarks.machine import header
from formulations.problem.problem import RuleNotice

TOKENS = {"median": 2.5, "p90": 5.0}
SECTIONS = ("cora", "umass", "long", "threads", "rivals", "starting")


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser("python -m benchmarks.compiled", description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="?", help="folder of the corpora")
    parser.add_argument("--scale", choices=SCALES, default="full", help="how much is run")
    parser.add_argument("--parts", default=",".join(SECTIONS), help="parts, separated by commas")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", RuleNotice)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        print(header())
        for line in tables(options.data, SCALES[options.scale], options.parts.split(","), cores):
            print(line, flush=True)
    finally:
        os.sched_setaffinity(0, cores)
    return 0


def tables(data: Path | None, scale: Scale, sections: list[str], cores: set[int]) -> Iterator[object]:
    """Every line of every table."""
    if data and "cora" in sections:
        for size in CORA_SIZES:
            yield from cora(singles.cora(data, size, scale), 5.0 if size == min(CORA_SIZES) else 2.0, scale)
    if data and "umass" in sections:
        yield from umass(singles.umass(data, scale), scale)
    if "long" in sections:
        for noise, most in ((singles.QUIET, 2.0), (singles.NOISY, 60.0)):
            yield from long(singles.long(noise, scale), most, scale)
    if "threads" in sections:
        many = singles.cora(data, RIVALS_SIZE, scale) if data else singles.long(singles.QUIET, scale)
        yield from threads(many, scale, cores)
    if data and "rivals" in sections:
        yield from rivals(singles.cora(data, RIVALS_SIZE, scale), scale)
    if "starting" in sections:
        yield from starting(scale)


def cora(sequences: Sequences, most: float, scale: Scale) -> Iterator[object]:
    """Single calls, and a batch of 1000."""
    yield f"\n{sequences}\n{HEAD}"
    starts = {
        "tokens to Solution": (of_tokens, TOKENS),
        "tokens to labels": (singles.of_tokens_to_labels, {}),
        "Trellis to Solution": (of_trellises, {"median": 4.0}),
    }
    yield from single(sequences, starts, scale(31, 5))
    yield from single(sequences, {"tokens to Solution, every field read": (singles.read_whole, {})}, 5)
    yield from singles.batch(sequences, scale(1000, 100), most, scale(15, 3))


def umass(sequences: Sequences, scale: Scale) -> Iterator[object]:
    """Single calls, and a beam of 10 on the same references."""
    yield f"\n{sequences}\n{HEAD}"
    starts = {"tokens to Solution": (of_tokens, {"median": 6.0}), "beam of 10": (singles.beam_of_10, {})}
    lines: list[Line] = list(single(sequences, starts, 3))
    yield from lines
    ours, beam = (1e3 * line.decoded.sum() for line in lines)
    verdict = "met" if ours < beam else "NOT met"
    yield f"in all {ours:.1f} ms, a beam of 10 {beam:.1f} ms; target below it: {verdict}"


def long(sequences: Sequences, most: float, scale: Scale) -> Iterator[object]:
    """Single calls on long documents, by processor time: nothing of it is spent in other processes."""
    yield f"\n{sequences}\n{HEAD}"
    yield from single(
        sequences, {"Trellis to Solution": (of_trellises, {"median": most})}, scale(5, 2), time.process_time
    )


if __name__ == "__main__":
    raise SystemExit(main())
