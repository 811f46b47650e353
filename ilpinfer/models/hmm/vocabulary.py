"""Unknown words: token classes, shapes and suffixes, from coarse to fine."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from formulations.arguments import one_of
from formulations.caches import remembered
from ilpinfer.models import plain_values

CLASSES: tuple[tuple[str, str], ...] = (
    ("year", r"(?:19|20)\d\d"),
    ("digit", r"\d"),
    ("digits-2", r"\d\d"),
    ("digits-3", r"\d{3}"),
    ("digits", r"\d+"),
    ("number-like", r"[^A-Za-z]*\d[^A-Za-z]*"),
    ("with-digit", r".*\d.*"),
    ("punctuation", r"[^\w\s]+|_+"),
    ("initial", r"[A-Z]"),
    ("capitals", r"[A-Z]+"),
    ("capitalised", r"[A-Z].*"),
    ("lower", r"[a-z]+"),
    ("other", r".*"),
)
"""Token classes for unknown words; the first match counts."""

_CLASS = re.compile("|".join(f"({pattern})" for _, pattern in CLASSES), re.DOTALL)


def token_class(token: str) -> int:
    """The first class whose pattern matches."""
    match = _CLASS.fullmatch(token)
    assert match is not None
    assert match.lastindex is not None
    return match.lastindex - 1


def shape(token: str) -> str:
    """The shape, with one sign for each stretch of capitals, other letters or digits: `McCallum-2013` is `XxXx-d`."""
    signs = ["X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdecimal() else c for c in token]
    return "".join(sign for before, sign in zip(["", *signs], signs, strict=False) if sign != before)


KEYS: Mapping[str, Callable[[str], str]] = {
    "shape": shape,
    "suffix-1": lambda token: token[-1:].lower(),
    "suffix-2": lambda token: token[-2:].lower(),
    "suffix-3": lambda token: token[-3:].lower(),
}
"""Keys that refine a class."""

LADDERS: Mapping[str, tuple[str, ...] | None] = {
    "uniform": None,
    "classes": (),
    "shapes": ("shape",),
    "suffixes": ("suffix-1", "suffix-2", "suffix-3"),
    "shapes-suffixes": ("shape", "suffix-1", "suffix-2", "suffix-3"),
}
"""Keys that refine the token classes, from coarse to fine; None for no classes."""


_MONTH = re.compile(
    r"(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?|Aug(ust)?|Sept?(ember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?)\.?",
    re.IGNORECASE,
)
_ALIKE: Mapping[str, str] = {
    "year": "2000",
    "digit": "0",
    "digits-2": "00",
    "digits-3": "000",
    "digits": "0000",
    "initial": "A",
}
_SIGNS = str.maketrans("Xxd", "Aa0")


@dataclass(frozen=True)
class WordClasses:
    by: str = "classes"
    singletons: bool = False
    alike: bool = False
    lower_case: bool = False

    def __post_init__(self) -> None:
        one_of(self.by, "classes of words", LADDERS)
        for name in ("singletons", "alike", "lower_case"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}; expected true or false")

    def word(self, token: str) -> str:
        """The word that is counted for a token; similar tokens share a word."""
        word = _representative(token) if self.alike else token
        return word.lower() if self.lower_case else word

    def ladder(self, word: str) -> tuple[str, ...]:
        """The class of a word and the keys that refine it; empty for uniform."""
        return _ladder(word, self.by)

    def attributes(self, token: str) -> list[str]:
        """Names of a token's word, then of an unseen word in each place of the token's ladder, finest first."""
        word = self.word(token)
        keys = self.ladder(word)
        return [named_word(word), *(named_place(keys[:depth]) for depth in range(len(keys), 0, -1)), UNSEEN]

    @classmethod
    def from_body(cls, body: Any) -> "WordClasses":
        known = plain_values.table(body, [each.name for each in fields(cls)], "vocabulary")
        return cls(**{**known, "by": plain_values.text(known["by"], "vocabulary: by")})


WORD = "word "  # prefix of names of words
UNSEEN = "unseen"  # prefix of names of unseen words; without classes, the name of the unseen word


def named_word(word: str) -> str:
    return WORD + word


def named_place(keys: Sequence[str]) -> str:
    """The name of an unseen word in a place of the ladder."""
    return f"{UNSEEN} {json.dumps(keys, ensure_ascii=False)}"


def as_vocabulary(vocabulary: WordClasses | str) -> WordClasses:
    return WordClasses(vocabulary) if isinstance(vocabulary, str) else vocabulary


@remembered
def _representative(token: str) -> str:
    """A representative token of the same class; of the same shape for numbers with other characters."""
    name = CLASSES[token_class(token)][0]
    if name in ("number-like", "with-digit"):
        return shape(token).translate(_SIGNS)
    if token[:1].isupper() and _MONTH.fullmatch(token):
        return "January"
    return _ALIKE.get(name, token)


@remembered
def _ladder(word: str, by: str) -> tuple[str, ...]:
    finer = LADDERS[by]
    if finer is None:
        return ()
    return (CLASSES[token_class(word)][0], *(KEYS[key](word) for key in finer))
