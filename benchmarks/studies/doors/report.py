"""One table of everything in multiples of the bare pass, and a table of each part."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks.methods import PLAIN
from benchmarks.report import Cells, Report, groups, number, percent
from benchmarks.studies.doors import calls
from benchmarks.studies.doors.calls import BARE
from benchmarks.studies.doors.rivals import BATCH, LIMIT, LOST
from benchmarks.study import Row

SHORT = "In short"
PURPOSES: Mapping[str, str] = {
    calls.PADDED: "is for the batch of a network as it is",
    calls.LISTED: "is for sequences that were scored one by one, and needs no padding",
    calls.MANY: "is for trellises of any kind, also from a generator, and gives a solution of each",
    calls.ONE: "is for one sequence at a time in a running program: the rules are compiled once",
    calls.PLAIN: "is for a script: it has to find the compiled rules of each call",
    calls.LOGITS: "is for one sequence at a time that has no trellis yet",
}
PROGRAMS = {"cp-sat": "CP-SAT", "cbc": "CBC", "toulbar2": "toulbar2"}
DONE = ("optimal", "infeasible")
TIMES: Cells = {
    "ms": lambda x: number(x.spent.iloc[0] * x.sequences.iloc[0] / 1000),
    "µs a sentence": lambda x: number(x.spent.iloc[0]),
    "× bare pass": lambda x: number((x.spent / x.bare).iloc[0]),
}
Line = tuple[str, float, float]
"""What is timed, its microseconds a sequence and its multiple of the bare pass."""


def page(rows: Sequence[Row], report: Report) -> None:
    """Everything in one table, which other pages quote."""
    report.heading(SHORT)
    report.text(
        "A sequence through every entrance, and through other programs, under the most rules of the sections below, which tell what each line "
        "is. × is the multiple of the bare pass over the same sequences in the same cell of the run. Medians; × of solvers is of totals."
    )
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(row["part"], []).append(row)
    frames = {part: DataFrame(some) for part, some in parts.items()}
    lines = [(name, *map(number, values)) for name, *values in _lines(frames)]
    report.table(("what", "µs a sequence", "× bare pass"), lines)


def _lines(parts: Mapping[str, DataFrame]) -> Iterator[Line]:
    """A line for each way under the most rules, the median of its cells, and for each solver."""
    for part in ("batches", "rivals"):
        if part in parts:
            for (way,), own in groups(_most_rules(parts[part]), "way"):
                if (part, way) != ("rivals", BARE):
                    yield way, own.spent.median(), (own.spent / own.bare).median()
    if "solvers" in parts:
        some = beside(_most_rules(parts["solvers"]))
        for (name,), rows in groups(some[some.seconds.notna()], "program"):
            yield f"{name}, same rules", 1e6 * rows.seconds.median(), _total(rows)


def _most_rules(frame: DataFrame) -> DataFrame:
    return frame[frame.rules == frame.rules.max()] if "rules" in frame else frame


def beside(frame: DataFrame) -> DataFrame:
    """Rows of solvers, with the seconds of a bare pass and of `auto` on the same sequence in the same cell."""
    place = ["data", "rules", "item"]
    for method, name in ((PLAIN, "bare"), ("auto", "auto")):
        own = frame[frame.method == method].set_index(place).seconds.rename(name)
        frame = frame.join(own, on=place)
    frame = frame[frame.method.isin(list(PROGRAMS))]
    return frame.assign(program=frame.method.map(PROGRAMS))


def _total(frame: DataFrame) -> float:
    return float(frame.seconds.sum() / frame.bare.sum())


def batches(frame: DataFrame, report: Report) -> None:
    report.heading("All sentences of a tagger")
    some = frame[frame.way == BARE]
    broken = " and ".join(
        f"{percent(1 - row.nothing_broken / row.sequences, 0)} % of the sentences without rules break the scheme or one of {row.rules} rules"
        for row in some.itertuples()
    )
    report.text(
        f"{some.sequences.iloc[0]} sentences, {some.tokens.iloc[0]} tokens, one thread. The best labellings of {broken}. Every way ends "
        "with the label ids of all sentences, which are the same, and whose proofs are rechecked. Milliseconds are of all sentences together."
    )
    report.pivot(frame, {"entrance": "way", "rules": "rules"}, TIMES)
    report.text("\n".join(f"- {name} {purpose}." for name, purpose in PURPOSES.items()))


def rivals(frame: DataFrame, report: Report) -> None:
    report.heading("Programs without rules")
    report.text(
        "Each program decodes all sentences in turns with `decode_scores`; what it reads is made beforehand, and it ends with the label ids of all. "
        "numpy is the recursion that one writes oneself, hmmlearn its HMM whose log likelihoods are the emissions, pytorch-crf the layer on padded "
        f"batches of {BATCH} in single precision on one thread. CRFsuite takes no scores: its tagger has a model of its own with a feature for each "
        "label, whose value is the score of the label, and learnt transitions."
    )
    cells: Cells = {
        **TIMES,
        "below the optimum, nats": lambda x: number(x.lost.iloc[0], 2) if x.way.iloc[0] in lossy else "0",
    }
    lossy = set(frame.way[frame.lost.notna()])
    report.pivot(frame[frame.way != BARE], {"beside": "data", "program": "way"}, cells)
    report.text(
        f"Labels may be at most {LOST:g} nats below the optimum of the scores that a program is given; "
        "those of `decode_scores` are proved."
    )


def solvers(frame: DataFrame, report: Report) -> None:
    report.heading("Programs with the same rules")
    some = beside(frame)
    cells: Cells = {
        "optimal": lambda x: f"{x.status.isin(DONE).sum()} of {len(x)}",
        "failed": lambda x: int(x.status.isin(["failed", "cannot state"]).sum()),
        "median ms": lambda x: number(1000 * x.seconds.median()),
        "`ilpinfer.decode`, ms": lambda x: number(1000 * x.auto.median()),
        "time over it": lambda x: number(x.seconds.sum() / x.auto[x.seconds.notna()].sum()),
        "× bare pass": lambda x: number(_total(x[x.seconds.notna()])),
    }
    report.pivot(some, {"program": "program", "rules": "rules"}, cells, left=1)
    open_ = some[~some.status.isin(DONE)]
    report.text(
        f"Some of the sentences, {LIMIT:g} s each, one thread, building the model included; multiples are of totals on the same sentences, and "
        f"lower bounds where fewer are optimal than were tried. {len(open_)} of {len(some)} ended without an optimum; all optima equal that of `auto`."
    )
    notes = open_.note.dropna().unique() if "note" in open_ else np.array([])
    report.text("".join(f"- {note}\n" for note in notes))


WRITERS: Mapping[Any, Any] = {"batches": batches, "rivals": rivals, "solvers": solvers}
