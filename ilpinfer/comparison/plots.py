"""Plots of a comparison with matplotlib: axes, files, and images of the page."""

import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from formulations.arguments import positive
from ilpinfer.comparison.columns import readable
from ilpinfer.comparison.frame import kinds_of
from ilpinfer.comparison.plan import ComparisonData
from ilpinfer.evaluation import pictures
from ilpinfer.system.extras import require
from ilpinfer.system.files import write_files

if TYPE_CHECKING:
    import pandas as pd

COLOURS = (
    *("#0f5fa8", "#c2481a", "#0b7a4f", "#94357f", "#8a6a00", "#1581a3", "#3d4450"),
    *("#e2589a", "#6fae1f", "#6f42c1", "#7a4a2b"),
)
DASHES: Sequence[Any] = ("-", (0, (6, 2.5)), (0, (2, 2)), (0, (7, 2, 1.5, 2)))
MARKERS = "os^Dv"
WIDTH, SHAPE = 5.2, 0.62
"""Width of a plot in inches, and the ratio of height (without legend) to width."""
NARROW, SMALL, LARGE = 4.0, 8, 10
"""Width in inches below which the font is small, and both font sizes in points."""
NAME = 40
"""Largest number of characters of a method in a legend."""
SHORTEST = 1e-6
"""Smallest number of seconds on logarithmic axes."""
BINS = 8
"""Number of bins of lengths, with about the same number of sequences."""
TICKS = 6
"""Largest number of tick labels of an axis."""

Style = Mapping[str, Any]
"""Options of `Axes.plot`."""
Curves = Mapping[str, Any]
"""Values, or points x and y, by method."""
Drawing = Callable[[Any], None]
"""A function that draws on axes."""


