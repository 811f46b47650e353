"""The study's pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from pandas import DataFrame

from benchmarks.data.sets import RIVALS_LENGTH, RIVALS_SIZE, SOLVERS
from benchmarks.methods import AGAIN, PLAIN
from benchmarks.report import COLORS, Report

CORA_SETS = ("cora 5", "cora 20", "cora 300")
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, BLACK, _ = COLORS
STYLES: Mapping[str, tuple[str, str, str, str]] = {
    "auto": ("exact engine", BLACK, "-", "o"),
    AGAIN: ("exact engine, words met before", BLACK, ":", "."),
    PLAIN: ("bare Viterbi pass", BLUE, ":", "s"),
    "viterbi": ("Viterbi, rules ignored", BLUE, "-", "s"),
    "beam 10": ("beam of 10", YELLOW, ":", "v"),
    "beam 50": ("beam of 50", YELLOW, "--", "^"),
    "beam 200": ("beam of 200", YELLOW, "-", "D"),
    "cp-sat": ("CP-SAT", ORANGE, "-", "X"),
    "cbc": ("CBC", PINK, "-", "<"),
    "highs": ("HiGHS", PINK, "--", ">"),
    "scip": ("SCIP", PINK, ":", "p"),
}
QUANTILES = 51
"""Of a distribution that is drawn."""


def cost(frame: DataFrame, report: Report) -> None:
    """Mean time against T at a fixed K, and against K at a fixed T."""
    sizes, lengths = set(frame["K"]), set(frame["T"])
    fixed = {
        "K": RIVALS_SIZE if RIVALS_SIZE in sizes else max(sizes),
        "T": RIVALS_LENGTH if RIVALS_LENGTH in lengths else min(lengths),
    }
    caption = "Time of the engine, beams and solvers against tokens and labels; hollow where not every call ended with an optimum"
    with report.picture("cost", caption, (9.5, 4.2), ncols=2, sharey=True) as axes:
        for axis, varied, other in zip(axes, "TK", "KT", strict=True):
            _lines(axis, frame[frame[other] == fixed[other]], varied)
            axis.set(xlabel={"T": "tokens T", "K": "labels K"}[varied], title=f"{other} = {fixed[other]}")
        axes[0].set_ylabel("mean milliseconds a sequence")
        _legend(axes)


def _lines(axis: Axes, frame: DataFrame, varied: str) -> None:
    """A line for each method; hollow markers where an exact one did not end with an optimum in time."""
    for method, (label, colour, line, marker) in STYLES.items():
        own = frame[frame.method == method].sort_index()
        mean = 1000 * own.groupby(varied).seconds.mean()
        look: dict[str, Any] = {"color": colour, "linestyle": line, "marker": marker, "markersize": 4}
        if len(own):
            axis.plot(mean.index, mean, label=label, linewidth=2.2 if method == "auto" else 1.2, **look)
        if method in ("auto", AGAIN, *SOLVERS):
            late = mean[sorted(set(own[varied][own.status != "optimal"]))]
            look |= {"linestyle": "", "markerfacecolor": "white", "zorder": 3}
            axis.plot(late.index, late, **look)
    axis.set(xscale="log", yscale="log")
    axis.xaxis.set_major_locator(FixedLocator(sorted(set(frame[varied]))))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))


def within(frame: DataFrame, report: Report) -> None:
    """The share of Cora references that are done within so many milliseconds, for each size of training data."""
    sets = {name: own for name in CORA_SETS if len(own := frame[frame.data == name])}
    if not sets:
        return
    caption = "Share of Cora references that are decoded within so many milliseconds, by the size of the training data"
    look: dict[str, Any] = {"ncols": len(sets), "sharex": True, "sharey": True, "squeeze": False}
    with report.picture("cora", caption, (9.5, 3.4), **look) as grid:
        axes, shares = grid[0], np.linspace(0, 100, QUANTILES)
        for axis, (name, own) in zip(axes, sets.items(), strict=True):
            for method, (label, colour, line, _) in STYLES.items():
                times = 1000 * own.seconds[own.method == method]
                if len(times) and method not in SOLVERS:
                    width = 2.2 if method == "auto" else 1.2
                    look = {"color": colour, "linestyle": line, "linewidth": width, "label": label}
                    axis.plot(np.percentile(times, shares), shares, **look)
            axis.set(xscale="log", xlabel="milliseconds", title=f"HMM of {name[5:]}")
            axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes[0].set(ylabel="% done", ylim=(0, 101))
        _legend(axes)


def bounds(traces: Sequence[Sequence[Sequence[float | None]]], report: Report) -> None:
    """Proved bound and incumbent over time, as nats from the labelling that is returned."""
    caption = "Proved bound and incumbent over time, on documents of 500 tokens and 30 labels"
    with report.picture("bounds", caption, (9.5, 3.4), ncols=len(traces), squeeze=False) as grid:
        for count, (axis, trace) in enumerate(zip(grid[0], traces, strict=True), 1):
            best = trace[-1][1] or 0.0
            for column, colour, label in ((2, ORANGE, "proved bound"), (1, BLACK, "incumbent")):
                known = [(1000 * (point[0] or 0.0), point[column]) for point in trace]
                points = [(at, value - best) for at, value in known if value is not None]
                if points:
                    axis.step(*zip(*points, strict=True), where="post", color=colour, label=label, marker=".")
            axis.set(xlabel="milliseconds", title=f"document {count}", xlim=(0, None))
            axis.set_yscale("symlog", linthresh=0.1)
        grid[0][0].set_ylabel("nats from the labelling returned")
        grid[0][-1].legend(frameon=False)


def _legend(axes: Sequence[Axes]) -> None:
    """One for all, beside them, in the order of STYLES."""
    lines = {line.get_label(): line for axis in axes for line in axis.get_lines()}
    handles = [lines[style[0]] for style in STYLES.values() if style[0] in lines]
    axes[0].figure.legend(handles=handles, loc="outside right upper", frameon=False)
