"""A report in Markdown, with tables, and pictures in SVG beside it."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Told apart by the colour-blind (Okabe and Ito 2008)."""


class Report:
    """Text that grows from top to bottom; `folder` is where pictures go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._blocks: list[str] = []

    def heading(self, text: str, level: int = 2) -> None:
        self._blocks.append(f"{'#' * level} {text}")

    def text(self, text: str) -> None:
        """A paragraph, or a list, in Markdown."""
        self._blocks.append(text.strip())

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], left: int = 1) -> None:
        """A table whose first `left` columns are texts; `number` and `percent` write cells."""
        from tabulate import tabulate

        cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
        align = ["left"] * left + ["right"] * (len(columns) - left)
        self._blocks.append(
            tabulate(cells, list(columns), "pipe", disable_numparse=True, colglobalalign=None, colalign=align)
        )

    @contextlib.contextmanager
    def picture(
        self, name: str, caption: str, size: tuple[float, float] = (8.0, 4.2), **subplots: Any
    ) -> Iterator[Any]:
        """Axes of matplotlib, or an array of them as `subplots` asks for; at the end they are written as NAME.svg."""
        import matplotlib
        from cycler import cycler
        from matplotlib.figure import Figure

        style: Any = {
            "svg.hashsalt": "ilpinfer",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "font.size": 9,
        }
        with matplotlib.rc_context({**style, "axes.prop_cycle": cycler(color=COLORS)}):
            drawing = Figure(figsize=size, layout="constrained", facecolor="white")
            yield drawing.subplots(**subplots)
            self.folder.mkdir(parents=True, exist_ok=True)
            drawing.savefig(self.folder / f"{name}.svg", metadata={"Date": None})
        self._blocks.append(f"![{caption}]({name}.svg)")

    def markdown(self) -> str:
        """The whole text."""
        return "\n\n".join(self._blocks) + "\n"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits and no exponent; a dash for None."""
    if value is None:
        return "–"
    text = np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")
    whole, point, rest = text.lstrip("-").partition(".")
    grouped = f"{int(whole):,}".replace(",", " ") if len(whole) > 4 else whole
    return ("−" if value < 0 else "") + grouped + point + rest


def percent(share: float | None, digits: int = 1) -> str:
    """A share, times 100, without the sign of percent; a dash for None."""
    return "–" if share is None else f"{100 * share:.{digits}f}"


def signed(value: float | None, digits: int = 1) -> str:
    """A difference with its sign; a dash for None."""
    return "–" if value is None else f"{value:+.{digits}f}".replace("-", "−")
