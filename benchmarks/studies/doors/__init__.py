"""What a sequence costs through each entrance of the library, and through other programs, in multiples of a bare Viterbi pass."""

from collections.abc import Iterable, Sequence

from benchmarks.optimum import check_all
from benchmarks.studies.doors import calls, report, rivals
from benchmarks.studies.doors.tagger import LEAD, LENGTHS, NOISE, RULES, SENTENCES
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid

BATCHES, RIVALS, SOLVERS = PARTS = ("batches", "rivals", "solvers")


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """All sentences under so many rules."""
    return grid(part, rules=sources(smoke=(2,), sample=(2, 6), full=range(2, 1 + len(RULES))))


def check(rows: Sequence[Row]) -> None:
    """No two optima that differ, and no labelling of another program that is not one."""
    check_all(rows, ("data", "rules", "item"))
    for row in rows:
        if row.get("lost", 0.0) > rivals.LOST:
            raise Disagreement(f"{row['data']}, {row['way']}: labels lose {row['lost']} nats")


STUDY = Study(
    title="Entrances",
    corpus=f"{SENTENCES} made-up sentences (smoke 20) of {LENGTHS[0]} to {LENGTHS[1] - 1} tokens with BIO labels of four fields and `O`",
    model=f"scores of a tagger: the planted label {LEAD:g} nats above Gaussian noise of {NOISE:g} nats, "
    "transitions that are logarithms of probabilities",
    rules="the scheme and 2 or 6 rules, hard and soft (smoke 2, full 2 to 6)",
    methods="`decode_scores` on a padded array with a mask and on a list of arrays, `decode_many`, `Decoder.decode`, `ilpinfer.decode`, "
    f"`from_logits`. Without rules: numpy in batches of {rivals.BATCH}, hmmlearn, pytorch-crf, CRFsuite. With the same rules, "
    "on 12 sentences (smoke 1, full 60): CP-SAT and CBC as methods of this library, and toulbar2",
    limits=f"{rivals.LIMIT:g} s a sentence for solvers, else none; every optimum on sentences is rechecked, all entrances have to find the same labels",
    seeds="one of the sentences",
    measures="microseconds a sequence on one core, the median of 15 rounds (entrances) or 7 (programs without rules) after one that is not "
    "timed, in which all ways take turns, in reverse order every other round; multiples of the bare compiled "
    "Viterbi pass over the same scores, into which rules on single tokens and steps are folded, with its tables and memory made beforehand. "
    "All sentences by processor time, solvers by the clock",
    stand_ins="a program that is not installed is not measured",
    parts=PARTS,
    cells={BATCHES: cells, RIVALS: rivals.cells_without_rules, SOLVERS: rivals.cells_with_rules},
    measure={BATCHES: calls.batches, RIVALS: rivals.without_rules, SOLVERS: rivals.with_rules},
    page=report.page,
    report=report.WRITERS,
    check=check,
)
