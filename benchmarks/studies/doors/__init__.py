"""What a sequence costs through each entrance of the library, and through other programs, in multiples of a bare Viterbi pass."""

from collections.abc import Iterable, Sequence

from benchmarks.data.corpora import UMASS_RULES, train_and_dev
from benchmarks.optimum import check_all
from benchmarks.studies.doors import calls, report, rivals, words
from benchmarks.studies.doors.tagger import LEAD, LENGTHS, NOISE, RULES, SENTENCES
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid

BATCHES, CALLS, CORA, UMASS, THREADS, RIVALS, SOLVERS = PARTS = (
    "batches", "calls", words.CORA, words.UMASS, "threads", "rivals", "solvers",
)  # fmt: skip


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Sentences under so many rules, calls on sentences of one length, and blocks of references."""
    if part == CALLS:
        return grid(part, data=(calls.DECODED, calls.MADE))
    if part in (CORA, UMASS):
        train_and_dev(sources.folder, part)
        blocks = sources(smoke=1, sample=4, full=words.BLOCKS) if part == UMASS else 1
        return grid(part, number=range(blocks))
    if part == THREADS:
        return grid(part, rules=[len(RULES)], number=range(sources(smoke=1, sample=5, full=20)))
    return grid(part, rules=sources(smoke=(2,), sample=(2, 6), full=range(2, 1 + len(RULES))))


def check(rows: Sequence[Row]) -> None:
    """No two optima that differ, and no labelling of another program that is not one."""
    check_all(rows, ("data", "rules", "item"))
    for row in rows:
        if row.get("lost", 0.0) > rivals.LOST:
            raise Disagreement(f"{row['data']}, {row['way']}: labels lose {row['lost']} nats")


STUDY = Study(
    title="Entrances",
    corpus=f"{SENTENCES} made-up sentences (smoke 20) of {LENGTHS[0]} to {LENGTHS[1] - 1} tokens with BIO labels of four fields and `O`, "
    f"{calls.FEW} of 36 tokens and 13 labels, and {calls.FEW} of 32 tokens (smoke 2); the 100 references of Cora's development part (smoke 1), UMass references of the "
    f"development part in {words.BLOCKS} blocks (smoke 1 reference, sample 4 blocks, full all)",
    model=f"scores of a tagger: the planted label {LEAD:g} nats above Gaussian noise of {NOISE:g} nats ({calls.CLEAR:g} for sentences of 36 tokens), "
    "transitions that are logarithms of probabilities; HMMs of 20 Cora references and of all UMass references for training",
    rules=f"the scheme and 2 or 6 rules, hard and soft (smoke 2, full 2 to 6); `citations` for Cora; {UMASS_RULES} soft rules mined from the training part for UMass",
    methods="`decode_scores` on a padded array with a mask and on a list of arrays, `decode_many`, `Decoder.decode`, `ilpinfer.decode`, and trellises "
    "from emissions and logits; `Decoder.decode` on references with known and new words; two threads. Without rules: numpy one by one and in "
    f"batches of {rivals.BATCH}, hmmlearn, pytorch-crf, CRFsuite. With the same rules, on 12 sentences (smoke 1, full 60): CP-SAT and CBC as "
    "methods of this library, and toulbar2",
    limits=f"{rivals.LIMIT:g} s a sentence for solvers, else none; every optimum on sentences is rechecked, all entrances have to find the same labels",
    seeds="one of the sentences; the block of references for the letters of new words",
    measures="microseconds a sequence on one core, the median of 15 rounds (batches), 7 (references, programs without rules) or 31 (single "
    "calls) after one that is not timed, in which all ways take turns, in reverse order every other round; multiples of the bare compiled "
    "Viterbi pass over the same scores, into which rules on single tokens and steps are folded, with its tables and memory made beforehand. "
    "All sentences by processor time, single calls and solvers by the clock; two threads by the clock, the least of 7 rounds in each of several "
    "cells (smoke 1, sample 5, full 20)",
    stand_ins="a program that is not installed is not measured, which its table says; numpy alone is always there",
    parts=PARTS,
    cells={
        **dict.fromkeys(PARTS, cells),
        RIVALS: rivals.cells_without_rules,
        SOLVERS: rivals.cells_with_rules,
    },
    measure={
        BATCHES: calls.batches,
        CALLS: calls.single,
        CORA: words.measure,
        UMASS: words.measure,
        THREADS: calls.threads,
        RIVALS: rivals.without_rules,
        SOLVERS: rivals.with_rules,
    },
    page=report.page,
    report=report.WRITERS,
    check=check,
)