def known_gaps(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The lines with a proved optimum on which the method did not fail."""
    return frame[frame.optimum.notna() & ~frame.infeasible & (frame.error == "")]


def gap_values(frame: "pd.DataFrame", cap: float) -> Curves:
    """Gaps in nats; infinite without a labelling."""
    known = known_gaps(frame)
    return dict(iter(known.gap.fillna(math.inf).groupby(known.method, sort=False)))


def time_ratios(frame: "pd.DataFrame", cap: float) -> Curves:
    """Times as multiples of the best time to the optimum of the sequence (Dolan and Moré 2002, section 2); infinite if the optimum is not reached."""
    known = known_gaps(frame[frame.seconds.notna()])
    seconds = known.seconds.clip(lower=SHORTEST).where(known.gap == 0, math.inf)
    ratios = (seconds / seconds.groupby(known.sequence).transform("min")).fillna(math.inf)
    return dict(iter(ratios.groupby(known.method, sort=False)))


def mean_gaps(frame: "pd.DataFrame", cap: float) -> Curves:
    """Seconds, and the mean gap of the incumbents at that time; the cap for missing incumbents."""
    known = known_gaps(frame[frame.seconds.notna()])
    if known.empty:
        return {}
    last = zip(known.incumbents, known.seconds, known.score, strict=True)
    found = known.assign(found=[[*before, (seconds, score)] for before, seconds, score in last]).explode(
        "found"
    )
    seconds, scores = (found.found.str[place].astype(float) for place in (0, 1))
    each = [found.index]
    best = (found.optimum - scores).groupby(each).cummin().groupby(each).ffill().fillna(cap)
    changes = best - best.groupby(each).shift(fill_value=cap)
    events = found.assign(at=seconds.clip(lower=SHORTEST), change=changes).sort_values("at", kind="stable")
    lines = known.groupby("method").size()
    points = {}
    for method in dict.fromkeys(known.method):
        own = events[events.method == method]
        means = cap + own.change.cumsum() / lines[method]
        points[method] = own["at"].to_numpy(), means.clip(lower=0.0).to_numpy()
    return points


def times_by_length(frame: "pd.DataFrame", cap: float) -> Curves:
    """Median tokens and median milliseconds, in bins with about the same number of sequences."""
    import pandas as pd

    timed = frame[frame.seconds.notna() & (frame.tokens > 0) & (frame.error == "")]
    if timed.empty:
        return {}
    lengths = timed.groupby("sequence").tokens.first()
    bins = pd.qcut(lengths, min(BINS, lengths.nunique()), labels=False, duplicates="drop")
    timed = timed.assign(ms=1000 * timed.seconds.clip(lower=SHORTEST), bin=timed.sequence.map(bins))
    medians = timed.groupby(["method", "bin"], sort=False)[["tokens", "ms"]].median().sort_index(level="bin")
    return {method: medians.xs(method).to_numpy(float).T for method in dict.fromkeys(timed.method)}


def plot_gaps(ax: Any, gaps: Curves, style: Mapping[str, Style]) -> None:
    """The share of sequences with at most x nats."""
    end = max(1.3 * _largest(gaps), 0.2)
    _plot_shares(ax, gaps, style, end)
    ax.set_xscale("symlog", linthresh=0.1, linscale=0.6)
    ax.set_xlim(-0.008, end)
    _set_ticks(ax.xaxis, [0.0, *_ticks(0.1, end, TICKS - 1)])
    ax.set(xlabel="gap to the optimum (nats), at most", ylabel="sequences (%)")


def plot_profile(ax: Any, ratios: Curves, style: Mapping[str, Style]) -> None:
    """The share of sequences solved to the optimum within x times the best time."""
    end = max(1.3 * _largest(ratios), 2.5)
    _plot_shares(ax, ratios, style, end)
    ax.set_xscale("log")
    ax.set_xlim(0.96, end)
    _set_ticks(ax.xaxis, _ticks(0.96, end))
    ax.set(xlabel="time (multiple of the best), at most", ylabel="optimum reached (%)")


def _largest(values: Curves) -> float:
    known = np.concatenate([each[np.isfinite(each)] for each in values.values()])
    return float(known.max(initial=1.0))


def _plot_shares(ax: Any, values: Curves, style: Mapping[str, Style], end: float) -> None:
    """Empirical distribution functions, up to the right end of the axes."""
    from matplotlib.ticker import PercentFormatter

    far = 10 * end
    for method, own in values.items():
        x, weights = np.append(np.minimum(own, far), far), np.append(np.ones(len(own)), 0.0)
        ax.ecdf(x, weights, label=readable(method, NAME), **{**style[method], "marker": ""})
    ax.set_ylim(-0.02, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))


def plot_anytime(ax: Any, points: Curves, style: Mapping[str, Style]) -> None:
    """Mean gap by seconds."""
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=0.01, linscale=0.8)
    for method, (x, y) in points.items():
        options = {**style[method], "drawstyle": "steps-post", "marker": ""}
        ax.plot(x, y, label=readable(method, NAME), **options)
    top = max(1.5 * max(float(y.max()) for _, y in points.values()), 0.02)
    ax.set_ylim(-0.002, top)
    _set_ticks(ax.xaxis, _ticks(*ax.get_xlim()))
    _set_ticks(ax.yaxis, [0.0, *_ticks(0.01, top, TICKS - 1)])
    ax.set(xlabel="time (s)", ylabel="mean gap (nats)")


def plot_lengths(ax: Any, points: Curves, style: Mapping[str, Style]) -> None:
    """Milliseconds by tokens, both logarithmic."""
    for method, (x, y) in points.items():
        ax.plot(x, y, label=readable(method, NAME), **style[method])
    ax.set(xscale="log", yscale="log", xlabel="length (tokens)", ylabel="median time (ms)")
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        _set_ticks(axis, _ticks(*limits))


PLOTS: Mapping[str, tuple[Callable[..., Curves], Callable[..., None]]] = {
    "gaps": (gap_values, plot_gaps),
    "anytime": (mean_gaps, plot_anytime),
    "profile": (time_ratios, plot_profile),
    "lengths": (times_by_length, plot_lengths),
}
"""For each plot, the values (from a frame and a cap), and the function that draws them."""


def _ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Round numbers from low to high for a logarithmic axis, at most `TICKS`."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    nearest = (high / low) ** (2 / (3 * most))
    for digits in ("123456789", "12345", "125", "13", "1"):
        values = [float(f"{digit}e{decade}") for decade in decades for digit in digits]
        found = [value for value in values if low <= value <= high]
        if len(found) <= most and all(other / one > nearest for one, other in pairwise(found)):
            return found
    return found[:: -(-len(found) // most)]


def _set_ticks(axis: Any, ticks: Sequence[float]) -> None:
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def drawings(comparison: ComparisonData, only: Sequence[str] | None = None) -> dict[str, Drawing]:
    """The plots of these names; those without data are left out."""
    style = styles(list(kinds_of(comparison.frame)))
    made = dict[str, Drawing]()
    for name in PLOTS if only is None else only:
        values_of, draw = PLOTS[name]
        values = values_of(comparison.frame, comparison.cap)
        if values:
            made[name] = partial(_draw, draw, values, style)
    return made


def _draw(draw: Callable[..., None], values: Curves, style: Mapping[str, Style], ax: Any) -> None:
    draw(ax, values, style)


def axes_with(comparison: ComparisonData, name: str, ax: Any = None) -> Any:
    """Axes with the plot, with a legend if they are new."""
    check_plots(only=[name])
    draw = drawings(comparison, [name]).get(name)
    if draw is None:
        raise ValueError(f"plot {name!r} has no data: no sequence has what it shows")
    if ax is not None:
        draw(ax)
        return ax
    from matplotlib import pyplot

    _, ax = pyplot.subplots(figsize=(WIDTH, SHAPE * WIDTH), layout="constrained")
    draw(ax)
    ax.legend(frameon=False)
    return ax


def check_plots(kind: str = "pdf", only: Sequence[str] | None = None, width: float = WIDTH) -> None:
    """Raise ValueError for an unknown format or name and for a width that is none, and MissingLibrary without matplotlib."""
    if kind not in pictures.FORMATS:
        raise ValueError(f"format of plots is {kind!r}; expected one of {', '.join(pictures.FORMATS)}")
    for name in only or ():
        if name not in PLOTS:
            raise ValueError(f"no plot {name!r}; expected some of {', '.join(PLOTS)}")
    positive(width, "width", "inches")
    require("a plot", "compare", "matplotlib")


def write_plots(
    comparison: ComparisonData,
    folder: str | Path,
    kind: str,
    *,
    width: float = WIDTH,
    only: Sequence[str] | None = None,
    inputs: Iterable[str | Path | None] = (),
) -> list[Path]:
    """Write plots into a folder, but not over an input."""
    check_plots(kind, only, width)
    size = (width, SHAPE * width)
    contents = {f"{name}.{kind}": plot(draw, kind, size) for name, draw in drawings(comparison, only).items()}
    return write_files(folder, contents, inputs)


def styles(methods: Sequence[str]) -> dict[str, Style]:
    """How the curves of each method look: no two of the first 11 methods share a colour, of the first 44 colour and dash."""
    return {
        method: {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": DASHES[number % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)],
            "linewidth": 1.5,
            "markersize": 4,
        }
        for number, method in enumerate(methods)
    }


def picture(draw: Drawing, size: tuple[float, float] = (WIDTH, SHAPE * WIDTH)) -> str:
    """An SVG image as a `data:` address."""
    text = plot(draw, "svg", size).decode()
    return "data:image/svg+xml;base64," + b64encode(text[text.index("<svg") :].encode()).decode()


def plot(draw: Drawing, kind: str, size: tuple[float, float]) -> bytes:
    """A drawing as the content of a file of this width in inches; its height is the height of the axes and of a legend below them."""
    width, height = size
    points = SMALL if width < NARROW else LARGE

    def with_legend(figure: Any) -> None:
        ax = figure.subplots()
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.15)
        draw(ax)
        lines, names = ax.get_legend_handles_labels()
        entry = (max(map(len, names), default=1) * 0.6 + 5) * points / 72
        columns = max(1, min(3, int(width / entry)))
        figure.set_figheight(height + 1.6 * points / 72 * math.ceil(len(names) / columns))
        legend = figure.legend(
            lines,
            names,
            loc="outside lower left",
            ncols=columns,
            frameon=False,
            fontsize=points,
            handlelength=3,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)

    return pictures.image(
        with_legend, size, kind, {**pictures.STYLE, "font.family": "sans-serif", "font.size": points}
    )
