"""Weighted constraint satisfaction, constrained HMMs, constraint programs, PuLP and a CRF layer on the same instances."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.optimum import check_all
from benchmarks.studies.peers import decoding, instances, layer, report
from benchmarks.study import Disagreement, Row, Study

SINGLE_PRECISION = 1e-2
"""Nats that labels from scores in single precision may lose."""


MODULES: Mapping[str, Any] = {
    **dict.fromkeys(decoding.PEERS, decoding),
    layer.LAYER: layer,
    instances.INSTANCES: instances,
}
"""What has the cells of each part, and measures them."""


def check(rows: Sequence[Row]) -> None:
    """No two optima that differ."""
    check_all(rows, ("part", "data", "item"))
    for row in rows:
        if row.get("lost", 0.0) > SINGLE_PRECISION:
            raise Disagreement(f"{row['data']}: labels of the CRF layer lose {row['lost']} nats")


STUDY = Study(
    title="Other programs",
    corpus="Cora and UMass references (development parts), résumé sections, and generated documents of 60 tokens with 5, 13 and "
    "27 labels; 3 sequences of each (full: 30, also 120 and 240 tokens, and 60 labels; smoke: a document of 12 tokens). For the "
    "CRF layer 128 documents of 40 or 200 tokens (smoke: 4)",
    model="HMMs of 20 Cora references, of all UMass training references, and of half of the résumés; scores of generated "
    "documents are drawn, as noisy as it takes for half of the Viterbi labellings to break a rule, or with a deviation of 2 nats for "
    "the layer",
    rules="`citations`; ten counted implications more; each field once, hard; 240 mined soft rules for UMass; résumé rules, soft and "
    "hard; rules that generated documents keep",
    methods="toulbar2 (pytoulbar2) with each rule as a chain of states, by depth-first search without preprocessing; conin's constrained "
    "HMM by its integer program on CBC and by its A* search; CPMpy on CP-SAT with this library's settings; PuLP as a newcomer writes "
    "the rules, on CBC; the batched Viterbi of a CRF layer in PyTorch, which takes no rules. Beside them `auto`, and Viterbi without "
    "rules",
    limits=f"{decoding.LIMIT:g} s a sequence, which conin's integer program does not keep; programs of at most "
    f"{decoding.MOST_COLUMNS} columns but for toulbar2",
    seeds="the number of a generated document",
    measures="milliseconds of one thread, each method after a call that is not timed, building the model included; optimal where a program says "
    "so. Optima have to agree within 0.001 nats, as has a program's value of its labelling",
    parts=tuple(MODULES),
    cells={part: module.cells for part, module in MODULES.items()},
    measure={part: module.measure for part, module in MODULES.items()},
    report={
        tuple(decoding.PEERS): report.decoding,
        layer.LAYER: report.layer,
        instances.INSTANCES: report.instances,
    },
    check=check,
    timed=True,
)
