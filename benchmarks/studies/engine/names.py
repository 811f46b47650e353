"""Names of methods and data sets, as tables have them."""

from collections.abc import Mapping

from benchmarks.methods import AGAIN, PLAIN
from benchmarks.studies.engine.decoding import GENERATED

METHODS: Mapping[str, str] = {
    "auto": "`auto`",
    AGAIN: "`auto`, words met before",
    PLAIN: "bare Viterbi pass",
    "viterbi": "Viterbi",
    "beam 10": "beam of 10",
    "beam 50": "beam of 50",
    "beam 200": "beam of 200",
    "cbc": "CBC",
    "cp-sat": "CP-SAT",
    "highs": "HiGHS",
    "scip": "SCIP",
}
TITLES: Mapping[str, str] = {
    "cora 5": "Cora references, HMM of 5",
    "cora 20": "Cora references, HMM of 20",
    "cora 300": "Cora references, HMM of 300",
    "cora 5 implications": "HMM of 5, ten implications more",
    "cora 20 implications": "HMM of 20, ten implications more",
    "cora 300 implications": "HMM of 300, ten implications more",
    "umass": "UMass references, 240 mined rules, 0.8 s each",
    "resume soft": "résumé sections, soft rules",
    "resume hard": "résumé sections, hard rules",
    GENERATED: "generated documents of all lengths and sizes",
}
