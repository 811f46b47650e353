"""A comparison as one self-contained HTML page."""

from collections.abc import Sequence
from importlib import resources

import numpy as np
from jinja2 import Environment, StrictUndefined

from formulations.dtypes import Floats
from ilpinfer.evaluation.comparison import Summary, Tally
from ilpinfer.evaluation.pictures import silent_figures, svg
from ilpinfer.system.checkpoint import Row

MARKS = 1000
"""Sequences that a picture shows of each method; of more, evenly spread ones with the extremes."""


def report(about: Row, result: Sequence[Tally]) -> str:
    """HTML with the table, and pictures of times and gaps."""
    text = (resources.files("ilpinfer") / "evaluation" / "report.html").read_text("utf-8")
    page = Environment(autoescape=True, undefined=StrictUndefined).from_string(text)
    summary = [tally.summary() for tally in result]
    return page.render(about=about, summary=summary, picture=_picture(summary, result)) + "\n"


def _picture(summary: Sequence[Summary], result: Sequence[Tally]) -> str:
    """SVG: milliseconds a sequence of each method, and nats below the proved optimum."""
    with silent_figures() as Figure:
        figure = Figure(figsize=(9, 0.45 * len(summary) + 1.2), layout="constrained")
        time, gap = figure.subplots(1, 2, sharey=True)
        for place, (line, tally) in enumerate(zip(summary, result, strict=True)):
            colour = "#1b6ca8" if line.kind == "exact" else "#c8553d"
            for axes, values in ((time, 1000 * np.array(tally.seconds)), (gap, np.array(tally.gaps))):
                shown = _spread(values)
                axes.plot(shown, [place] * len(shown), "|", color=colour, alpha=0.6, ms=12)
            time.plot([line.median_ms], [place], "o", color=colour)
        time.set_xscale("log", nonpositive="clip")
        time.set_xlabel("milliseconds a sequence (dot: median)")
        time.set_yticks(range(len(summary)), [line.method for line in summary], parse_math=False)
        time.invert_yaxis()
        gap.set(xlabel="nats below the proved optimum")
        for axes in (time, gap):
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(axis="x", alpha=0.3)
        return svg(figure)


def _spread(values: Floats) -> Floats:
    """The values; so many of them, from the smallest to the largest, where there are more."""
    if len(values) <= MARKS:
        return values
    return np.asarray(np.sort(values)[np.linspace(0, len(values) - 1, MARKS).astype(int)])
