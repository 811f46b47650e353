"""The report: what every search reaches, by limit and over time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, NullLocator
from pandas import DataFrame

from benchmarks.report import COLORS, Cells, Report, groups, number, percent
from benchmarks.studies.searches import outcomes
from benchmarks.studies.searches.contenders import BEAMS, DEPTH_FIRST, EXACT, OPTIMUM
from benchmarks.studies.searches.measuring import NATS
from benchmarks.studies.searches.outcomes import CAP, gap_at, longest, of, profiles

STYLES: Mapping[str, tuple[str, str]] = {
    EXACT: (COLORS[6], "-"),
    "beam 10": (COLORS[4], ":"),
    "beam 50": (COLORS[4], "-"),
    "lds": (COLORS[5], "--"),
    "lds, admissible": (COLORS[0], "-"),
    "evolutionary": (COLORS[1], "--"),
    "hybrid": (COLORS[1], ":"),
    "hybrid, strong": (COLORS[1], "-"),
}
MOMENTS = np.geomspace(0.0005, 0.8, 40)


def draw(table: DataFrame, report: Report) -> None:
    """Two pictures, with what is in them."""
    report.text(
        f"Mean gap of the incumbent over time, with the longest limit. A gap counts {CAP:g} nats at most, and so does a missing "
        "labelling. Dashed black: how far the bound of the exact engine is above the optimum; where the two meet, the "
        "optimum is proved."
    )
    last = longest(table)
    families = {family: own for (family,), own in groups(last, "family")}
    rows = -(-len(families) // 3)
    shape = {"nrows": rows, "ncols": min(3, len(families)), "squeeze": False, "sharey": True}
    caption = "Mean gap of incumbents, and of the engine's bound, over time"
    with report.picture("anytime", caption, (10.5, 0.6 + 2.6 * rows), **shape) as drawn:
        for axis, (family, own) in zip(drawn.ravel(), families.items(), strict=False):
            _over_time(axis, own)
            axis.set_title(f"{family} ({own.key.nunique()})")
        for axis in drawn.ravel()[len(families) :]:
            axis.set_visible(False)
        for axes, name in ((drawn[:, 0], "ylabel"), (drawn[-1], "xlabel")):
            for axis in axes:
                axis.set(**{name: "mean gap, nats" if name == "ylabel" else "milliseconds"})
        handles, labels = drawn[0, 0].get_legend_handles_labels()
        drawn[0, 0].figure.legend(handles, labels, loc="outside right upper", frameon=False)
    report.text(
        "Performance profiles (Dolan and Moré 2002) over all these sequences: the share on which a method has the optimum within so many times the time "
        "of the fastest method shown. Where a curve ends, it has no further optima within the longest limit."
    )
    with report.picture("profiles", "Performance profiles of the time to the optimum", (8, 4)) as axis:
        shown = list(profiles(last[last.method.isin(list(STYLES))]))
        most = max((own.iloc[-1] for _, own, _ in shown if len(own)), default=1.0)
        for name, own, count in shown:
            shares = [(n + 1) / count for n in range(len(own))]
            if len(own):
                axis.plot([*own, most], [*shares, shares[-1]], drawstyle="steps-post", **_look(name))
        labels = {"xlabel": "times the fastest method's time", "ylabel": "share of sequences"}
        axis.set(xscale="log", ylim=(0, 1.02), **labels)
        axis.figure.legend(loc="outside right upper", frameon=False)


def _over_time(axis: Any, last: DataFrame) -> None:
    moments = [moment for moment in MOMENTS if moment <= last.limit.max()]
    for name in STYLES:
        if len(own := of(last, name)):
            axis.plot(*_bends(moments, [gap_at(own, moment) for moment in moments]), **_look(name))
    bounds = [gap_at(of(last, EXACT), moment, bound=True) for moment in moments]
    look = {"color": "black", "linestyle": "--", "linewidth": 1.6, "label": "bound of the exact engine"}
    axis.plot(*_bends(moments, bounds), **look)
    axis.set(xscale="log")
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set_ylim(-0.02, 1.3 * CAP)
    for side in (axis.xaxis, axis.yaxis):
        side.set_minor_locator(NullLocator())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _bends(moments: Sequence[float], gaps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Milliseconds and gaps without the points between two equal ones, for smaller pictures."""
    last = len(gaps) - 1
    kept = [n for n in range(len(gaps)) if n in (0, last) or len({*gaps[n - 1 : n + 2]}) > 1]
    return [1000 * moments[n] for n in kept], [gaps[n] for n in kept]


def _look(name: str) -> dict[str, Any]:
    color, style = STYLES[name]
    width = 2.2 if name == EXACT else 1.3
    return {"color": color, "linestyle": style, "linewidth": width, "label": name}


RATIOS = (1, 2, 10, 100)
METHOD = {"method": "method"}


def report(rows: DataFrame, report: Report) -> None:
    known, table = rows[rows.method == OPTIMUM], outcomes.outcomes(rows)
    if len(table):
        _summary(known, table, report)
        for (family,), own in groups(known, "family"):
            _family(own, table[table.family == family], report)
        report.heading("Gaps over time")
        draw(table, report)
        last = outcomes.longest(table)
        _profiles(last, report)
        _beside_beams(last, report)


