"""A proved labelling in multiples of a bare compiled Viterbi pass over the same folded scores."""

import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks import optimum
from benchmarks.data import prepared
from benchmarks.data.corpora import CORA_SIZES, RIVALS_SIZE, train_and_dev
from benchmarks.data.prepared import Prepared
from benchmarks.report import Cells, Report, fixed, groups, number
from benchmarks.study import SCALES, Cell, Row, Sources, Study, grid
from benchmarks.timing import Seconds, Work, one_core, time_rounds, timed, viterbi_calls
from formulations import Trellis

CORA, UMASS, THREADS = PARTS = ("cora", "umass", "threads")
BLOCKS, BEAM = 16, 4
"""Of UMass references; a beam decodes one reference of so many."""
BATCH, NUMBERS, ROUNDS = 1000, (1, 2), 7
TOKENS, TRELLIS = "tokens to solution", "trellis to solution"


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Sequences of a part by name and number."""
    train_and_dev(sources.folder, UMASS if part == UMASS else CORA)
    data, counts = {
        CORA: ([f"HMM of {size}" for size in sources(smoke=(RIVALS_SIZE,), sample=CORA_SIZES)], (1, 1, 1)),
        UMASS: (["mined rules"], (1, 4, BLOCKS)),
        THREADS: ([f"HMM of {RIVALS_SIZE}"], (1, 5, 20)),
    }[part]
    return grid(part, data=data, number=range(sources(**dict(zip(SCALES, counts, strict=True)))))


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
    works: dict[str, list[Work]] = {str(n): [partial(_all, some.decoder, trellises, n)] for n in NUMBERS}
    spent = time_rounds(works, sources(smoke=1, sample=ROUNDS), choice=np.min)
    yield {"way": "threads"} | {name: len(trellises) / float(seconds[0]) for name, seconds in spent.items()}


TITLES = {"cora": "Cora", "umass": "UMass"}


def decoding(rows: DataFrame, report: Report) -> None:
    single, beam = rows[rows.way != "beam"], rows[rows.way == "beam"]
    _single(single.assign(title=single.part.map(TITLES) + ", " + single.data), report)
    if len(beam):
        _beam(beam, report)


def each_sequence(frame: DataFrame) -> DataFrame:
    """A line for each sequence, with its multiple of the bare pass."""
    each = frame.explode(["bare", "decoded"], ignore_index=True).astype({"bare": float, "decoded": float})
    return each.assign(multiple=each.decoded / each.bare)


def _single(frame: DataFrame, report: Report) -> None:
    report.heading("Single calls")
    report.text(
        "The unit is the bare pass of the same sequence. The mean is the multiple of all passes together, "
        "which the slowest sequences rule."
    )

    def multiples(some: DataFrame) -> list[str]:
        each = each_sequence(some)
        values = [each.multiple.quantile(share) for share in (0.5, 0.9, 1.0)]
        return [number(x, 3 if x >= 10 else 2) for x in (*values, each.decoded.sum() / each.bare.sum())]

    cells: Cells = {
        "number": lambda x: len(each_sequence(x)),
        "tokens": lambda x: fixed(x.tokens.sum() / len(each_sequence(x)), 0),
        ("labels", "rules"): lambda x: [int(x[name].iloc[0]) for name in ("labels", "rules")],
        ("bare pass, µs", "decoded, µs"): lambda x: map(
            number, each_sequence(x)[["bare", "decoded"]].median()
        ),
        ("× median", "× 90th percentile", "× at most", "× mean"): multiples,
    }
    report.pivot(frame, {"sequences": "title", "from, to": "way"}, cells)
    first = frame[frame.way == TOKENS]
    for (part,), own in groups(first, "part"):
        medians = [each_sequence(some).multiple.median() for _, some in groups(own, "title")]
        span = " to ".join(dict.fromkeys(number(value, 2) for value in (min(medians), max(medians))))
        report.text(
            f"{TITLES[part]}, from token texts to a proved labelling: {span} bare passes in the median."
        )
    report.text(f"{int(first.proved.sum())} of {len(each_sequence(first))} labellings are proved.")


def _beam(frame: DataFrame, report: Report) -> None:
    count, optimal, ours, beam = frame[["sequences", "optimal", "milliseconds", "beam_milliseconds"]].sum()
    report.heading("A beam of 10", 3)
    report.text(
        f"On {count:.0f} UMass references proved labellings took {number(ours)} ms in all, a beam of 10 {number(beam)} ms: "
        f"{number(beam / ours)} times as long. The beam reached {optimal:.0f} of the {count:.0f} optima."
    )


def two_threads(frame: DataFrame, report: Report) -> None:
    one, two = (frame[name].max() for name in ("1", "2"))
    report.heading("Two threads")
    report.text(
        f"Batches of Cora references, {frame.data.iloc[0]}: one thread decodes {one:.0f} sequences a second, two threads "
        f"{two:.0f}, {number(two / one)} times as many."
    )


STUDY = Study(
    title="Compiled rules",
    corpus="the 100 references of Cora's development part (all scales); UMass references of the development part in "
    f"{BLOCKS} blocks (smoke 1, sample 4, full all 660)",
    model="HMMs of 5, 20 and 300 Cora references (smoke 20) and of all UMass references for training",
    rules="`citations` for Cora; 240 soft rules mined from the training part for UMass",
    methods="`auto` from token texts and from trellises, in single calls, and in two threads; a beam "
    "of 10 with the same compiled rules, in one call on every fourth reference; a bare compiled Viterbi pass over the "
    "scores into which rules on single tokens and steps are folded, with its tables and memory made beforehand",
    limits="none; every optimum is rechecked, with limits of the checker",
    measures="microseconds of a call by the clock, the median of 31 (Cora) or 5 (UMass) rounds after one "
    "that is not timed, in which all ways take turns, in reverse order every other round; multiples of the bare pass of "
    "the same sequence. One core. Two threads by the clock, the least of 7 rounds in each of several cells (smoke 1, sample 5, full 20)",
    parts=PARTS,
    measure={CORA: cora, UMASS: umass, THREADS: threads},
    report={(CORA, UMASS): decoding, THREADS: two_threads},
)
