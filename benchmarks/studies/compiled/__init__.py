"""A proved labelling in multiples of a bare compiled Viterbi pass over the same folded scores; commands on files; first calls."""

from collections.abc import Iterable

from benchmarks.data.corpora import CORA_SIZES, RIVALS_SIZE, train_and_dev
from benchmarks.data.synthetic import LENGTHS
from benchmarks.studies.compiled import calls, files, report
from benchmarks.studies.compiled.calls import BLOCKS, LENGTH, NOISES, SECONDS, SIZE, STEPS
from benchmarks.study import SCALES, Cell, Row, Sources, Study, grid

CORA, UMASS, LONG, LIMITS, THREADS, FILES, STARTING = PARTS = (
    "cora", "umass", "long", "limits", "threads", "files", "starting",
)  # fmt: skip
MEASURES = {
    CORA: calls.cora,
    UMASS: calls.umass,
    LONG: calls.long,
    LIMITS: calls.limits,
    THREADS: calls.threads,
}


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Sequences of a part by name and number, and for Cora the ways in which they are decoded."""
    if part not in (LONG, LIMITS, STARTING):
        train_and_dev(sources.folder, UMASS if part == UMASS else CORA)
    data, counts = {
        CORA: ([f"HMM of {size}" for size in sources(smoke=(RIVALS_SIZE,), sample=CORA_SIZES)], (1, 1, 1)),
        UMASS: (["mined rules"], (1, 4, BLOCKS)),
        LONG: ([f"noise {noise}" for noise in sources(smoke=NOISES[:1], sample=NOISES)], (1, 3, 10)),
        LIMITS: (list(LENGTHS), (1, 3, 10)),
        THREADS: ([f"HMM of {RIVALS_SIZE}"], (1, 5, 20)),
        FILES: ([f"HMM of {CORA_SIZES[-1]}"], (1, 1, 1)),
        STARTING: (sources(smoke=[files.NUMPY], sample=list(files.CASES)), (1, 1, 1)),
    }[part]
    ways = sources(smoke=("calls", "batches"), sample=calls.WAYS) if part == CORA else [""]
    number = sources(**dict(zip(SCALES, counts, strict=True)))
    steps = sources(smoke=STEPS[:1], sample=STEPS) if part == LIMITS else [0.0]
    return grid(part, data=data, number=range(number), ways=ways, steps=steps)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    if cell.part == STARTING:
        return files.first_calls(cell.data, 1 if sources.scale == "smoke" else 5)
    if cell.part == FILES:
        return files.measure(sources)
    return MEASURES[cell.part](sources, cell)


STUDY = Study(
    title="Compiled rules",
    corpus="the 100 references of Cora's development part (all scales); UMass references of the development part in "
    f"{BLOCKS} blocks (smoke 1, sample 4, full all 660); generated documents of {LENGTH} tokens in which each of "
    f"{SIZE} labels has one run (smoke 1; sample 3, full 10 at each of four noises); documents of as many tokens with random scores (smoke 1, sample 3, full 10 of each kind); files of 20 000 references (smoke 100), those of Cora one after the other",
    model="HMMs of 5, 20 and 300 Cora references (smoke 20) and of all UMass references for training; planted scores "
    "under Gaussian noise",
    rules="`citations` for Cora; 240 soft rules mined from the training part for UMass; at most one run of each label, "
    "5 nats, for documents; at a nat each for documents of random scores, limits on the numbers of runs of 40 labels, "
    "and on the lengths of those of ten others",
    methods="`auto` from token texts and from trellises, in single calls, in batches of 1000 and in two threads; a beam "
    "of 10 with the same compiled rules, in one call on every fourth reference; a bare compiled Viterbi pass over the "
    "scores into which rules on single tokens and steps are folded, with its tables and memory made beforehand",
    limits=f"{SECONDS:g} s of the clock for documents of random scores (smoke 1 s), else none; every optimum is rechecked, with limits of the checker",
    measures="microseconds of a call, the median of 31 (Cora), 5 (UMass, documents) or 15 rounds (batches) after one "
    "that is not timed, in which all ways take turns, in reverse order every other round; multiples of the bare pass of "
    "the same sequence. One core. Batches and documents by "
    "processor time, in which other work on the machine does not count; short calls by the clock, as processor time takes half a "
    "microsecond to read; two threads by the clock, the least of 7 rounds in each of several cells (smoke 1, sample 5, full 20). Files: seconds of the processor of a command with all of its "
    "processes, beside those of a program that runs already, the median of 3 rounds (full 5) after one that is not counted. First calls: "
    "seconds from the start of the import to the solution in a new process, by the clock and of the processor, the median "
    "of 5 in turns with the import of numpy alone",
    parts=PARTS,
    report={
        (CORA, UMASS, LONG): report.decoding,
        LIMITS: report.limits,
        THREADS: report.threads,
        FILES: report.files,
        STARTING: report.starting,
    },
    timed=True,
)
