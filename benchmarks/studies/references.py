"""Making references, and checking them from their tables alone and with the meaning of rules, beside decoding."""

from collections.abc import Iterable, Iterator

from pandas import DataFrame

import ilpinfer
from benchmarks import optimum
from benchmarks.data.synthetic import ruled
from benchmarks.report import Cells, Report, number
from benchmarks.study import Cell, Disagreement, Row, Sources, Study
from benchmarks.timing import least, one_core, viterbi_calls
from formulations import RuleSet
from ilpinfer import checker
from ilpinfer.references.making import make
from ilpinfer.references.verification import verify

SIZES = ((20, 9, 1.0), (50, 12, 1.0), (100, 24, 1.5), (200, 30, 1.0), (200, 30, 2.0))
REPEATS = 3
TIMES = ("bare", "decode", "make", "tables", "meaning")


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """Generated problems."""
    for T, K, noise in sources(smoke=SIZES[:1], sample=SIZES[1:]):
        for seed in range(sources(smoke=1, sample=3, full=20)):
            yield Cell(part=part, tokens=T, labels=K, noise=noise, seed=seed)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    trellis, rules = ruled(cell.tokens, cell.labels, cell.noise, cell.seed)
    decoder = ilpinfer.Decoder(RuleSet(tuple(rules)), trellis.labels)
    solution = optimum.recheck(trellis, decoder.rules, decoder.decode(trellis))
    reference = make(trellis, rules)
    record = reference.to_dict()
    checks = {"tables": lambda: checker.check(record), "meaning": lambda: verify(reference, "meaning")}
    with one_core():
        seconds = {
            "bare": least(viterbi_calls([trellis], decoder.rules)[0], 10 * REPEATS),
            "decode": least(lambda: decoder.decode(trellis), 10 * REPEATS),
            "make": least(lambda: make(trellis, rules), 1),
            **{name: least(check, REPEATS) for name, check in checks.items()},
        }
    if not verify(reference, "meaning"):
        raise Disagreement(f"a reference is not confirmed: {cell}")
    leaves = solution.certificate.cost.leaves
    yield {"leaves": leaves, **{name: 1000 * seconds[name] for name in TIMES}}


def report(frame: DataFrame, report: Report) -> None:
    report.heading("Milliseconds of processor time")
    report.text("Means over seeds; the ratio is that of the check from tables to decoding.")
    times = ("bare pass", "decode", "make", "check from tables", "check with the meaning")
    cells: Cells = {
        "problems": len,
        ("leaves", *times): lambda x: map(number, x[["leaves", *TIMES]].mean()),
        "tables × decode": lambda x: number(x.tables.mean() / x.decode.mean()),
    }
    report.pivot(frame, {name: name for name in ("tokens", "labels", "noise")}, cells, left=1)
    report.text(
        f"All {len(frame)} references are confirmed. The slowest check from tables, in plain Python, takes {number(frame.tables.max())} ms, "
        f"the slowest check with the meaning of rules {number(frame.meaning.max())} ms."
    )


STUDY = Study(
    title="Checks of references",
    corpus="generated sequences of 50 to 200 tokens with fields in runs (smoke one of 20 tokens; sample 3, full 20 of each size)",
    model="12 to 30 labels; planted labels score 4 nats more, under Gaussian noise of 1 to 2 nats; random transitions",
    rules="at most one run of eight labels, 1.5 nats each; one label before another, 2 nats; one label requires another, 1 nat",
    methods="`auto`; `ilpinfer reference make`; the checker of tables, which imports the standard library alone; `reference verify` "
    "with the meaning of rules",
    seeds="0, 1, …",
    measures="milliseconds of processor time on one core, the least of 3 runs (decoding and bare pass 30, making one) after one that "
    "is not timed; unit: a bare pass of the same problem",
    parts=("generated",),
    timed=True,
)
