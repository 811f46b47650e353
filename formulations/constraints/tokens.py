"""Predicates on tokens: words, regular expressions, classes, and what they leave out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations.constraints.numberings import numberings
from formulations.expressions import Expression
from formulations.labels import suggestion

PUNCTUATION = r"[^\w\s]+|_+"
"""A token without a letter or digit."""

_PATTERNS = {
    "punctuation": PUNCTUATION,
    "number": r"\d+([.,/-]\d+)*",
    "year": r"(19|20)\d\d",
    "newline": r"@newline@|<NEWLINE>|NEWLINE|\n",
}
TOKEN_CLASSES = (*_PATTERNS, "capitalised", "uppercase", "lowercase", "numbering")
"""What `token_class` may name."""


@lru_cache(maxsize=1 << 16)
def in_class(token: str, name: str) -> bool:
    """Whether a token is of the class."""
    if name in _PATTERNS:
        return re.fullmatch(_PATTERNS[name], token) is not None
    if name == "capitalised":
        return token[:1].isupper() and any(c.islower() for c in token[1:])
    if name == "uppercase":
        return token.isupper()
    if name == "lowercase":
        return any(c.isalpha() for c in token) and not any(c.isupper() for c in token)
    return bool(numberings(token))


@dataclass(frozen=True)
class TokenPattern:
    """Tokens that equal one of the words, match the whole regular expression, or are of the class.

    Parameters
    ----------
    words : compared as wholes
    pattern : a regular expression that must match the whole token
    ignore_case : for words, pattern and unless
    token_class : one of `TOKEN_CLASSES`
    unless : words that do not match after all; alone, every word but these matches
    """

    words: tuple[str, ...] = ()
    pattern: str = ""
    ignore_case: bool = True
    token_class: str = ""
    unless: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("words", "unless"):
            object.__setattr__(self, name, word_list(getattr(self, name), name))
        if not isinstance(self.pattern, str):
            raise ValueError(f"pattern is {self.pattern!r}; expected a regular expression as text")
        if not isinstance(self.ignore_case, bool):
            raise ValueError(f"ignore_case is {self.ignore_case!r}; expected true or false")
        Expression(self.pattern)
        if self.token_class and self.token_class not in TOKEN_CLASSES:
            hint = suggestion(str(self.token_class), TOKEN_CLASSES)
            raise ValueError(f"token_class is {self.token_class!r}{hint}")

    def __bool__(self) -> bool:
        return bool(self.words or self.pattern or self.token_class or self.unless)

    def _cased(self, token: str) -> str:
        return token.lower() if self.ignore_case else token

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(map(self._cased, self.words))

    @cached_property
    def _unless(self) -> frozenset[str]:
        return frozenset(map(self._cased, self.unless))

    @cached_property
    def _expression(self) -> Expression | None:
        return Expression(self.pattern, self.ignore_case) if self.pattern else None

    @cached_property
    def _known(self) -> dict[str, bool]:
        return {}

    def matches(self, token: str) -> bool:
        """Whether one token fits."""
        found = self._known.get(token)
        if found is None:
            found = self._known[token] = self._fits(token)
            if len(self._known) > 1 << 16:
                self._known.clear()
        return found

    def _fits(self, token: str) -> bool:
        if self._cased(token) in self._unless:
            return False
        if self._cased(token) in self._words or (self.token_class and in_class(token, self.token_class)):
            return True
        if self._expression is not None:
            return self._expression.matches(token)
        return not (self.words or self.token_class)

    def mask(self, tokens: Sequence[str]) -> NDArray[np.bool_]:
        """(T,) which tokens fit."""
        return np.array([self.matches(token) for token in tokens], bool)

    def __str__(self) -> str:
        parts = [
            *self.words[:3],
            *(["…"] if len(self.words) > 3 else []),
            *([f"/{self.pattern}/"] if self.pattern else []),
            *([self.token_class] if self.token_class else []),
            *([f"not {', '.join(self.unless[:3])}"] if self.unless else []),
        ]
        return ", ".join(parts)


def tokens(
    words: Sequence[str] = (),
    pattern: str = "",
    *,
    ignore_case: bool = True,
    token_class: str = "",
    unless: Sequence[str] = (),
) -> TokenPattern:
    """A predicate on tokens; see `TokenPattern`."""
    found = TokenPattern(tuple(word_list(words, "words")), pattern, ignore_case, token_class, tuple(unless))
    if not found:
        raise ValueError("names no token: give words, a pattern, a token class, or what it is not")
    return found


def as_pattern(value: Any, what: str) -> TokenPattern:
    """A token pattern; a table of its parameters, or a single word, will do."""
    if isinstance(value, TokenPattern):
        return value
    if isinstance(value, str):
        return TokenPattern((value,))
    if isinstance(value, Mapping):
        known = [f.name for f in fields(TokenPattern)]
        for key in value:
            if key not in known:
                raise ValueError(f'{what}: nothing is called "{key}"{suggestion(str(key), known)}')
        return tokens(**value)
    raise ValueError(
        f"{what} is {value!r}; expected a word, or a table with words, pattern, token_class or unless"
    )


def word_list(value: Any, what: str) -> tuple[str, ...]:
    """A list of words, none of them empty."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{what} is {value!r}; expected a list of words")
    words = tuple(value)
    for word in words:
        if not isinstance(word, str) or not word:
            raise ValueError(f"word {word!r} in {what}: expected a non-empty text")
    return words
