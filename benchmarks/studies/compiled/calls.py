"""Single calls and threads."""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice

import numpy as np

import ilpinfer
from benchmarks import optimum
from benchmarks.data import prepared
from benchmarks.data.prepared import Prepared
from benchmarks.study import Cell, Row, Sources
from benchmarks.timing import Seconds, Work, one_core, time_rounds, timed, viterbi_calls
from formulations import Trellis

BLOCKS, BEAM = 16, 4
"""Of UMass references; a beam decodes one reference of so many."""
BATCH, THREADS, ROUNDS = 1000, (1, 2), 7
TOKENS, TRELLIS = "tokens to solution", "trellis to solution"


def cora(sources: Sources, cell: Cell) -> Iterable[Row]:
    some = prepared.cora(sources.folder, int(cell.data.split()[-1]))
    return single(some, (TOKENS, TRELLIS), sources(smoke=1, sample=31))


def umass(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Single calls, and a beam of 10 in one call on some of the same references."""
    some = prepared.umass(sources.folder).every(BLOCKS, cell.number)
    yield from single(some, (TOKENS,), sources(smoke=1, sample=5))
    few = some.every(BEAM)
    beam = ilpinfer.Decoder(some.rules, model=some.decoder.model, method="beam", width=10)
    beam.decode(few.trellises[0])
    with one_core():
        ours, others = (
            1000 * sum(timed(piece, clock=time.process_time)[1] for piece in of_tokens(decoder, few))
            for decoder in (some.decoder, beam)
        )
    yield {
        "way": "beam",
        "sequences": len(few.trellises),
        "optimal": sum(beam.decode(one).score == some.decoder.decode(one).score for one in few.trellises),
        "milliseconds": ours,
        "beam_milliseconds": others,
    }


def of_tokens(decoder: ilpinfer.Decoder, some: Prepared) -> list[Work]:
    return [partial(decoder.decode_tokens, trellis.tokens) for trellis in some.trellises]


def single(some: Prepared, ways: Sequence[str], repeats: int) -> Iterator[Row]:
    """A row for each way to begin, with the microseconds of each sequence, and how many sequences are proved."""
    works: dict[str, Sequence[Work]] = {
        "bare": viterbi_calls(some.trellises, some.rules),
        TOKENS: of_tokens(some.decoder, some),
        TRELLIS: [partial(some.decoder.decode, trellis) for trellis in some.trellises],
    }
    with one_core():
        spent = time_rounds({name: works[name] for name in ("bare", *ways)}, repeats)
    solutions = [
        optimum.recheck(trellis, some.rules, some.decoder.decode(trellis)) for trellis in some.trellises
    ]
    about = {
        "tokens": sum(map(len, some.trellises)),
        "labels": len(some.trellises[0].labels),
        "rules": len(some.rules),
        "proved": sum(solution.status == "optimal" for solution in solutions),
    }
    for name in ways:
        yield {
            "way": name,
            "bare": _microseconds(spent["bare"]),
            "decoded": _microseconds(spent[name]),
        } | about


def _microseconds(seconds: Seconds) -> list[float]:
    return [round(1e6 * each, 2) for each in seconds.tolist()]


def _all(decoder: ilpinfer.Decoder, trellises: Sequence[Trellis], threads: int) -> object:
    return list(decoder.decode_many(trellises, threads=threads))


def threads(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Sequences a second by one thread and by two: the best of several rounds, as both cores are free in few of them."""
    some = prepared.cora(sources.folder, int(cell.data.split()[-1]))
    trellises = list(islice(cycle(some.trellises), sources(smoke=50, sample=BATCH)))
    works: dict[str, list[Work]] = {str(n): [partial(_all, some.decoder, trellises, n)] for n in THREADS}
    spent = time_rounds(works, sources(smoke=1, sample=ROUNDS), choice=np.min)
    yield {"way": "threads"} | {name: len(trellises) / float(seconds[0]) for name, seconds in spent.items()}
