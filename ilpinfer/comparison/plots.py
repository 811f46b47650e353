"""Plots of a comparison on axes of matplotlib, as files, and as images in a page."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ilpinfer.comparison.columns import readable
from ilpinfer.comparison.curves import Curve, anytime, gap_shares, time_profiles, times_by_length
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.plan import ComparisonData
from ilpinfer.evaluation import pictures
from ilpinfer.system.extras import require
from ilpinfer.system.files import write_files

COLOURS = (
    *("#0f5fa8", "#c2481a", "#0b7a4f", "#94357f", "#8a6a00", "#1581a3", "#3d4450"),
    *("#e2589a", "#6fae1f", "#6f42c1", "#7a4a2b"),
)
DASHES: Sequence[Any] = ("-", (0, (6, 2.5)), (0, (2, 2)), (0, (7, 2, 1.5, 2)))
MARKERS = "os^Dv"
SIZE = (5.2, 3.2)
LINE = 0.17
"""Inches of a line of a legend."""
STYLE: dict[Any, Any] = {
    **pictures.STYLE,
    "font.family": "sans-serif",
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
}
NAME = 40
"""Characters of a method in a legend."""

PLOTS = ("gaps", "anytime", "profile", "lengths")

Style = Mapping[str, Any]
"""Options of `Axes.plot`."""
Drawing = Callable[[Any], None]
"""It draws on axes."""


def drawings(comparison: ComparisonData) -> dict[str, Drawing]:
    """The plots of a comparison, in the order of `PLOTS`; those without data are left out."""
    frame, methods = frame_of(comparison.rows()), list(comparison.kinds)
    known = frame.loc[~frame.infeasible].dropna(subset="optimum")
    optima = known.groupby("sequence").optimum.first().to_dict()
    drawn: dict[str, tuple[Callable[..., None], list[Curve]]] = {
        "gaps": (plot_shares, gap_shares(frame, methods)),
        "anytime": (plot_anytime, anytime(comparison.rows(), optima, comparison.cap, methods)),
        "profile": (partial(plot_shares, ratio=True), time_profiles(frame, methods)),
        "lengths": (plot_lengths, times_by_length(frame, methods)),
    }
    style = styles(methods)
    return {name: partial(plot, curves=some, style=style) for name, (plot, some) in drawn.items() if some}


def check_plots(kind: str) -> None:
    """Raise ValueError for an unknown format of plots, and MissingLibrary without matplotlib."""
    if kind not in pictures.FORMATS:
        raise ValueError(f"format of plots is {kind!r}; expected one of {', '.join(pictures.FORMATS)}")
    require("a plot", "compare", "matplotlib")


def write_plots(
    comparison: ComparisonData, folder: str | Path, kind: str, inputs: Iterable[str | Path | None] = ()
) -> list[Path]:
    """Write each plot into a folder, but over none of the inputs."""
    check_plots(kind)
    contents = {f"{name}.{kind}": plot(draw, kind) for name, draw in drawings(comparison).items()}
    return write_files(folder, contents, inputs)


def styles(methods: Sequence[str]) -> dict[str, Style]:
    """How the curves of each method look: no two of the first 11 methods share a colour, of the first 44 colour and dash."""
    return {
        method: {
            "color": COLOURS[number % len(COLOURS)],
            "linestyle": DASHES[number % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)],
            "linewidth": 1.7,
            "markersize": 5,
        }
        for number, method in enumerate(methods)
    }


def plot_shares(ax: Any, curves: Sequence[Curve], style: Mapping[str, Style], *, ratio: bool = False) -> None:
    """Steps from 0 to 1: the share of sequences with at most x nats, or x times the best time."""
    right = max((float(curve.x[-1]) for curve in curves if len(curve.x)), default=1.0)
    end = max(1.3 * right, 2.5) if ratio else max(1.3 * right, 0.2)
    if ratio:
        ax.set_xscale("log")
        ax.set_xlim(0.96, end)
        _plain(ax.xaxis)
    else:
        ax.set_xscale("symlog", linthresh=0.1, linscale=0.6)
        ax.set_xlim(-0.008, end)
        ax.set_xticks([tick for tick in (0, 0.1, 1, 10, 100, 1000) if tick <= end])
        ax.xaxis.set_major_formatter("{x:g}")
    for curve in curves:
        x = [1.0 if ratio else 0.0, *curve.x, end]
        y = [0.0, *curve.y, *(curve.y[-1:] if len(curve.y) else [0.0])]
        _steps(ax, curve.method, x, y, style)
    ax.set_ylim(-0.02, 1.03)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_xlabel("times the fastest that reaches the optimum" if ratio else "gap in nats, at most")


def plot_anytime(ax: Any, curves: Sequence[Curve], style: Mapping[str, Style]) -> None:
    """Mean gap by seconds."""
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=0.01, linscale=0.4)
    for curve in curves:
        _steps(ax, curve.method, curve.x, curve.y, style)
    top = max(1.5 * max((float(curve.y.max()) for curve in curves), default=1.0), 0.02)
    ax.set_ylim(-0.002, top)
    ax.set_yticks([tick for tick in (0, 0.01, 0.1, 1, 10, 100, 1000) if tick <= top])
    _plain(ax.xaxis)
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set(xlabel="seconds", ylabel="mean gap in nats")


def plot_lengths(ax: Any, curves: Sequence[Curve], style: Mapping[str, Style]) -> None:
    """Milliseconds by tokens, both logarithmic."""
    for curve in curves:
        ax.plot(curve.x, 1000 * curve.y, label=readable(curve.method, NAME), **style[curve.method])
    ax.set(xscale="log", yscale="log", xlabel="tokens", ylabel="median milliseconds")
    _plain(ax.xaxis)
    _plain(ax.yaxis)


def picture(draw: Drawing, size: tuple[float, float] = SIZE) -> str:
    """An SVG image as a `data:` address."""
    text = plot(draw, "svg", size).decode()
    return "data:image/svg+xml;base64," + b64encode(text[text.index("<svg") :].encode()).decode()


def plot(draw: Drawing, kind: str, size: tuple[float, float] = SIZE) -> bytes:
    """What is drawn, as the content of a file: axes in inches of the size, and a legend below them."""

    def with_legend(figure: Any) -> None:
        ax = figure.subplots()
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.15)
        draw(ax)
        lines, names = ax.get_legend_handles_labels()
        figure.set_figheight(size[1] + LINE * ((len(names) + 1) // 2))
        legend = figure.legend(
            lines, names, loc="outside lower left", ncols=2, frameon=False, fontsize=8, handlelength=3.5
        )
        for text in legend.get_texts():
            text.set_parse_math(False)

    return pictures.image(with_legend, size, kind, STYLE)


def _steps(ax: Any, method: str, x: Any, y: Any, style: Mapping[str, Style]) -> None:
    """A curve of steps with markers at a few points, but not at its ends."""
    marked = list(range(1, len(x) - 1, max(len(x) // 4, 1)))
    label = readable(method, NAME)
    ax.plot(x, y, drawstyle="steps-post", markevery=marked, label=label, **style[method])


def _plain(axis: Any) -> None:
    """Plain numbers on a logarithmic axis, and more of them where it is short."""
    low, high = axis.get_view_interval()
    named = "123456789" if high < 5 * low else "125" if high < 50 * low else ""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in named else "")
