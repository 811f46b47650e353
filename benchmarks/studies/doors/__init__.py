"""What a sequence costs through each entrance of the library, and through other programs."""

from collections.abc import Iterable, Sequence

from benchmarks.data.corpora import UMASS_RULES
from benchmarks.studies.doors import calls, corpora, rivals
from benchmarks.studies.doors.tagger import LEAD, LENGTHS, NOISE, RULES, SENTENCES
from benchmarks.study import Cell, Disagreement, Row, Sources, Study, grid

CORPORA, BATCHES, RIVALS = PARTS = ("corpora", "batches", "rivals")


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """Sentences under so many rules."""
    return grid(part, rules=sources(smoke=(2,), sample=(2, 6), full=range(2, 1 + len(RULES))))


def check(rows: Sequence[Row]) -> None:
    """No labelling of another program that is not an optimum."""
    for row in rows:
        if row.get("lost", 0.0) > rivals.LOST:
            raise Disagreement(f"{row['data']}, {row['way']}: labels lose {row['lost']} nats")


STUDY = Study(
    title="What a sequence costs",
    corpus=f"{corpora.SEQUENCES} references of Cora's and of UMass's development part and {corpora.SEQUENCES} résumé sections (smoke 1), for solvers "
    f"{' and '.join(f'{count} ({name})' for name, count in corpora.SOLVED.items())}; "
    f"{SENTENCES} made-up sentences (smoke 20) of {LENGTHS[0]} to {LENGTHS[1] - 1} tokens with BIO labels of four fields and `O`",
    model="HMMs of 20 Cora references, of all UMass references for training and of every other résumé section; scores of a tagger: the planted "
    f"label {LEAD:g} nats above Gaussian noise of {NOISE:g} nats, transitions that are logarithms of probabilities",
    rules=f"`citations` for Cora, {UMASS_RULES} soft rules mined from the training part for UMass, six kinds of hard rules for résumés; the scheme and 2 "
    "or 6 rules, hard and soft, for sentences (smoke 2, full 2 to 6)",
    methods="references and résumés: `Decoder.decode` on words that the rules have met and on words that are new to them, Viterbi, beams of 10 and 50, CP-SAT and CBC, "
    "and the tagger of CRFsuite. Sentences: `decode_scores` on a padded array with a mask and on a list of arrays, `decode_many`, `Decoder.decode`, "
    "`ilpinfer.decode`, and trellises from logits. Without rules: numpy one by one and in "
    f"batches of {rivals.BATCH}, hmmlearn, pytorch-crf, CRFsuite",
    limits=f"{corpora.LIMITS[corpora.CORA]:g} s a sequence for solvers, {corpora.LIMITS[corpora.UMASS]:g} s on UMass, and for beams the same; else none. Every optimum is rechecked, all "
    "entrances have to find the same labels",
    seeds="one of the sentences, one of the letters of new words",
    measures="references and résumés: mean milliseconds of processor time, with the time of a solver's own processes, the median of 5 rounds for ilpinfer and CRFsuite, one "
    "call for the others. Sentences: microseconds a sequence on one core, the median of 15 rounds (batches) or 7 (programs without rules) "
    "after one that is not timed, in which all ways take turns, in reverse order every other round; multiples of the bare compiled "
    "Viterbi pass over the same scores, into which rules on single tokens and steps are folded, with its tables and memory made beforehand. All by processor time",
    stand_ins="a program that is not installed is not measured, which its table says; numpy alone is always there",
    parts=PARTS,
    cells={CORPORA: corpora.cells, BATCHES: cells, RIVALS: rivals.cells},
    measure={CORPORA: corpora.measure, BATCHES: calls.batches, RIVALS: rivals.without_rules},
    report={CORPORA: corpora.report, BATCHES: calls.report, RIVALS: rivals.report},
    check=check,
)
