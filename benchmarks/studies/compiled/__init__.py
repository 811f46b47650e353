"""A proved labelling in multiples of a bare compiled Viterbi pass over the same folded scores."""

from collections.abc import Iterable

from benchmarks.data.corpora import CORA_SIZES, RIVALS_SIZE, train_and_dev
from benchmarks.studies.compiled import calls, report
from benchmarks.studies.compiled.calls import BLOCKS
from benchmarks.study import SCALES, Cell, Sources, Study, grid

CORA, UMASS, THREADS = PARTS = ("cora", "umass", "threads")


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Sequences of a part by name and number."""
    train_and_dev(sources.folder, UMASS if part == UMASS else CORA)
    data, counts = {
        CORA: ([f"HMM of {size}" for size in sources(smoke=(RIVALS_SIZE,), sample=CORA_SIZES)], (1, 1, 1)),
        UMASS: (["mined rules"], (1, 4, BLOCKS)),
        THREADS: ([f"HMM of {RIVALS_SIZE}"], (1, 5, 20)),
    }[part]
    return grid(part, data=data, number=range(sources(**dict(zip(SCALES, counts, strict=True)))))


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
    measure={CORA: calls.cora, UMASS: calls.umass, THREADS: calls.threads},
    report={(CORA, UMASS): report.decoding, THREADS: report.threads},
)
