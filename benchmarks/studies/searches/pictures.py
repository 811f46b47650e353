"""Gaps over time, by limit, and profiles of the time to the optimum."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, NullLocator
from pandas import DataFrame

from benchmarks.report import COLORS, Report, groups
from benchmarks.studies.searches.contenders import EXACT
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
    """Three pictures, with what is in them."""
    report.text(
        f"Mean gap of the incumbent over time, with the longest limit. A gap counts {CAP:g} nats at most, and so does a missing "
        "labelling. Dashed black: how far the bound of the exact engine is above the optimum; where the two meet, the "
        "optimum is proved."
    )
    with _panels(
        report, "anytime", "Mean gap of incumbents, and of the engine's bound, over time", table
    ) as panels:
        for axis, own in panels:
            _over_time(axis, longest(own))
    report.text("Mean gap by time limit, each limit a run of its own:")
    with _panels(report, "limits", "Mean gap by time limit", table) as panels:
        for axis, own in panels:
            for name in own.method.unique():
                if name in STYLES:
                    gaps = of(own, name).groupby("limit").capped.mean()
                    axis.plot(1000 * gaps.index, gaps, **_look(name))
    report.text(
        "Performance profiles (Dolan and Moré 2002) over all these sequences: the share on which a method has the optimum within so many times the time "
        "of the fastest method shown. Where a curve ends, it has no further optima within the longest limit."
    )
    with report.picture("profiles", "Performance profiles of the time to the optimum", (8, 4)) as axis:
        last = longest(table)
        shown = list(profiles(last[last.method.isin(list(STYLES))]))
        most = max((own.iloc[-1] for _, own, _ in shown if len(own)), default=1.0)
        for name, own, count in shown:
            shares = [(n + 1) / count for n in range(len(own))]
            if len(own):
                axis.plot([*own, most], [*shares, shares[-1]], drawstyle="steps-post", **_look(name))
        axis.set(
            xscale="log",
            ylim=(0, 1.02),
            xlabel="times the fastest method's time",
            ylabel="share of sequences",
        )
        axis.figure.legend(loc="outside right upper", frameon=False)


def _over_time(axis: Any, last: DataFrame) -> None:
    moments = [moment for moment in MOMENTS if moment <= last.limit.max()]
    for name in STYLES:
        if len(own := of(last, name)):
            axis.plot(*_bends(moments, [gap_at(own, moment) for moment in moments]), **_look(name))
    bounds = [gap_at(of(last, EXACT), moment, bound=True) for moment in moments]
    look = {"color": "black", "linestyle": "--", "linewidth": 1.6, "label": "bound of the exact engine"}
    axis.plot(*_bends(moments, bounds), **look)


def _bends(moments: Sequence[float], gaps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Milliseconds and gaps without the points between two equal ones, for smaller pictures."""
    last = len(gaps) - 1
    kept = [n for n in range(len(gaps)) if n in (0, last) or len({*gaps[n - 1 : n + 2]}) > 1]
    return [1000 * moments[n] for n in kept], [gaps[n] for n in kept]


@contextlib.contextmanager
def _panels(
    report: Report, name: str, caption: str, table: DataFrame
) -> Iterator[list[tuple[Any, DataFrame]]]:
    """A panel for each family, with its rows; titles, labels and the legend at the end."""
    families = {family: own for (family,), own in groups(table, "family")}
    rows = -(-len(families) // 3)
    shape = {"nrows": rows, "ncols": min(3, len(families)), "squeeze": False, "sharey": True}
    with report.picture(name, caption, (10.5, 0.6 + 2.6 * rows), **shape) as drawn:
        panels = drawn.ravel()
        lines: dict[str, Any] = {}
        yield list(zip(panels, families.values(), strict=False))
        for axis, (family, own) in zip(panels, families.items(), strict=False):
            axis.set(title=f"{family} ({own.key.nunique()})", xscale="log")
            axis.set_yscale("symlog", linthresh=0.1)
            axis.set_ylim(-0.02, 1.3 * CAP)
            for side in (axis.xaxis, axis.yaxis):
                side.set_minor_locator(NullLocator())
                side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            handles, labels = axis.get_legend_handles_labels()
            lines |= dict(zip(labels, handles, strict=True))
        for axis in drawn[:, 0]:
            axis.set_ylabel("mean gap, nats")
        for axis in drawn[-1]:
            axis.set_xlabel("milliseconds")
        for axis in panels[len(families) :]:
            axis.set_visible(False)
        panels[0].figure.legend(lines.values(), lines.keys(), loc="outside right upper", frameon=False)


def _look(name: str) -> dict[str, Any]:
    color, style = STYLES[name]
    width = 2.2 if name == EXACT else 1.3
    return {"color": color, "linestyle": style, "linewidth": width, "label": name}
