"""A comparison as one self-contained HTML page."""

import io
from collections.abc import Sequence
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined

from ilpinfer.evaluation.comparison import Summary

Row = dict[str, Any]


def report(about: Row, summary: Sequence[Summary], rows: Sequence[Row]) -> str:
    """HTML with the table, and pictures of time and of what is lost."""
    text = (resources.files("ilpinfer") / "evaluation" / "report.html").read_text("utf-8")
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(text)
    return page.render(about=about, summary=summary, picture=_picture(summary, rows)) + "\n"


def _picture(summary: Sequence[Summary], rows: Sequence[Row]) -> str:
    """SVG: milliseconds a sequence of each method, and nats below the proved optimum."""
    from matplotlib.figure import Figure

    names = [line.method for line in summary]
    optima = {row["sequence"]: row["score"] for row in rows if row["status"] == "optimal"}
    figure = Figure(figsize=(9, 0.45 * len(names) + 1.2), layout="constrained")
    time, gap = figure.subplots(1, 2, sharey=True)
    for place, line in enumerate(summary):
        own = [row for row in rows if row["method"] == line.method]
        colour = "#1b6ca8" if line.kind == "exact" else "#c8553d"
        time.plot([1000 * r["seconds"] for r in own], [place] * len(own), "|", color=colour, alpha=0.6, ms=12)
        time.plot([line.median_ms], [place], "o", color=colour)
        lost = [
            optima[r["sequence"]] - r["score"]
            for r in own
            if r["sequence"] in optima and r["score"] is not None
        ]
        gap.plot(lost, [place] * len(lost), "|", color=colour, alpha=0.6, ms=12)
    time.set(
        xscale="log",
        xlabel="milliseconds a sequence (dot: median)",
        yticks=range(len(names)),
        yticklabels=names,
    )
    time.invert_yaxis()
    gap.set(xlabel="nats below the proved optimum")
    for axes in (time, gap):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", alpha=0.3)
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    svg = stream.getvalue()
    return svg[svg.index("<svg") :]
