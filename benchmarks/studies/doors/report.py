"""A table of each part, in multiples of the bare pass."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks.methods import PLAIN
from benchmarks.report import Cells, Report, number, percent
from benchmarks.studies.doors import calls, corpora
from benchmarks.studies.doors.calls import BARE
from benchmarks.studies.doors.rivals import BATCH, LIMIT, LOST

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


def pieces(frame: DataFrame) -> DataFrame:
    """A line for each time, with its multiple of the bare pass."""
    each = frame.explode(["spent", "bare"], ignore_index=True).astype({"spent": float, "bare": float})
    return each.assign(multiple=each.spent / each.bare)


def beside(frame: DataFrame) -> DataFrame:
    """Rows of solvers, with the seconds of a bare pass and of `auto` on the same sequence in the same cell."""
    place = ["data", "rules", "item"]
    if "method" not in frame:
        return DataFrame(columns=[*place, "method", "status", "seconds", "bare", "auto", "program"])
    for method, name in ((PLAIN, "bare"), ("auto", "auto")):
        own = frame[frame.method == method].set_index(place).seconds.rename(name)
        frame = frame.join(own, on=place)
    frame = frame[frame.method.isin(list(PROGRAMS))]
    return frame.assign(program=frame.method.map(PROGRAMS))


def _total(frame: DataFrame) -> float:
    return float(frame.seconds.sum() / frame.bare.sum())


def _absences(frame: DataFrame) -> str:
    """The programs that were not there, and why; one that an earlier part of the run did not find may have been found since."""
    if "absent" not in frame:
        return ""
    away = frame[frame.absent.fillna("") != ""]
    found = set(frame.data[frame.absent == ""])
    notes = {str(row.data): str(row.absent) for row in away.itertuples() if row.data not in found}
    return "".join(f"- {PROGRAMS.get(name, name)}: not measured, {note}.\n" for name, note in notes.items())


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
    cells: Cells = {
        "ms": lambda x: number(x.spent.iloc[0] * x.sequences.iloc[0] / 1000),
        "µs a sentence": lambda x: number(x.spent.iloc[0]),
        "× bare pass": lambda x: number((x.spent / x.bare).iloc[0]),
    }
    report.pivot(frame, {"entrance": "way", "rules": "rules"}, cells)
    report.text("\n".join(f"- {name} {purpose}." for name, purpose in PURPOSES.items()))


def _each(frame: DataFrame, by: Mapping[str, str], report: Report, more: Cells | None = None) -> None:
    """Medians of single calls."""
    cells: Cells = {
        "number": lambda x: len(pieces(x)),
        **(more or {}),
        "bare pass, µs": lambda x: number(pieces(x).bare.median()),
        "µs a call": lambda x: number(pieces(x).spent.median()),
        "× median": lambda x: number(pieces(x).multiple.median()),
        "× 90th percentile": lambda x: number(pieces(x).multiple.quantile(0.9)),
    }
    report.pivot(frame, by, cells)


def single(frame: DataFrame, report: Report) -> None:
    report.heading("Single calls")
    report.text(
        "The first line has the scheme, one run of each field and a longest run as rules, all of which hold without them. The others make a "
        "trellis from arrays, a list of label names and a list of tokens, and decode nothing."
    )
    _each(frame, {"call": "way", "sentences": "data"}, report)


def threads(frame: DataFrame, report: Report) -> None:
    report.heading("Two threads")
    cells: Cells = {
        "µs a sentence, one thread": lambda x: number(x["1"].min()),
        "µs a sentence, two threads": lambda x: number(x["2"].min()),
        "times as many": lambda x: number(x["1"].min() / x["2"].min()),
    }
    report.pivot(frame, {"entrance": "way"}, cells)
    report.text(
        "By the clock, the best of several rounds in each of several cells, since other programs take a core in many of them; trellises are ready."
    )


def rivals(frame: DataFrame, report: Report) -> None:
    report.heading("Programs without rules")
    report.text(
        "Each program decodes all sentences in turns with `decode_scores`; what it reads is made beforehand, and it ends with the label ids of all. "
        "numpy is the recursion that one writes oneself, hmmlearn its HMM whose log likelihoods are the emissions, pytorch-crf the layer on padded "
        f"batches of {BATCH} in single precision on one thread. CRFsuite takes no scores: its tagger has a model of its own with a feature for each "
        "label, whose value is the score of the label, and learnt transitions."
    )
    measured = frame[frame.way.notna()] if "way" in frame else frame[:0]
    cells: Cells = {
        "ms": lambda x: number(x.spent.iloc[0] * x.sequences.iloc[0] / 1000),
        "µs a sentence": lambda x: number(x.spent.iloc[0]),
        "× bare pass": lambda x: number((x.spent / x.bare).iloc[0]),
        "below the optimum, nats": lambda x: number(x.lost.iloc[0], 2) if x.way.iloc[0] in lossy else "0",
    }
    lossy = set(measured.way[measured.lost.notna()]) if "lost" in measured else set()
    report.pivot(measured[measured.way != BARE], {"beside": "data", "program": "way"}, cells)
    failed = frame[frame.failed.notna()] if "failed" in frame else frame[:0]
    report.text("".join(f"- {row.data}: failed, {row.failed}\n" for row in failed.itertuples()))
    report.text(_absences(frame))
    report.text(
        f"{len(failed)} of these programs failed. Labels may be at most {LOST:g} nats below the optimum of the scores that a program is given; "
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
    report.text(_absences(frame))
    open_ = some[~some.status.isin(DONE)]
    report.text(
        f"Some of the sentences, {LIMIT:g} s each, one thread, building the model included; multiples are of totals on the same sentences, and "
        f"lower bounds where fewer are optimal than were tried. {len(open_)} of {len(some)} ended without an optimum; all optima equal that of `auto`."
    )
    notes = open_.note.dropna().unique() if "note" in open_ else np.array([])
    report.text("".join(f"- {note}\n" for note in notes))


WRITERS: Mapping[Any, Any] = {
    "corpora": corpora.report,
    "batches": batches,
    "calls": single,
    "threads": threads,
    "rivals": rivals,
    "solvers": solvers,
}
