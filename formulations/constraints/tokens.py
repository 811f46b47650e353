"""Predicates on tokens: a list of words, a regular expression, or both."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

PUNCTUATION = r"[^\w\s]+|_+"
"""A token without a letter or digit."""


@dataclass(frozen=True)
class TokenPattern:
    """Tokens that equal one of the words or match the whole regular expression.

    Parameters
    ----------
    words : compared as wholes
    pattern : a regular expression that must match the whole token
    ignore_case : for both
    """

    words: tuple[str, ...] = ()
    pattern: str = ""
    ignore_case: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise ValueError(f"words is the text {self.words!r}; expected a list of words")
        words = tuple(self.words)
        for word in words:
            if not isinstance(word, str) or not word:
                raise ValueError(f"word {word!r} in words: expected a non-empty text")
        object.__setattr__(self, "words", words)
        if not isinstance(self.pattern, str):
            raise ValueError(f"pattern is {self.pattern!r}; expected a regular expression as text")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FutureWarning)
                re.compile(self.pattern)
        except (re.error, OverflowError, FutureWarning) as error:
            raise ValueError(f"pattern {self.pattern!r} is not a regular expression: {error}") from None

    def __bool__(self) -> bool:
        return bool(self.words or self.pattern)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(w.lower() if self.ignore_case else w for w in self.words)

    @cached_property
    def _regex(self) -> re.Pattern[str] | None:
        return re.compile(self.pattern, re.IGNORECASE if self.ignore_case else 0) if self.pattern else None

    def matches(self, token: str) -> bool:
        """Whether one token fits."""
        if (token.lower() if self.ignore_case else token) in self._words:
            return True
        return self._regex is not None and self._regex.fullmatch(token) is not None

    def mask(self, tokens: Sequence[str]) -> NDArray[np.bool_]:
        """(T,) which tokens fit."""
        return np.array([self.matches(token) for token in tokens], bool)

    def __str__(self) -> str:
        parts = [
            *self.words[:3],
            *(["…"] if len(self.words) > 3 else []),
            *([f"/{self.pattern}/"] if self.pattern else []),
        ]
        return ", ".join(parts)
