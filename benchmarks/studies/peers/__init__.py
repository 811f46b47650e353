"""Weighted constraint satisfaction, constrained HMMs, constraint programs and PuLP on the same instances."""

from collections.abc import Sequence

from benchmarks.optimum import check_all
from benchmarks.studies.peers import decoding
from benchmarks.studies.peers.report import report
from benchmarks.study import Row, Study


def check(rows: Sequence[Row]) -> None:
    """No two optima that differ."""
    check_all(rows, ("part", "data", "item"))


STUDY = Study(
    title="Other programs",
    corpus="Cora and UMass references (development parts), résumé sections, and generated documents of 60 tokens with 5, 13 and "
    "27 labels; 3 sequences of each (full: 30, also 120 and 240 tokens, and 60 labels; smoke: a document of 12 tokens)",
    model="HMMs of 20 Cora references, of all UMass training references, and of half of the résumés; scores of generated "
    "documents are drawn, as noisy as it takes for half of the Viterbi labellings to break a rule",
    rules="`citations`; ten counted implications more; each field once, hard; 240 mined soft rules for UMass; résumé rules, soft and "
    "hard; rules that generated documents keep",
    methods="toulbar2 (pytoulbar2) on the cost network of `ilpinfer export --format wcsp`, a variable for each token and each rule as a chain of "
    "states, by depth-first search without preprocessing, and with its defaults; conin's constrained "
    "HMM by its integer program on CBC and by its A* search; CPMpy on CP-SAT with this library's settings; PuLP as a newcomer writes "
    "the rules, on CBC. Beside them `auto`, and Viterbi without rules",
    limits=f"{decoding.LIMIT:g} s a sequence, which conin's integer program does not keep; programs of at most "
    f"{decoding.MOST_COLUMNS} columns but for toulbar2",
    seeds="the number of a generated document",
    measures="milliseconds of one thread, each method after a call that is not timed, building the model included; optimal where a program says "
    "so. Optima have to agree within 0.001 nats, as has a program's value of its labelling",
    parts=tuple(decoding.PEERS),
    cells=decoding.cells,
    measure=decoding.measure,
    report=report,
    check=check,
)
