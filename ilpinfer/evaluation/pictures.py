"""Drawing as SVG, without the messages of the library."""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any

from ilpinfer.system.extras import require


@contextlib.contextmanager
def silent_figures() -> Iterator[Any]:
    """The class of figures, while the library keeps its remarks on fonts, caches and room to itself."""
    require("a picture", "plots", "matplotlib")
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"):
            from matplotlib.figure import Figure

            yield Figure
    finally:
        logger.setLevel(level)


def svg(figure: Any, *, alone: bool = False) -> str:
    """The picture as SVG text, for a page or as a file of its own."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    text = stream.getvalue()
    return text if alone else text[text.index("<svg") :]
