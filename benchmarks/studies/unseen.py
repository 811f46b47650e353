"""What rules gain in HMMs of few and of many references, on the draws of other studies and on draws that no choice was made on."""

from collections.abc import Iterator

from pandas import DataFrame

from benchmarks.report import Report, draws_of, fixed, gain, groups
from benchmarks.studies.codl.cells import SUPERVISED, cell_of, measure
from benchmarks.studies.codl.tasks import BEST, CORA, LOWER, REXA, unlabelled
from benchmarks.study import Cell, Sources, Study

REPORTED, UNSEEN = "reported", "unseen"
FIRST = {REPORTED: 0, UNSEEN: 200}
"""The first draw of each part."""
SETTINGS = (
    (CORA, LOWER, 20, SUPERVISED),
    (REXA, LOWER, 20, "H&W&C"),
    (CORA, BEST, 20, SUPERVISED),
    (CORA, BEST, 20, "posterior"),
    (CORA, BEST, 300, SUPERVISED),
)
MEASURES = {"tokens": "token accuracy", "spans": "span F1"}


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    unlabelled(sources.folder)
    count = sources(smoke=1, sample=3) if part == REPORTED else sources(smoke=1, sample=10, full=50)
    for draw in range(FIRST[part], FIRST[part] + count):
        for corpus, kind, size, setting in sources(smoke=SETTINGS[:1], sample=SETTINGS):
            yield cell_of(part, corpus, kind, sources(smoke=5, sample=size), setting, draw)


def report(frame: DataFrame, report: Report) -> None:
    report.heading("Without and with rules in the end, %")
    report.text(
        "Gain: points, mean over draws ± standard error of the paired difference. The pool of H&W&C are other citations, that of the "
        "posterior the other references."
    )
    lines = [
        (
            f"{kind}, {size}",
            setting,
            name,
            part,
            len(none),
            *map(fixed, (none.mean(), soft.mean())),
            gain(soft, none),
        )
        for (kind, size, setting), own in groups(frame, "kind", "size", "setting")
        for measured, name in MEASURES.items()
        for (part,), some in groups(own, "part")
        for none, soft in [[draws_of(some, measured, rules=end) for end in ("none", "soft")]]
    ]
    columns = ("measure", "part", "draws", "no rules", "rules", "gain")
    report.table(("HMM, N", "learning", *columns), lines, left=4)


STUDY = Study(
    title="Headlines on unseen draws",
    source="Chang, Ratinov, Roth 2007; the headlines of the studies `codl` and `penalties`",
    corpus="Cora references; each draw takes N at random to learn from, and 100 others to measure on. Reported: draws 0 to 2, those of "
    "`codl` and `penalties`; unseen: the ten draws from 200 on (full: 50), on which nothing was chosen. All draws are of the same "
    "400 references",
    model="the plain and the best HMM of `codl`",
    rules="`citations`, 9.21 nats each; labels of the best HMM keep their scheme in every column",
    methods="sup: labelled references alone; H&W&C: rules in learning, γ = 0.9 of probabilities, 1000 citations of Rexa as the pool; "
    "posterior: the posterior under rules in the E-step, γ = 0.6 of counts, the other references as the pool. None of these is the default of "
    "`ilpinfer codl`, which chooses γ on folds. Rules in the end: exact decoding, every optimum rechecked",
    seeds="the number of the draw",
    measures="right tokens and F1 of exact spans in per cent, without and with rules in the end",
    parts=(REPORTED, UNSEEN),
    measure=measure,
)
