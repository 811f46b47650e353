"""Gaps over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, NullLocator
from pandas import DataFrame

from benchmarks.report import COLORS, Report, groups
from benchmarks.studies.searches.contenders import EXACT
from benchmarks.studies.searches.outcomes import CAP, gap_at, longest, of

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
    """A picture, with what is in it."""
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
