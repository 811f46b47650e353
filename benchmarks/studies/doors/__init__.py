"""What a sequence costs through each entrance of the library, and through other programs."""

from collections.abc import Iterable, Sequence

from benchmarks.data.corpora import UMASS_RULES
from benchmarks.optimum import check_all
from benchmarks.studies.doors import calls, corpora, report, rivals
from benchmarks.studies.doors.tagger import LEAD, LENGTHS, NOISE, RULES, SENTENCES
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid

CORPORA, BATCHES, CALLS, THREADS, RIVALS, SOLVERS = PARTS = (
    "corpora", "batches", "calls", "threads", "rivals", "solvers",
)  # fmt: skip


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Sentences under so many rules, and calls on sentences of one length."""
    if part == CALLS:
        return grid(part, data=(calls.DECODED, calls.MADE))
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
    title="What a sequence costs",
    corpus=f"{corpora.SEQUENCES} references of Cora's and of UMass's development part and {corpora.SEQUENCES} résumé sections (smoke 1), for solvers "
    f"{' and '.join(f'{count} ({name})' for name, count in corpora.SOLVED.items())}; "
    f"{SENTENCES} made-up sentences (smoke 20) of {LENGTHS[0]} to {LENGTHS[1] - 1} tokens with BIO labels of four fields and `O`, "
    f"{calls.FEW} of 36 tokens and 13 labels, and {calls.FEW} of 32 tokens (smoke 2)",
    model="HMMs of 20 Cora references, of all UMass references for training and of every other résumé section; scores of a tagger: the planted "
    f"label {LEAD:g} nats above Gaussian noise of {NOISE:g} nats ({calls.CLEAR:g} for sentences of 36 tokens), "
    "transitions that are logarithms of probabilities",
    rules=f"`citations` for Cora, {UMASS_RULES} soft rules mined from the training part for UMass, six kinds of hard rules for résumés; the scheme and 2 "
    "or 6 rules, hard and soft, for sentences (smoke 2, full 2 to 6)",
    methods="references and résumés: `Decoder.decode` on words that the rules have met and on words that are new to them, Viterbi, beams of 10 and 50, CP-SAT and CBC, "
    "and the tagger of CRFsuite. Sentences: `decode_scores` on a padded array with a mask and on a list of arrays, `decode_many`, `Decoder.decode`, "
    "`ilpinfer.decode`, and trellises from emissions and logits; two threads. Without rules: numpy one by one and in "
    f"batches of {rivals.BATCH}, hmmlearn, pytorch-crf, CRFsuite. With the same rules, on 12 sentences (smoke 1, full 60): CP-SAT and CBC as "
    "methods of this library, and toulbar2",
    limits=f"{rivals.LIMIT:g} s a sequence for solvers, {corpora.LIMITS[corpora.UMASS]:g} s on UMass, and for beams the same; else none. Every optimum is rechecked, all "
    "entrances have to find the same labels",
    seeds="one of the sentences, one of the letters of new words",
    measures="references and résumés: mean milliseconds of processor time, with the time of a solver's own processes, the median of 5 rounds for ilpinfer and CRFsuite, one "
    "call for the others. Sentences: microseconds a sequence on one core, the median of 15 rounds (batches), 7 (programs without rules) or 31 (single "
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
        CORPORA: corpora.cells,
    },
    measure={
        BATCHES: calls.batches,
        CALLS: calls.single,
        THREADS: calls.threads,
        RIVALS: rivals.without_rules,
        SOLVERS: rivals.with_rules,
        CORPORA: corpora.measure,
    },
    report=report.WRITERS,
    check=check,
)
