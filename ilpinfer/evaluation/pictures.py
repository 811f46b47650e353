"""Plots as file content, without messages of the plotting library; a plot of a confusion matrix."""

import io
import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from formulations.dtypes import Integers
from ilpinfer.system.extras import require

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "ilpinfer",
    "pdf.fonttype": 42,
    "font.size": 10,
}
"""PDF embeds TrueType fonts, as publishers require."""
FORMATS = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""File formats, with metadata that leaves out the time of writing."""


def image(
    draw: Callable[[Any], None], size: tuple[float, float], kind: str = "svg", style: dict[Any, Any] = STYLE
) -> bytes:
    """The figure made by `draw`, `size` in inches; warnings about fonts, caches and layout are suppressed."""
    require("a picture", "plots", "matplotlib")
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"):
            import matplotlib
            from matplotlib.figure import Figure

            with matplotlib.rc_context(style):
                figure, stream = Figure(figsize=size, layout="constrained"), io.BytesIO()
                draw(figure)
                figure.savefig(stream, format=kind, metadata=FORMATS[kind], dpi=200)
                return stream.getvalue()
    finally:
        logger.setLevel(level)


def mistakes(names: Sequence[str], confusion: Integers, most: int) -> list[tuple[str, str, int]]:
    """Gold label, predicted label and token count of the most frequent confusions of K labels (K, K)."""
    wrong = confusion.copy()
    np.fill_diagonal(wrong, 0)
    places = np.argsort(-wrong, axis=None, kind="stable")[:most]
    result = [(*divmod(int(place), len(names)), int(wrong.flat[place])) for place in places]
    return [(names[i], names[j], n) for i, j, n in result if n]


def confusion_picture(names: Sequence[str], confusion: Integers) -> str:
    """SVG of shares of each gold label, with token counts if they fit."""
    K = len(names)
    side = max(3.0, 0.45 * K + 1.5)

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        share = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1)
        shares = axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
        axes.set(xlabel="predicted", ylabel="gold")
        axes.set_xticks(range(K), names, rotation=90, parse_math=False)
        axes.set_yticks(range(K), names, parse_math=False)
        for i, j in np.argwhere(confusion) if K <= 40 else ():
            colour = "white" if share[i, j] > 0.5 else "black"
            axes.text(j, i, str(confusion[i, j]), ha="center", va="center", fontsize=7, color=colour)
        figure.colorbar(shares, ax=axes, label="share of the gold label's tokens", shrink=0.8)

    return image(draw, (side + 1, side)).decode()
