"""Pictures of a comparison, as SVG whose colours the page decides."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ilpinfer.comparison.curves import Curve
from ilpinfer.evaluation.pictures import silent_figures, svg

INK = "#fe0100"
"""Stands for the colour of text in a picture, until `themed`."""
HUES = [f"#fe02{number:02x}" for number in range(7)]
"""Placeholders of the colours of methods, which the page defines for light and dark themes."""
VARIABLES = {INK: "currentColor", **{hue: f"var(--hue{number})" for number, hue in enumerate(HUES)}}
DASHES = ("", "6 2.5", "2 2", "7 2 1.5 2")
MARKERS = {
    "o": '<circle cx="17" cy="6" r="3.4"/>',
    "s": '<path d="M14 3h6v6h-6z"/>',
    "^": '<path d="M17 2l4 7.5h-8z"/>',
    "D": '<path d="M17 1.8L21.2 6 17 10.2 12.8 6z"/>',
    "v": '<path d="M17 10l4-7.5h-8z"/>',
}
"""Of matplotlib, and as SVG for the names in the tables."""
SIZE = (5.2, 3.5)
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ilpinfer",
    "font.size": 10,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.05,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), INK
    ),
}


@dataclass(frozen=True)
class Look:
    """How the curves of a method look: no two of the first 28 methods share colour and dash."""

    number: int

    @property
    def hue(self) -> str:
        """Placeholder of the colour."""
        return HUES[self.number % len(HUES)]

    @property
    def dash(self) -> str:
        """Lengths of strokes and gaps."""
        return DASHES[self.number % len(DASHES)]

    @property
    def marker(self) -> str:
        """A marker of matplotlib."""
        return list(MARKERS)[self.number % len(MARKERS)]

    def line(self) -> dict[str, Any]:
        """Options for `Axes.plot`."""
        lengths = [float(length) for length in self.dash.split()]
        style: Any = (0, tuple(lengths)) if lengths else "-"
        return {
            "color": self.hue,
            "linestyle": style,
            "linewidth": 1.7,
            "marker": self.marker,
            "markersize": 5,
        }

    def symbol(self) -> str:
        """SVG of a piece of line, which samples in legends and tables refer to."""
        colour = VARIABLES[self.hue]
        return (
            f'<symbol id="look{self.number}" viewBox="0 0 34 12" fill="{colour}">'
            f'<path d="M0 6h34" fill="none" stroke="{colour}" stroke-width="1.9" stroke-dasharray="{self.dash}"/>'
            f"{MARKERS[self.marker]}</symbol>"
        )

    def sample(self) -> str:
        """SVG for a legend."""
        use = f'<use href="#look{self.number}"/>'
        return f'<svg class="sample" width="34" height="12" aria-hidden="true">{use}</svg>'


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """The look of each method."""
    return {method: Look(number) for number, method in enumerate(methods)}


def share_picture(curves: Sequence[Curve], look: Mapping[str, Look], label: str, *, ratio: bool) -> str:
    """Steps from 0 to 1: the share of sequences with at most x nats, or x times the best time."""

    def draw(axes: Any) -> None:
        right = max((float(curve.x[-1]) for curve in curves if len(curve.x)), default=1.0)
        end = max(1.3 * right, 2.5) if ratio else max(1.3 * right, 0.2)
        if ratio:
            axes.set_xscale("log")
            axes.set_xlim(0.96, end)
            _plain(axes.xaxis)
        else:
            axes.set_xscale("symlog", linthresh=0.1, linscale=0.6)
            axes.set_xlim(-0.008, end)
            axes.set_xticks([tick for tick in (0, 0.1, 1, 10, 100, 1000) if tick <= end])
            axes.xaxis.set_major_formatter("{x:g}")
        for curve in curves:
            start = [1.0 if ratio else 0.0]
            x, y = [*start, *curve.x, end], [0.0, *curve.y, *(curve.y[-1:] if len(curve.y) else [0.0])]
            axes.plot(x, y, drawstyle="steps-post", markevery=_some(len(x)), **look[curve.method].line())
        axes.set_ylim(-0.02, 1.03)
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes.set_xlabel("times the fastest that reaches the optimum" if ratio else "gap in nats, at most")

    return picture(draw, "profile" if ratio else "gaps", label)


def anytime_picture(curves: Sequence[Curve], look: Mapping[str, Look], label: str) -> str:
    """Mean gap by seconds."""

    def draw(axes: Any) -> None:
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=0.01, linscale=0.4)
        for curve in curves:
            own = look[curve.method].line()
            axes.plot(curve.x, curve.y, drawstyle="steps-post", markevery=_some(len(curve.x)), **own)
        top = max((float(curve.y.max()) for curve in curves), default=1.0)
        axes.set_ylim(-0.002, max(1.5 * top, 0.02))
        axes.set_yticks([tick for tick in (0, 0.01, 0.1, 1, 10, 100, 1000) if tick <= max(1.5 * top, 0.02)])
        _plain(axes.xaxis)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="seconds", ylabel="mean gap in nats")

    return picture(draw, "anytime", label)


def length_picture(curves: Sequence[Curve], look: Mapping[str, Look], label: str) -> str:
    """Milliseconds by tokens, both logarithmic."""

    def draw(axes: Any) -> None:
        for curve in curves:
            axes.plot(curve.x, 1000 * curve.y, **look[curve.method].line())
        axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel="median milliseconds")
        _plain(axes.xaxis)
        _plain(axes.yaxis)

    return picture(draw, "lengths", label)


def picture(draw: Callable[[Any], None], name: str, label: str, size: tuple[float, float] = SIZE) -> str:
    """An SVG of one pair of axes on which `draw` has drawn, in inches of the size."""
    import matplotlib

    with silent_figures() as Figure, matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.15)
        draw(axes)
        return themed(svg(figure), name, label)


def themed(text: str, name: str, label: str) -> str:
    """SVG for a page: colours are those of the page, ids begin with a name, and the label is for those who cannot see it."""
    text = re.sub(r"<style.*?</style>|<metadata.*?</metadata>|<defs>\s*</defs>", "", text, flags=re.S)
    text = re.sub(r"<[^>]+>", lambda tag: _themed_tag(tag[0], f"{name}-"), text)
    text = re.sub(r">\s+<", "><", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)


def _themed_tag(tag: str, prefix: str) -> str:
    """A tag with the attributes that the page needs; groups need no id."""
    tag = re.sub(r'<g id="[^"]*"', "<g", tag)
    tag = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", tag)
    tag = re.sub(r" ?font-family: [^;]*;", "", tag.replace("\n", " "))
    tag = re.sub(r"(\d\.\d\d)\d+", r"\1", tag)
    return re.sub("|".join(VARIABLES), lambda colour: VARIABLES[colour[0]], tag)


def _plain(axis: Any) -> None:
    """Plain numbers on a logarithmic axis, and more of them where it is short."""
    low, high = axis.get_view_interval()
    named = "123456789" if high < 5 * low else "125" if high < 50 * low else ""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in named else "")


def _some(points: int) -> list[int]:
    """Which points of a curve have a marker: a few, but not those at its ends."""
    return list(range(1, points - 1, max(points // 4, 1)))
