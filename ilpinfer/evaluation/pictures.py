"""Pictures as the content of files, without the messages of the library."""

import io
import logging
import warnings
from collections.abc import Callable
from typing import Any

from ilpinfer.system.extras import require

STYLE: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "ilpinfer", "font.size": 10}
FORMATS = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""Formats of files, with metadata that keeps the time out of them."""


def image(
    draw: Callable[[Any], None], size: tuple[float, float], kind: str = "svg", style: dict[Any, Any] = STYLE
) -> bytes:
    """What is drawn on a figure of a size in inches; warnings about fonts, caches and layout are suppressed."""
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
