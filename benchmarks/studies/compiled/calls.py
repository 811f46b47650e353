"""Single calls, batches and threads."""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice

import numpy as np

import ilpinfer
from benchmarks import optimum
from benchmarks.data import prepared
from benchmarks.data.corpora import RIVALS_SIZE
from benchmarks.data.prepared import Prepared
from benchmarks.data.synthetic import repeated
from benchmarks.study import Cell, Row, Sources
from benchmarks.timing import Clock, Seconds, Work, one_core, time_rounds, timed, viterbi_calls
from formulations import Trellis
from ilpinfer.core.solution import Solution

LENGTH, SIZE = 2000, 60
NOISES = (0.5, 1.2, 1.5, 1.9)
"""Standard deviations of emissions, in nats: with 0.5 no field has too many runs, with 1.9 three quarters of them."""
BLOCKS, BEAM = 16, 4
"""Of UMass references; a beam decodes one reference of so many."""
BATCH, THREADS, ROUNDS = 1000, (1, 2), 7
SECONDS, STEPS = 20.0, (0.0, 1.0)
"""Limit of a document under soft limits, and standard deviations of its scores of steps, in nats."""
WAYS = ("calls", "whole", "batches")
TOKENS, LABELS, TRELLIS = "tokens to solution", "tokens to labels", "trellis to solution"
WHOLE, TEXTS, TRELLISES = "tokens to solution, every field read", "batch of tokens", "batch of trellises"
BEAM_OF_10 = "beam of 10, tokens to solution"
NOTHING, COMPILED, ENGINE = "nothing broken", "multipliers or label setting", "the engine"


def cora(sources: Sources, cell: Cell) -> Iterable[Row]:
    """Single calls, solutions read whole, or batches."""
    some = prepared.cora(sources.folder, int(cell.data.split()[-1]))
    repeats = sources(smoke=1, sample=31)
    if cell.ways == "batches":
        return batches(some, sources(smoke=100, sample=BATCH), min(15, repeats))
    if cell.ways == "whole":
        return single(some, {WHOLE: read_whole}, 5)
    return single(some, {TOKENS: of_tokens, LABELS: of_tokens_to_labels, TRELLIS: of_trellises}, repeats)


