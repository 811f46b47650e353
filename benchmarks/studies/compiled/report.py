"""Single calls, batches, threads, files and first calls, in multiples of the bare pass."""

from collections import Counter

import numpy as np
from pandas import DataFrame

from benchmarks.report import Cells, Report, fixed, groups, number, percent
from benchmarks.studies.compiled.calls import (
    COMPILED,
    ENGINE,
    LABELS,
    NOTHING,
    TEXTS,
    TOKENS,
    TRELLIS,
    TRELLISES,
    WHOLE,
)
from benchmarks.studies.compiled.files import NUMPY

TITLES = {"cora": "Cora", "umass": "UMass", "long": "documents"}
FEW = 5.0
TICKS = (1, 2, 5, 10, 100, 1000, 10_000)
SINGLE = (TOKENS, LABELS, TRELLIS, WHOLE)
SEQUENCES = {"sequences": "title"}


def decoding(rows: DataFrame, report: Report) -> None:
    timed, beam = rows[rows.way != "beam"], rows[rows.way == "beam"]
    timed = timed.assign(title=timed.part.map(TITLES) + ", " + timed.data)
    single = timed[timed.way.isin(SINGLE)]
    if len(single):
        _single(single, report)
        _routes(single, report)
        _documents(single[single.part == "long"], report)
        _picture(single[single.way == TOKENS], report)
    if len(beam):
        _beam(beam, report)
    _batches(timed[timed.way.isin([TEXTS, TRELLISES])], report)


def threads(frame: DataFrame, report: Report) -> None:
    one, two = (frame[name].max() for name in ("1", "2"))
    report.heading("Two threads")
    report.text(
        f"Batches of Cora references, {frame.data.iloc[0]}: one thread decodes {one:.0f} sequences a second, two threads "
        f"{two:.0f}, {number(two / one)} times as many."
    )


def limits(frame: DataFrame, report: Report) -> None:
    report.heading("Long documents under soft limits")
    report.text(
        f"Random scores of tokens; those of steps are 0, or random with a standard deviation of a nat. Soft limits on the numbers of runs "
        f"of 40 labels, and on the lengths of runs of ten others. A document counts as proved within {FEW:g} s by processor time."
    )
    cells: Cells = {
        "number": len,
        ("proved", f"within {FEW:g} s"): lambda x: [
            int(done.sum()) for done in (x.status == "optimal", (x.status == "optimal") & (x.decoded <= FEW))
        ],
        "largest gap, nats": lambda x: number(x.gap.max()),
        "bare pass, ms": lambda x: number(1000 * x.bare.median()),
        "× median": lambda x: number((x.decoded / x.bare).median()),
    }
    frame = frame.assign(scores=["random" if steps else "0" for steps in frame.steps])
    report.pivot(frame, {"limits": "data", "scores of steps": "scores"}, cells)


def calls(frame: DataFrame) -> DataFrame:
    """A line for each sequence, with its multiple of the bare pass."""
    each = frame.explode(["bare", "decoded"], ignore_index=True).astype({"bare": float, "decoded": float})
    return each.assign(multiple=each.decoded / each.bare)


def _single(frame: DataFrame, report: Report) -> None:
    report.heading("Single calls")
    report.text(
        "The unit is the bare pass of the same sequence. The mean is the multiple of all passes together, "
        "which the slowest sequences rule."
    )

    def multiples(some: DataFrame) -> list[str]:
        each = calls(some)
        values = [each.multiple.quantile(share) for share in (0.5, 0.9, 1.0)]
        return [number(x, 3 if x >= 10 else 2) for x in (*values, each.decoded.sum() / each.bare.sum())]

    cells: Cells = {
        "number": lambda x: len(calls(x)),
        "tokens": lambda x: fixed(x.tokens.sum() / len(calls(x)), 0),
        ("labels", "rules"): lambda x: [int(x[name].iloc[0]) for name in ("labels", "rules")],
        ("bare pass, µs", "decoded, µs"): lambda x: map(number, calls(x)[["bare", "decoded"]].median()),
        ("× median", "× 90th percentile", "× at most", "× mean"): multiples,
    }
    report.pivot(frame[frame.part != "long"], SEQUENCES | {"from, to": "way"}, cells)
    for (part,), own in groups(frame[frame.way == TOKENS], "part"):
        medians = [calls(some).multiple.median() for _, some in groups(own, "title")]
        span = " to ".join(dict.fromkeys(number(value, 2) for value in (min(medians), max(medians))))
        report.text(
            f"{TITLES[part]}, from token texts to a proved labelling: {span} bare passes in the median."
        )