def _summary(known: DataFrame, table: DataFrame, report: Report) -> None:
    counts = known.status.value_counts(sort=False).drop("optimal", errors="ignore")
    ends = ", ".join(f"{count} {status}" for status, count in counts.items())
    report.heading("In short")
    report.text(
        f"{(known.status == 'optimal').sum()} of {len(known)} optima are proved within 60 s{f' ({ends})' if ends else ''}. A gap is how many nats a labelling scores below the "
        f"optimum. Where gaps of all sequences are averaged, one counts {outcomes.CAP:g} nats at most, and so does a sequence without a "
        "labelling that keeps the hard rules. The relative gap is a mean over labellings: the gap divided by the absolute score of the optimum. Callbacks record every incumbent, "
        "so that times of the exact engine are those of its general path; without a callback its compiled path is faster."
    )
    exact = outcomes.of(table, EXACT).groupby("limit").optimal.mean()
    shares = ", ".join(f"{percent(share, 0)} % with {1000 * limit:g} ms" for limit, share in exact.items())
    last = outcomes.longest(table[table.method != EXACT]).groupby("method", sort=False)
    gaps, reached, missed = last.capped.mean(), last.optimal.mean(), last.optimal.agg(lambda x: (~x).sum())
    nearest, most = gaps.idxmin(), reached.idxmax()
    usual = ["Viterbi", "beam 10", "beam 50"]
    report.text(
        f"- The exact engine has the optimum of {shares}.\n"
        f"- The heuristic with the smallest mean gap with {1000 * exact.index[-1]:g} ms is {nearest}: {number(gaps[nearest])} nats, and "
        f"{percent(reached[nearest], 0)} % of the optima. The one with most optima is {most}: {percent(reached[most], 0)} %.\n"
        f"- The mean gap of Viterbi is {number(gaps['Viterbi'])} nats, that of a beam of 10 {number(gaps['beam 10'])}, and "
        f"of a beam of 50 {number(gaps['beam 50'])}; they miss {missed['Viterbi']}, {missed['beam 10']} and "
        f"{missed['beam 50']} of {last.size()[usual[0]]} optima."
    )


def _family(known: DataFrame, table: DataFrame, report: Report) -> None:
    T, K, rules = known["T"], known["K"].iloc[0], known.rules.iloc[0]
    report.heading(known.family.iloc[0])
    report.text(f"{len(known)} sequences of {T.min()} to {T.max()} tokens, {K} labels, {rules} rules.")
    if not len(table):
        report.text("No optimum is proved.")
        return
    limits, last = sorted(table.limit.unique()), outcomes.longest(table)
    report.text("Share of optima that is reached, and mean gap in nats, by limit:")

    def by_limit(column: str, text: Callable[[float], str]) -> Callable[[DataFrame], list[str]]:
        return lambda x: [text(x[column][x.limit == limit].mean()) for limit in limits]

    cells: Cells = {
        tuple(f"optimum %, {1000 * limit:g} ms" for limit in limits): by_limit(
            "optimal", lambda x: percent(x, 0)
        ),
        tuple(f"gap, {1000 * limit:g} ms" for limit in limits): by_limit("capped", number),
    }
    report.pivot(table, METHOD, cells)
    report.text("With the longest limit (milliseconds are medians):")
    more: Cells = {
        "no labelling %": lambda x: percent(x.gap.isna().mean(), 0),
        "gap of labellings, nats": lambda x: number(x.gap.mean()),
        "relative gap %": lambda x: number(100 * x.relative.mean()),
        "violations": lambda x: x.violations.sum(),
        "sequences with any %": lambda x: percent((x.violations > 0).mean(), 0),
        "ms": lambda x: number(1000 * x.seconds.median()),
        "most ms": lambda x: number(1000 * x.seconds.max()),
        "ms to the first labelling": lambda x: number(1000 * x["first"].where(x.gap.notna()).median()),
    }
    report.pivot(last, METHOD, more)


def _profiles(last: DataFrame, report: Report) -> None:
    report.text(
        "The same in figures, for all methods, Viterbi among them: per cent of the sequences on which the optimum is there within so many times the fastest "
        "method's time, and at all:"
    )
    columns = ("method", *(f"× {ratio}" for ratio in RATIOS), "at all")
    report.table(
        columns,
        (
            (name, *(percent((own <= ratio).sum() / count, 0) for ratio in (*RATIOS, np.inf)))
            for name, own, count in outcomes.profiles(last)
        ),
    )


def _beside_beams(last: DataFrame, report: Report) -> None:
    report.heading("Discrepancy search beside beam search")
    report.text(
        "Stokman 2011, section 4.2.2, gives three advantages over a beam, without figures: an earlier first labelling, better pruning, and a labelling "
        "in the end. Here, in per cent of the sequences with the longest limit: its first labelling comes before the beam's; "
        "it ends nearer to the optimum, or further from it; there is no labelling."
    )

    def shares(search: str, beam: str) -> list[str]:
        a, b = outcomes.paired(outcomes.of(last, search), outcomes.of(last, beam))
        sooner = a.gap.notna() & a["first"].notna() & ~(a["first"] >= b["first"].where(b.gap.notna()))
        columns = (sooner, a.capped < b.capped - NATS, a.capped > b.capped + NATS, a.gap.isna(), b.gap.isna())
        return [percent(column.mean()) for column in columns]

    report.table(
        ("search", "beam", "first sooner", "nearer", "further", "none", "none, beam"),
        ((search, beam, *shares(search, beam)) for search in DEPTH_FIRST for beam in BEAMS),
        left=2,
    )