def umass(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Single calls, and a beam of 10 in one call on some of the same references."""
    some = prepared.umass(sources.folder).every(BLOCKS, cell.number)
    yield from single(some, {TOKENS: of_tokens}, sources(smoke=1, sample=5))
    few = some.every(BEAM)
    beam = ilpinfer.Decoder(some.rules, model=some.decoder.model, method="beam", width=10)
    works: dict[str, list[Work]] = {
        TOKENS: of_tokens(few),
        BEAM_OF_10: [partial(beam.decode_tokens, t.tokens) for t in few.trellises],
    }
    beam.decode(few.trellises[0])
    with one_core():
        seconds = {
            name: sum(timed(piece, clock=time.process_time)[1] for piece in pieces)
            for name, pieces in works.items()
        }
    yield {
        "way": "beam",
        "sequences": len(few.trellises),
        "optimal": sum(beam.decode(one).score == some.decoder.decode(one).score for one in few.trellises),
        "milliseconds": 1000 * seconds[TOKENS],
        "beam_milliseconds": 1000 * seconds[BEAM_OF_10],
    }


def long(sources: Sources, cell: Cell) -> Iterator[Row]:
    """A long document, with the number of labels that have too many runs without the rule."""
    one = prepared.document(LENGTH, SIZE, float(cell.data.split()[-1]), cell.number)
    broken = repeated(ilpinfer.decode(one.trellises[0], method="viterbi").ids)
    repeats = sources(smoke=1, sample=5)
    for row in single(one, {TRELLIS: of_trellises}, repeats, time.process_time):
        yield row | {"broken": broken}


def limits(sources: Sources, cell: Cell) -> Iterator[Row]:
    """A long document under soft limits, decoded once within seconds of the clock."""
    seconds = sources(smoke=1.0, sample=SECONDS)
    one = prepared.limits(LENGTH, SIZE, cell.data, cell.steps, cell.number, seconds)
    [trellis], [bare] = one.trellises, viterbi_calls(one.trellises, one.rules)
    with one_core():
        unit = min(timed(bare, clock=time.process_time)[1] for _ in range(ROUNDS))
        solution, spent = timed(one.decoder.decode, trellis, clock=time.process_time)
    optimum.recheck(trellis, one.rules, solution)
    yield {
        "way": "limits",
        "bare": unit,
        "decoded": spent,
        "status": solution.status,
        "gap": solution.gap,
        "violations": sum(solution.violations.values()),
    }


def _all(decoder: ilpinfer.Decoder, trellises: Sequence[Trellis], threads: int) -> object:
    return list(decoder.decode_many(trellises, threads=threads))


def threads(sources: Sources, cell: Cell) -> Iterator[Row]:
    """Sequences a second by one thread and by two: the best of several rounds, as both cores are free in few of them."""
    some = prepared.cora(sources.folder, RIVALS_SIZE)
    trellises = list(islice(cycle(some.trellises), sources(smoke=50, sample=BATCH)))
    works: dict[str, list[Work]] = {str(n): [partial(_all, some.decoder, trellises, n)] for n in THREADS}
    spent = time_rounds(works, sources(smoke=1, sample=ROUNDS), choice=np.min)
    yield {"way": "threads"} | {name: len(trellises) / float(seconds[0]) for name, seconds in spent.items()}


def single(
    some: Prepared,
    ways: Mapping[str, Callable[[Prepared], Sequence[Work]]],
    repeats: int,
    clock: Clock = time.perf_counter,
) -> Iterator[Row]:
    """A row for each way to begin, with the microseconds of each sequence."""
    works = {name: make(some) for name, make in ways.items()}
    with one_core():
        spent = time_rounds({"bare": viterbi_calls(some.trellises, some.rules), **works}, repeats, clock)
    about = _about(some)
    for name in ways:
        yield {"way": name, **_microseconds(spent["bare"], spent[name]), **about}


def batches(some: Prepared, number: int, repeats: int) -> Iterator[Row]:
    """So many sequences in one call, from trellises and from tokens; the unit is as many passes, one after the other."""
    trellises = list(islice(cycle(some.trellises), number))
    texts = [trellis.tokens for trellis in trellises]
    units = list(islice(cycle(viterbi_calls(some.trellises, some.rules)), number))
    works: dict[str, list[Work]] = {
        "bare": [lambda: [unit() for unit in units]],
        TRELLISES: [lambda: list(some.decoder.decode_many(trellises))],
        TEXTS: [lambda: list(some.decoder.decode_texts(texts))],
    }
    with one_core():
        spent = time_rounds(works, repeats, time.process_time)
    for name in list(works)[1:]:
        yield {"way": name, **_microseconds(spent["bare"] / number, spent[name] / number)}


def of_tokens(some: Prepared) -> list[Work]:
    return [partial(some.decoder.decode_tokens, trellis.tokens) for trellis in some.trellises]


def of_trellises(some: Prepared) -> list[Work]:
    return [partial(some.decoder.decode, trellis) for trellis in some.trellises]


def of_tokens_to_labels(some: Prepared) -> list[Work]:
    decode = some.decoder.decode_tokens

    def labels(tokens: Sequence[str]) -> object:
        return decode(tokens).labels

    return [partial(labels, trellis.tokens) for trellis in some.trellises]


def read_whole(some: Prepared) -> list[Work]:
    """From token texts to a Solution of which every field is read."""

    def work(tokens: Sequence[str]) -> object:
        solution = some.decoder.decode_tokens(tokens)
        return solution.labels, solution.violations, solution.certificate

    return [partial(work, trellis.tokens) for trellis in some.trellises]


def route(solution: Solution) -> str:
    """What was enough for a proof: Viterbi's labelling, the kernels of compiled rules, or the engine behind them."""
    if solution.method == "auto: viterbi":
        return NOTHING
    kernels = r"auto: (\d+ multipliers?)?(, )?(label setting over \d+ machines?)?"
    return COMPILED if re.fullmatch(kernels, solution.method) else ENGINE


def _about(some: Prepared) -> Row:
    """What the sequences are, how many are proved, and what it took."""
    solutions = [
        optimum.recheck(trellis, some.rules, some.decoder.decode(trellis)) for trellis in some.trellises
    ]
    return {
        "tokens": sum(map(len, some.trellises)),
        "labels": len(some.trellises[0].labels),
        "rules": len(some.rules),
        "proved": sum(solution.status == "optimal" for solution in solutions),
        "routes": dict(Counter(map(route, solutions))),
    }


def _microseconds(bare: Seconds, decoded: Seconds) -> Row:
    assert math.isfinite(float(bare.sum() + decoded.sum()))
    return {"bare": np.round(1e6 * bare, 2).tolist(), "decoded": np.round(1e6 * decoded, 2).tolist()}
