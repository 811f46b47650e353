"""Tokens, names and numbers as people read them."""

import math
import unicodedata
from typing import Any

LONGEST = 80
"""Characters of a name or token that are shown."""
JOINERS = "\u200c\u200d"
"""Not printable, but scripts and emoji need them."""
MISSING = "–"
"""Text for unknown values."""
DECIMALS = {"percent": 1, "points": 1, "relative": 4, "nats": 4, "small": 5, "ms": 2, "times": 1}
"""By form of a number; see `shown`."""


def readable(text: str, longest: int = LONGEST) -> str:
    """One line of text of limited length; characters without a sign, and those that change the direction of text, are
    escapes.

    Examples
    --------
    >>> print(readable("two\\nlines"), readable("x" * 9, 5))
    two\\nlines xxxx…
    """
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(_sign(character) for character in cut)


def _sign(character: str) -> str:
    if character.isprintable() or character in JOINERS or unicodedata.category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def shown(value: Any, form: str = "text") -> str:
    """A value of a table in a form: "text", "count" (with a decimal in means over seeds only), "p", or one of `DECIMALS`.

    Examples
    --------
    >>> shown(3.0, "count"), shown(2.5, "count"), shown(0.00001, "p"), shown(None, "nats"), shown(-0.00001, "nats")
    ('3', '2.5', '1e-05', '–', '0.0000')
    """
    if missing(value):
        return MISSING
    if form == "text":
        return readable(str(value))
    if form == "count":
        return str(int(value)) if float(value).is_integer() else f"{value:.1f}"
    if form == "p":
        return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value >= 1e-99 else "<1e-99"
    text = f"{value:.{DECIMALS[form]}f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return f"+{text}" if form == "points" and float(text) > 0 else text
