"""Single calls and threads, in multiples of the bare pass."""

from pandas import DataFrame

from benchmarks.report import Cells, Report, fixed, groups, number
from benchmarks.studies.compiled.calls import TOKENS

TITLES = {"cora": "Cora", "umass": "UMass"}


def decoding(rows: DataFrame, report: Report) -> None:
    single, beam = rows[rows.way != "beam"], rows[rows.way == "beam"]
    _single(single.assign(title=single.part.map(TITLES) + ", " + single.data), report)
    if len(beam):
        _beam(beam, report)


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
    report.pivot(frame, {"sequences": "title", "from, to": "way"}, cells)
    first = frame[frame.way == TOKENS]
    for (part,), own in groups(first, "part"):
        medians = [calls(some).multiple.median() for _, some in groups(own, "title")]
        span = " to ".join(dict.fromkeys(number(value, 2) for value in (min(medians), max(medians))))
        report.text(
            f"{TITLES[part]}, from token texts to a proved labelling: {span} bare passes in the median."
        )
    report.text(f"{int(first.proved.sum())} of {len(calls(first))} labellings are proved.")


def _beam(frame: DataFrame, report: Report) -> None:
    count, optimal, ours, beam = frame[["sequences", "optimal", "milliseconds", "beam_milliseconds"]].sum()
    report.heading("A beam of 10", 3)
    report.text(
        f"On {count:.0f} UMass references proved labellings took {number(ours)} ms in all, a beam of 10 {number(beam)} ms: "
        f"{number(beam / ours)} times as long. The beam reached {optimal:.0f} of the {count:.0f} optima."
    )


def threads(frame: DataFrame, report: Report) -> None:
    one, two = (frame[name].max() for name in ("1", "2"))
    report.heading("Two threads")
    report.text(
        f"Batches of Cora references, {frame.data.iloc[0]}: one thread decodes {one:.0f} sequences a second, two threads "
        f"{two:.0f}, {number(two / one)} times as many."
    )
