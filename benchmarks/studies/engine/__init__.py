"""The engine's time and proofs beside Viterbi, beams and integer-programming solvers."""

from collections.abc import Sequence

from benchmarks.methods import SETTINGS
from benchmarks.optimum import check_all
from benchmarks.studies.engine import decoding, memory, report
from benchmarks.study import Row, Study

DECODED = (decoding.CORA, decoding.UMASS, decoding.RESUME, decoding.GENERATED)


def check(rows: Sequence[Row]) -> None:
    """No score above a proved bound, and no two optima that differ."""
    check_all(rows, ("part", "data", "methods", "item"))


STUDY = Study(
    title="The exact engine",
    corpus="Cora references (development part; at full scale also those left over for training with HMMs of 20); UMass "
    "references (60, full: 660); every other résumé section (25, full: 110); generated documents of 30 to 2000 tokens and 5 "
    "to 60 labels, as noisy as it takes for half of the Viterbi labellings to break a rule (6 of each size, full: 20). Smoke: a "
    "sequence of each corpus, documents of 12 and 24 tokens",
    model="HMMs of 5, 20 and 300 Cora references, of all UMass training references, and of half of the résumés; scores of "
    "generated documents are drawn",
    rules="`citations`, alone and with the ten most telling counted implications; 240 mined soft rules for UMass; six kinds of "
    "résumé rules, soft and hard; four kinds of rules that generated documents keep",
    methods="`auto`, Viterbi, which ignores the rules, a bare Viterbi pass, which is given none, beams of 10 and 50 on every sequence. A beam of 200 on 5 sequences of each "
    "data set (1 document of each size; full: all). CBC, CP-SAT, HiGHS and SCIP on the whole integer program of 20 Cora references "
    "(HMM of 20) and 20 résumé sections with hard rules, and of 4 documents of each size of up to 90 000 columns (full: 50, and 10 of up to 450 000); not for UMass. "
    f"{SETTINGS}",
    limits="10 s a sequence, 0.8 s for UMass",
    seeds="the number of a generated document",
    measures="milliseconds of one thread, each method after a call that is not timed, on fresh scores, rules compiled from text once; "
    "calls of less than 30 ms are made up to three times and the median kept. Ratios to `auto` are of totals on the same sequences, "
    "which all methods of a cell decode one after the other. The unit of other multiples is a bare compiled Viterbi pass over the scores "
    "of the same sequence without rules, tables made beforehand, the fastest of five. Every labelling is verified, every proof of `auto` rechecked, "
    "and optima of all programs have to agree within 0.001 nats",
    parts=(*DECODED, memory.MEMORY),
    cells={**dict.fromkeys(DECODED, decoding.cells), memory.MEMORY: memory.cells},
    measure={**dict.fromkeys(DECODED, decoding.measure), memory.MEMORY: memory.measure},
    report={DECODED: report.decoding, memory.MEMORY: report.memory},
    check=check,
)
