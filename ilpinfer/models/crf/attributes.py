"""Attributes of single tokens, without their context."""

import re
from collections.abc import Callable, Mapping
from functools import partial

Values = tuple[str, ...]
"""Values of an attribute. A boolean attribute has the value "" if it is true, and no value otherwise."""
WordAttribute = Callable[[str], Values]

YES: Values = ("",)
NO: Values = ()

_SHAPES = str.maketrans({str(digit): "0" for digit in range(10)})
_RUNS = re.compile(r"(.)\1+")
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_BRACKETS = re.compile(r"\[[^\]]+\]|\([^)]+\)|\{[^}]+\}")
_CLASSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.DOTALL)
    for name, pattern in {
        "digits": r"\d+",
        "year": r"\W*(1[5-9]|20)\d\d[a-z]?\W*",
        "range": r"\W*\w*\d+\s*[-–—]+\s*\w*\d+\W*",
        "decimal": r"\d+([.,/]\d+)+",
        "with-digit": r".*\d.*",
        "initial": r"[^\W\d_]\.?",
        "initials": r"([^\W\d_a-z]\.[-–]?)+",
        "abbreviation": r"[^\W\d_]{2,}\.",
        "ordinal": r"\d+(st|nd|rd|th)",
        "roman": r"[IVXLC]+\.?|[ivxlc]+\.?",
        "punctuation": r"[^\w\s]+|_+",
        "with-hyphen": r".*\w[-–]\w.*",
        "opens": r".*[(\[{].*",
        "closes": r".*[)\]}].*",
        "ends-stop": r".*\w\.",
        "ends-comma": r".*\w[,;:]",
        "address": r"(https?:|www\.|ftp:).*|.*@.*\..*",
        "money": r"[$€£].*",
        "line-break": r"@newline@|<NEWLINE>|NEWLINE|\n",
    }.items()
}


def shape(token: str) -> str:
    """Replace capitals by X, other letters by x, and digits by 0: `McCallum-03` is `XxXxxxxx-00`."""
    return "".join("X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c for c in token)


def short_shape(token: str) -> str:
    """The shape without repeated characters: `McCallum-03` is `XxXx-0`."""
    return _RUNS.sub(r"\1", shape(token))


def case(token: str) -> Values:
    if token.isupper():
        return ("upper",)
    if token.islower():
        return ("lower",)
    if token[:1].isupper():
        return ("capitalised" if token[1:].islower() else "mixed",)
    return ("other",)


def bucket(number: int) -> str:
    """A count up to 4, or its range: 5-10, 11-20, 21-50, more (Trompper 2016, features)."""
    if number < 5:
        return str(number)
    return next(
        (name for most, name in ((10, "5-10"), (20, "11-20"), (50, "21-50")) if number <= most), "51+"
    )


def _words(token: str) -> list[str]:
    return _WORDS.findall(token.lower())


def _one(function: Callable[[str], str], token: str) -> Values:
    value = function(token)
    return (value,) if value else NO


WORD_ATTRIBUTES: Mapping[str, WordAttribute] = {
    "word": lambda token: (token,),
    "lower": lambda token: (token.lower(),),
    "normal": lambda token: (token.lower().translate(_SHAPES),),
    "letters": partial(_one, lambda token: "".join(filter(str.isalpha, token)).lower()),
    "shape": lambda token: (shape(token)[:12],),
    "short-shape": lambda token: (short_shape(token)[:12],),
    "case": case,
    "class": lambda token: tuple(name for name, known in _CLASSES.items() if known.fullmatch(token)),
    "length": lambda token: (bucket(len(token)),),
    "word-count": lambda token: (bucket(len(token.split())),),
    "brackets": lambda token: YES if _BRACKETS.search(token) else NO,
    "bag": lambda token: tuple(sorted(set(_words(token)[:20]))),
    "first-word": lambda token: tuple(_words(token)[:1]),
    "last-word": lambda token: tuple(_words(token)[-1:]),
    "first-character": lambda token: (token[:1],),
    "last-character": lambda token: (token[-1:],),
}


NUMBERED_ATTRIBUTES: Mapping[str, Callable[[str, int], Values]] = {
    "prefix": lambda token, length: (token[:length].lower(),) if len(token) > length else NO,
    "suffix": lambda token, length: (token[-length:].lower(),) if len(token) > length else NO,
}
"""Attributes that take a length, as in `prefix:3`."""
