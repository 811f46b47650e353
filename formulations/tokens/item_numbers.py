"""Item numbers: tokens such as `1.`, `2.3`, `IV)`, `(b)`."""

import re

from formulations.caches import remembered

_FRAME = re.compile(r"[(\[]?(\d+(?:\.\d+)*|[A-Za-z]+)[.)\]]?")
_ROMAN = re.compile(r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

ItemNumber = tuple[str, tuple[int, ...]]
"""A kind ("digits", "roman", "letter") and the numbers, outermost first."""


@remembered
def item_numbers(token: str) -> tuple[ItemNumber, ...]:
    """The item numbers that a token may stand for: none, one, or two for a letter that is a roman numeral as well."""
    match = _FRAME.fullmatch(token)
    if match is None:
        return ()
    body = match[1]
    if body[0].isdigit():
        return (("digits", tuple(int(part) for part in body.split("."))),) if len(body) < 100 else ()
    result: list[ItemNumber] = []
    if body in (body.upper(), body.lower()) and _ROMAN.fullmatch(body.upper()):
        values = [_VALUES[c] for c in body.upper()]
        smaller = (v < w for v, w in zip(values, [*values[1:], 0], strict=True))
        result.append(("roman", (sum(-v if s else v for v, s in zip(values, smaller, strict=True)),)))
    if len(body) == 1 and body.isascii():
        result.append(("letter", (ord(body.lower()) - ord("a") + 1,)))
    return tuple(result)


def continues(before: str, token: str) -> bool:
    """Whether the item number of a token follows that of the token before: 2 after 1, 1.3 or 2 or 1.2.1 after 1.2."""
    return any(
        kind == other and _follows(a, b)
        for kind, a in item_numbers(before)
        for other, b in item_numbers(token)
    )


def _follows(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    if len(b) == len(a) + 1:
        return b == (*a, 1)
    k = len(b)
    return k <= len(a) and b[:-1] == a[: k - 1] and b[-1] == a[k - 1] + 1
