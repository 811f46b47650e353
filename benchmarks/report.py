"""A report in Markdown, with tables, and pictures in SVG beside it."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame, Series


def draws_of(frame: DataFrame, measure: str = "tokens", /, **wanted: object) -> Series:
    """A measure by draw, of the rows with these values."""
    some: Any = frame
    for name, value in wanted.items():
        some = some[some[name] == value]
    return some.set_index("draw")[measure]


def difference(values: Series, others: Series) -> Series:
    """On the draws that both have."""
    return (values - others).dropna()


def gain(values: Series, others: Series, digits: int = 1) -> str:
    """Mean difference and its standard error, which takes two draws."""
    gains = difference(values, others)
    error = f" ± {gains.sem():.{digits}f}" if len(gains) > 1 else ""
    return signed(gains.mean(), digits) + error


COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Told apart by the colour-blind (Okabe and Ito 2008)."""
Cells = Mapping[Any, Callable[[Any], Any]]
"""By a title, what makes the cell of a group of rows; by a tuple of titles, what makes as many cells."""
STYLE: dict[str, Any] = {
    "svg.hashsalt": "ilpinfer",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 9,
}


class Report:
    """Text that grows from top to bottom; pictures go into the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._blocks: list[str] = []

    def heading(self, text: str, level: int = 2) -> None:
        self._blocks.append(f"{'#' * level} {text}")

    def text(self, text: str) -> None:
        """A paragraph or a list; nothing where it is empty."""
        if text:
            self._blocks.append(text.strip())

    def table(self, columns: Iterable[str], rows: Iterable[Sequence[Any]], left: int = 1) -> None:
        """A table whose first `left` columns are texts."""
        from tabulate import tabulate

        columns = list(columns)
        cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
        align = ["left"] * left + ["right"] * (len(columns) - left)
        self._blocks.append(
            tabulate(cells, columns, "pipe", disable_numparse=True, colglobalalign=None, colalign=align)
        )

    def pivot(self, frame: DataFrame, by: Mapping[str, str], cells: Cells, left: int | None = None) -> None:
        """A table with a line for each group of rows, in the order of the first ones.

        `by` has the titles of columns of the frame; a function makes the cell of its title, or as many as there are titles.
        """
        titles = [one for title in cells for one in ([title] if isinstance(title, str) else title)]
        lines = []
        for names, some in groups(frame, *by.values()):
            values = ((title, cell(some)) for title, cell in cells.items())
            lines.append([*names, *(v for t, one in values for v in ([one] if isinstance(t, str) else one))])
        self.table([*by, *titles], lines, len(by) if left is None else left)

    @contextlib.contextmanager
    def picture(
        self, name: str, caption: str, size: tuple[float, float] = (8.0, 4.2), **subplots: Any
    ) -> Iterator[Any]:
        """Axes of matplotlib, or an array of them as `subplots` asks for; at the end they are written as NAME.svg."""
        import matplotlib
        from cycler import cycler
        from matplotlib.figure import Figure

        style: Any = {**STYLE, "axes.prop_cycle": cycler(color=COLORS)}
        with matplotlib.rc_context(style):
            drawing = Figure(figsize=size, layout="constrained", facecolor="white")
            yield drawing.subplots(**subplots)
            self.folder.mkdir(parents=True, exist_ok=True)
            drawing.savefig(self.folder / f"{name}.svg", metadata={"Date": None})
        self._blocks.append(f"![{caption}]({name}.svg)")

    def markdown(self) -> str:
        return "\n\n".join(self._blocks) + "\n"


def groups(frame: DataFrame, *columns: str) -> Iterator[tuple[tuple[Any, ...], DataFrame]]:
    """The values of some columns, and the rows that have them, in the order of the first ones."""
    if len(frame):
        yield from frame.groupby(list(columns), sort=False, observed=True)


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits and no exponent; a dash for None and NaN."""
    if value is None or np.isnan(value):
        return "–"
    text = np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")
    whole, point, rest = text.lstrip("-").partition(".")
    grouped = f"{int(whole):,}".replace(",", " ") if len(whole) > 4 else whole
    return ("−" if value < 0 else "") + grouped + point + rest


def fixed(value: float | None, digits: int = 1, sign: str = "") -> str:
    """A number with so many digits after the point; a dash for None and NaN."""
    return "–" if value is None or np.isnan(value) else f"{value:{sign}.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 1) -> str:
    return fixed(value, digits, "+")


def percent(share: float | None, digits: int = 1) -> str:
    """A share, times 100, without the sign of percent; a dash for None and NaN."""
    return fixed(None if share is None else 100 * share, digits)