def _routes(frame: DataFrame, report: Report) -> None:
    """Of sequences, not of ways: their first way is taken."""
    report.heading("What proofs take", 3)
    first = frame[frame.way == frame.groupby("title").way.transform("first")]

    def shares(some: DataFrame) -> list[str]:
        total: Counter[str] = sum(map(Counter, some.routes), Counter())
        return [percent(total[name] / total.total(), 0) for name in (NOTHING, COMPILED, ENGINE)]

    cells: Cells = {
        "number": lambda x: len(calls(x)),
        tuple(f"{name} %" for name in (NOTHING, COMPILED, ENGINE)): shares,
        "proved": lambda x: int(x.proved.sum()),
    }
    report.pivot(first, SEQUENCES, cells)
    report.text(f"{int(first.proved.sum())} of {len(calls(first))} labellings are proved.")


def _documents(frame: DataFrame, report: Report) -> None:
    if not len(frame):
        return
    report.heading("Long documents", 3)
    cells: Cells = {
        "number": len,
        "labels with too many runs": lambda x: fixed(x.broken.mean(), 0),
        ("bare pass, ms", "decoded, ms"): lambda x: map(
            number, calls(x)[["bare", "decoded"]].median() / 1000
        ),
        "× median": lambda x: number(calls(x).multiple.median()),
    }
    report.pivot(frame, {"documents": "data"}, cells)


def _picture(frame: DataFrame, report: Report) -> None:
    if not len(frame):
        return
    title = "Share of sequences that are proved within a multiple of the bare pass, from token texts"
    with report.picture("multiples", title) as axes:
        for (name,), own in groups(frame, "title"):
            each = np.sort(calls(own).multiple)
            axes.step(each, 100 * np.arange(1, len(each) + 1) / len(each), where="post", label=name)
        axes.set_xscale("log")
        axes.set_xticks(TICKS, map(str, TICKS))
        axes.set_xlabel("time of a proved labelling in multiples of the sequence's bare Viterbi pass")
        axes.set_ylabel("sequences, %")
        axes.legend(frameon=False)


def _beam(frame: DataFrame, report: Report) -> None:
    count, optimal, ours, beam = frame[["sequences", "optimal", "milliseconds", "beam_milliseconds"]].sum()
    report.heading("A beam of 10", 3)
    report.text(
        f"On {count:.0f} UMass references proved labellings took {number(ours)} ms in all, a beam of 10 {number(beam)} ms: "
        f"{number(beam / ours)} times as long. The beam reached {optimal:.0f} of the {count:.0f} optima."
    )


def _batches(frame: DataFrame, report: Report) -> None:
    if not len(frame):
        return
    report.heading("Batches")
    report.text(
        "Many sequences in one call and one thread; the unit is as many bare passes, one after the other."
    )
    cells: Cells = {
        ("bare pass, µs", "a sequence, µs"): lambda x: map(number, calls(x)[["bare", "decoded"]].median()),
        "×": lambda x: number(calls(x).decoded.median() / calls(x).bare.median()),
    }
    report.pivot(frame, SEQUENCES | {"way": "way"}, cells)


def files(frame: DataFrame, report: Report) -> None:
    report.heading("Commands on files")
    report.text(
        f"{frame.sequences.iloc[0]} references as columns, rows with certificates. The unit is a program that runs already and writes labels alone: it "
        "reads the lines, decodes them, and makes JSON. Commands begin with the start of Python."
    )
    columns = {"seconds of the processor": "processor", "×": "over_least"}
    values: Cells = {tuple(columns): lambda x: map(number, x[[*columns.values()]].iloc[0])}
    report.pivot(frame, {"": "command"}, values)


def starting(frame: DataFrame, report: Report) -> None:
    report.heading("First calls")
    alone, own = (frame[(frame.data == NUMPY) == which] for which in (True, False))
    if len(alone):
        report.text(f"The import of numpy alone takes {number(alone.seconds.iloc[0], 2)} s.")
    columns = {
        "seconds": "seconds",
        "of the processor": "processor",
        "seconds over numpy's import": "over_numpy",
    }
    cells: Cells = {
        tuple(columns): lambda x: [number(x[name].iloc[0], 2) for name in columns.values()],
        "how": lambda x: x.method.iloc[0].removeprefix("auto: "),
    }
    report.pivot(own, {"rules": "data"}, cells)
